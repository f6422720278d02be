CREATE TABLE t (a INT);
CREATE TRIGGER a1 BEFORE INSERT ON t FOR EACH ROW
  SET NEW.a = 1;
CREATE TRIGGER a2 BEFORE INSERT ON t FOR EACH ROW   FOLLOWS   a1   
   SET NEW.a = 2;
CREATE TRIGGER a3 before  insert  on/* x */compat_trigger_texts . `t`/* y */for  each row/* z */SET NEW.a = (3);
SELECT trigger_name, action_statement FROM information_schema.triggers WHERE trigger_schema = DATABASE();
SET timestamp = 1;
RENAME TABLE t TO `u v`;
INSERT INTO `u v` VALUES (7);
SELECT * FROM `u v`;
SELECT trigger_name, action_statement, event_object_table FROM information_schema.triggers WHERE trigger_schema = DATABASE();
DROP TRIGGER a1;
DROP TRIGGER a2;
ALTER TABLE `u v` RENAME t;
INSERT INTO t VALUES (8);
SELECT * FROM t;
