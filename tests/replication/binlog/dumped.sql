create table t (a int);
delimiter ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.a = 1; END */;;
/*!50003 CREATE FUNCTION f() RETURNS int DETERMINISTIC return 1 */;;
/*!50001 CREATE VIEW v1 AS select 1 AS `x`*/;;
/*!50001 CREATE OR REPLACE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW v2 AS select 2 AS `x` */;;
delimiter ;
