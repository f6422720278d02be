-- LOAD DATA under LOCK TABLES: a table that is not on the list, whether it exists or not.
CREATE TABLE t (a INT);
CREATE TABLE u (a INT);
LOCK TABLES t WRITE;
LOAD DATA INFILE 'x' INTO TABLE absent;
LOAD DATA INFILE 'x' INTO TABLE u;
UNLOCK TABLES;
LOAD DATA INFILE 'x' INTO TABLE absent;
