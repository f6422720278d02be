# Rows with triggers are stored together where nobody can tell. Each part lets somebody try.
CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL, w INT, s VARCHAR(10)) ENGINE=InnoDB;
CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, id INT, v INT, note VARCHAR(40)) ENGINE=InnoDB;
CREATE TABLE src (id INT PRIMARY KEY, v INT, s VARCHAR(10)) ENGINE=InnoDB;
INSERT INTO src SELECT seq, seq * 10, CONCAT('s', seq) FROM seq_1_to_6;

# Values that a BEFORE trigger computes of its row.
CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW BEGIN DECLARE x INT DEFAULT 3; WHILE x > 0 DO SET x = x - 1, NEW.w = IFNULL(NEW.w, 0) + NEW.v; END WHILE; IF NEW.id % 2 THEN SET NEW.s = UPPER(NEW.s); ELSE SET NEW.v = -NEW.v; END IF; END;
INSERT INTO t (id, v, s) SELECT id, v, s FROM src;
SELECT * FROM t ORDER BY id;
# A key it changes, and one it makes a duplicate.
DELETE FROM t;
DROP TRIGGER b;
CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW SET NEW.id = IF(NEW.id = 4, 2, NEW.id + 100), NEW.w = NEW.id;
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT * FROM t ORDER BY id;
DROP TRIGGER b;
CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW SET NEW.id = IF(NEW.id = 4, 2, NEW.id);
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT * FROM t ORDER BY id;
# The first row that fails decides, whatever fails in later ones.
DROP TRIGGER b;
CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW BEGIN IF NEW.id = 5 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'five'; END IF; IF NEW.id = 3 THEN SET NEW.v = NULL; END IF; END;
INSERT INTO t (id, v) SELECT id, v FROM src;
INSERT INTO t (id, v) VALUES (1, 1), (2, 2), (1, 3), (5, 4);
INSERT INTO t (id, v) VALUES (1, 1), (5, 4), (1, 3);
SELECT COUNT(*) FROM t;
SHOW WARNINGS;
# Warnings of the rows.
SET sql_mode = '';
INSERT INTO t (id, v, s) VALUES (1, 1, 'long enough to be cut'), (2, 'x', 'b'), (3, 3, 'c'), (4, 4, 'd');
SHOW WARNINGS;
SELECT * FROM t ORDER BY id;
SET sql_mode = DEFAULT;
DELETE FROM t;
DROP TRIGGER b;

# User variables count the rows that came before the one that fails.
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW SET @n = @n + 1, @last = NEW.id;
SET @n = 0;
INSERT INTO t (id, v) VALUES (1, 1), (2, 2), (3, 3), (2, 4), (5, 5);
SELECT @n, @last, (SELECT COUNT(*) FROM t) AS kept;
SET @n = 0;
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT @n, @last;
INSERT INTO t (id, v) SELECT id + 3, v FROM src;
INSERT IGNORE INTO t (id, v) SELECT id + 3, v FROM src;
SELECT @n, @last;
REPLACE INTO t (id, v) SELECT id + 6, v FROM src;
SELECT @n, @last;
INSERT INTO t (id, v) SELECT id + 9, v FROM src ON DUPLICATE KEY UPDATE w = 1;
SELECT @n, @last;
DELETE FROM t;
SET @n = 0;
INSERT INTO t (id, v) SELECT id, v FROM src RETURNING id, @n;
DELETE FROM t;
# A BEFORE trigger reads them.
CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW SET NEW.w = @n;
SET @n = 0;
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT id, w FROM t ORDER BY id;
DELETE FROM t;
# ... or sets them, and a later row fails.
DROP TRIGGER a;
DROP TRIGGER b;
CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW SET @n = @n + 1, NEW.w = @n;
SET @n = 0;
INSERT INTO t (id, v) VALUES (1, 1), (2, 2), (1, 4), (5, 5);
SELECT @n, (SELECT COUNT(*) FROM t) AS kept;
DROP TRIGGER b;

# A log.
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW INSERT INTO log (id, v, note) VALUES (NEW.id, NEW.v, CONCAT('last ', LAST_INSERT_ID()));
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT n, id, v FROM log ORDER BY n;
INSERT INTO t (id, v) VALUES (7, 1), (8, 1), (7, 1);
SELECT COUNT(*) FROM log;
DELETE FROM t;
DELETE FROM log;
# The trigger fails for a row.
DROP TRIGGER a;
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW BEGIN SET @n = NEW.id; IF NEW.v = 40 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'forty'; END IF; INSERT INTO log (id, v) VALUES (NEW.id, NEW.v); END;
INSERT INTO t (id, v) SELECT id, v FROM src;
SHOW WARNINGS;
SELECT @n, (SELECT COUNT(*) FROM t) AS kept, (SELECT COUNT(*) FROM log) AS logged;
DROP TRIGGER a;

