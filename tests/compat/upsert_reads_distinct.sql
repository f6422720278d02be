-- ON DUPLICATE KEY UPDATE reads tables of a SELECT DISTINCT.
create table t3 (a int primary key, b int, c int);
create table s3 (a int, b int, c int, d int);
insert into s3 values (1,10,100,1000),(2,20,200,2000),(1,10,101,1001),(1,10,102,1002);
insert into t3 (a,b) select distinct a, b from s3 on duplicate key update c = s3.d;
select * from t3;
insert into t3 (a,b) select distinct a, b from s3 on duplicate key update c = s3.d;
select * from t3;
insert into t3 (a,b) select distinct a, b from s3 on duplicate key update c = s3.d, b = b + 1;
insert into t3 (a,b) select distinct a, b from s3 on duplicate key update c = s3.d, t3.b = t3.b + 1;
select * from t3;
insert into t3 (a,b) select distinct a, b from s3 order by c desc on duplicate key update c = s3.d, t3.b = t3.b + 1;
select * from t3;
insert into t3 (a,b) select distinct a, b from s3 order by c desc on duplicate key update c = s3.d + s3.c, t3.b = t3.b + 1;
select * from t3;
insert into t3 (a,b) select distinct a, b from s3 limit 1 on duplicate key update c = s3.d, t3.b = t3.b + 1;
select * from t3;
insert into t3 (a,b) select distinct a, b from s3 on duplicate key update c = s3.b, t3.b = t3.b + 1;
select * from t3;
