-- Only some privileges can have a list of columns.
CREATE DATABASE poc;
CREATE TABLE poc.t (a INT, b INT);
CREATE USER poc1@localhost;
GRANT SELECT (a), INSERT (a, b), UPDATE (b), REFERENCES (a) ON poc.t TO poc1@localhost;
GRANT DELETE (a) ON poc.t TO poc1@localhost;
GRANT TRIGGER (a) ON poc.t TO poc1@localhost;
GRANT SELECT, INDEX (a) ON poc.t TO poc1@localhost;
GRANT SHOW VIEW (a) ON poc.t TO poc1@localhost;
REVOKE CREATE (a) ON poc.t FROM poc1@localhost;
REVOKE REFERENCES (a) ON poc.t FROM poc1@localhost;
SHOW GRANTS FOR poc1@localhost;
DROP USER poc1@localhost;
DROP DATABASE poc;