# The table itself is read: by the trigger, a function, a trigger of the log.
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW INSERT INTO log (id, v) VALUES (NEW.id, (SELECT COUNT(*) FROM t));
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT id, v FROM log ORDER BY n;
DELETE FROM t;
DELETE FROM log;
DROP TRIGGER a;
CREATE FUNCTION rows_of_t() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM t);
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW SET @seen = CONCAT(@seen, ' ', rows_of_t());
SET @seen = '';
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT @seen;
DELETE FROM t;
DROP TRIGGER a;
CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW SET NEW.w = rows_of_t();
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT id, w FROM t ORDER BY id;
DELETE FROM t;
DROP TRIGGER b;
CREATE TRIGGER of_log BEFORE INSERT ON log FOR EACH ROW SET NEW.note = (SELECT COUNT(*) FROM t);
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW INSERT INTO log (id, v) VALUES (NEW.id, NEW.v);
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT id, note FROM log ORDER BY n;
DROP TRIGGER of_log;
DELETE FROM t;
DELETE FROM log;
CREATE VIEW over_log AS SELECT id, v FROM log WHERE v < (SELECT COUNT(*) * 20 FROM t) WITH CHECK OPTION;
DROP TRIGGER a;
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW UPDATE over_log SET v = v + 1;
INSERT INTO log (id, v) VALUES (1, 30), (2, 70);
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT id, v FROM log ORDER BY n;
DROP VIEW over_log;
DROP TRIGGER a;
DELETE FROM t;
DELETE FROM log;
# A child of the table: its parent is not there yet.
CREATE TABLE child (id INT, FOREIGN KEY (id) REFERENCES t (id) ON DELETE CASCADE) ENGINE=InnoDB;
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW INSERT INTO child VALUES (NEW.id + 1);
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT COUNT(*) FROM t;
DROP TRIGGER a;
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW INSERT IGNORE INTO child VALUES (NEW.id + 1), (NEW.id);
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT * FROM child ORDER BY id;
DROP TABLE child;
DROP TRIGGER a;
DELETE FROM t;

# Several triggers take turns row by row.
CREATE TRIGGER a1 AFTER INSERT ON t FOR EACH ROW SET @order = CONCAT(@order, ' ', NEW.id, 'a');
CREATE TRIGGER a2 AFTER INSERT ON t FOR EACH ROW SET @order = CONCAT(@order, ' ', NEW.id, 'b', NEW.w);
CREATE TRIGGER b1 BEFORE INSERT ON t FOR EACH ROW SET NEW.w = NEW.v + 1;
CREATE TRIGGER b2 BEFORE INSERT ON t FOR EACH ROW SET NEW.w = NEW.w * 2;
SET @order = '';
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT @order;
SELECT id, w FROM t ORDER BY id;
DROP TRIGGER a1;
DROP TRIGGER a2;
DROP TRIGGER b1;
DROP TRIGGER b2;
DELETE FROM t;

# Tables that keep what a failing statement did.
CREATE TABLE kept (id INT PRIMARY KEY, v INT) ENGINE=MyISAM;
CREATE TRIGGER a AFTER INSERT ON kept FOR EACH ROW SET @n = NEW.id;
CREATE TRIGGER b BEFORE INSERT ON kept FOR EACH ROW BEGIN IF NEW.id = 4 THEN SIGNAL SQLSTATE '45000'; END IF; END;
INSERT INTO kept SELECT id, v FROM src;
SELECT @n, COUNT(*) FROM kept;
DROP TABLE kept;
CREATE TABLE kept (id INT PRIMARY KEY, v INT) ENGINE=MyISAM;
CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW INSERT INTO kept VALUES (NEW.id, NEW.v);
INSERT INTO t (id, v) VALUES (1, 1), (2, 2), (1, 3), (4, 4);
SELECT * FROM kept ORDER BY id;
DROP TRIGGER a;
DROP TABLE kept;

# A default that is missing: 0 for the first row of a query, NULL for the others.
CREATE TABLE bare (id INT PRIMARY KEY, v INT NOT NULL, w VARCHAR(10)) ENGINE=InnoDB;
CREATE TRIGGER b BEFORE INSERT ON bare FOR EACH ROW SET NEW.w = IFNULL(NEW.v, 'null');
SET sql_mode = '';
INSERT INTO bare (id) SELECT id FROM src;
SHOW WARNINGS;
SELECT * FROM bare ORDER BY id;
INSERT INTO bare (id) VALUES (11), (12);
SELECT * FROM bare WHERE id > 10 ORDER BY id;
SET sql_mode = DEFAULT;
INSERT INTO bare (id) VALUES (21), (22);
DROP TABLE bare;

