-- A view cannot be replaced by one that reads it through others.
CREATE TABLE t0(a INT);
insert into t0 values (7);
CREATE VIEW v1 AS SELECT * FROM t0;
CREATE VIEW v2 AS SELECT * FROM v1;
CREATE OR REPLACE VIEW v1 AS SELECT * FROM v2;
select * from v1;
ALTER VIEW v1 AS SELECT * FROM v2;
CREATE OR REPLACE VIEW v1 AS SELECT * FROM v1;
CREATE OR REPLACE VIEW v1 AS SELECT (select max(a) from v2) b;
CREATE OR REPLACE VIEW v1 AS SELECT * from (select a from v2) d;
CREATE VIEW v3 AS SELECT 1;
CREATE OR REPLACE VIEW v3 AS WITH v3 AS (SELECT 5 a) SELECT * FROM v3;
select * from v3;
CREATE VIEW v4 AS SELECT * from v4;
create or replace view v1 as select a+1 a from t0;
select * from v2;