# Automatic values are 0 to BEFORE triggers, which may give some.
CREATE TABLE auto (id INT AUTO_INCREMENT PRIMARY KEY, v INT, seen INT, g INT AS (v * 2) STORED) ENGINE=InnoDB;
CREATE TRIGGER b BEFORE INSERT ON auto FOR EACH ROW BEGIN SET NEW.seen = NEW.id; IF NEW.v = 30 THEN SET NEW.id = 50; END IF; END;
CREATE TRIGGER a AFTER INSERT ON auto FOR EACH ROW SET @ids = CONCAT(@ids, ' ', NEW.id, ':', NEW.g);
SET @ids = '';
INSERT INTO auto (v) SELECT v FROM src ORDER BY id;
SELECT @ids, LAST_INSERT_ID();
SELECT * FROM auto ORDER BY id;
INSERT INTO auto (id, v) VALUES (NULL, 1), (70, 2), (0, 3);
SELECT LAST_INSERT_ID();
SELECT * FROM auto WHERE id > 53 ORDER BY id;
# A row whose trigger fails has used up its value.
DROP TRIGGER a;
CREATE TRIGGER a AFTER INSERT ON auto FOR EACH ROW BEGIN IF NEW.v = 3 THEN SIGNAL SQLSTATE '45000'; END IF; END;
INSERT INTO auto (v) VALUES (1), (2), (3), (4), (5);
INSERT INTO auto (v) VALUES (9);
SELECT MAX(id), LAST_INSERT_ID() FROM auto;
INSERT INTO auto (v) SELECT IF(id = 5, 3, id + 5) FROM src;
INSERT INTO auto (v) VALUES (9);
SELECT MAX(id), LAST_INSERT_ID() FROM auto;
INSERT INTO auto (id, v) VALUES (NULL, 7), (500, 7), (1, 7), (NULL, 8);
INSERT INTO auto (v) VALUES (9);
SELECT MAX(id) FROM auto;
DROP TABLE auto;

# Checks and generated columns.
CREATE TABLE checked (id INT PRIMARY KEY, v INT, w INT, g INT AS (v + 1) VIRTUAL, CHECK (w < 50)) ENGINE=InnoDB;
CREATE TRIGGER b BEFORE INSERT ON checked FOR EACH ROW SET NEW.w = NEW.v;
CREATE TRIGGER a AFTER INSERT ON checked FOR EACH ROW SET @n = CONCAT(@n, ' ', NEW.g);
SET @n = '';
INSERT INTO checked (id, v) SELECT id, v FROM src;
SELECT @n, COUNT(*) FROM checked;
INSERT IGNORE INTO checked (id, v) SELECT id, v FROM src;
SHOW WARNINGS;
SELECT @n;
SELECT * FROM checked ORDER BY id;
DROP TABLE checked;

# Numbers of one sequence, in a default and in the trigger.
CREATE SEQUENCE numbers;
CREATE TABLE numbered (id INT PRIMARY KEY DEFAULT NEXTVAL(numbers), v INT, w INT) ENGINE=InnoDB;
CREATE TRIGGER b BEFORE INSERT ON numbered FOR EACH ROW SET NEW.w = NEXTVAL(numbers);
INSERT INTO numbered (v) SELECT v FROM src;
SELECT * FROM numbered ORDER BY v;
DROP TABLE numbered;
DROP SEQUENCE numbers;

# Handlers, cursors and warnings within a trigger.
CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET NEW.w = -1; SET NEW.w = 1; IF NEW.id = 3 THEN SIGNAL SQLSTATE '45000'; END IF; END;
DELETE FROM t;
INSERT INTO t (id, v) SELECT id, v FROM src;
SELECT id, w FROM t ORDER BY id;
DROP TRIGGER b;
DELETE FROM t;
CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW SET NEW.w = NEW.v / 0;
INSERT INTO t (id, v) SELECT id, v FROM src;
SHOW WARNINGS;
SET sql_mode = '';
INSERT INTO t (id, v) SELECT id, v FROM src;
SHOW WARNINGS;
SELECT COUNT(*) FROM t;
SET sql_mode = DEFAULT;
DROP TABLE t, log, src;
DROP FUNCTION rows_of_t;
