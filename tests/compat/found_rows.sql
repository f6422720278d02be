-- FOUND_ROWS() after statements that contain a query, and NULL as a mode of WEEK.

create table t(a int);

create table u(a int);

insert into t values(1),(2),(3);

select a from t;

insert into u select * from t where a<3;

select found_rows();

select a from t;

insert into u select * from t where 0;

select found_rows();

select a from t;

insert into u select a from t limit 2;

select found_rows();

select a from t;

replace into u select a from t where a=1;

select found_rows();

select a from t;

create table w select * from t where a<2;

select found_rows();

select a from t;

update t set a=a where a<2;

select found_rows();

select a from t;

delete from u where a=1;

select found_rows();

select a from t;

do (select a from t limit 1);

select found_rows();

select a from t;

set @a=(select a from t limit 1);

select found_rows();

select a from t;

insert into u values(5);

select found_rows();

select a from t;

insert into u values((select max(a) from t));

select found_rows();

select a from t;

insert into u select 1;

select found_rows();

select a from t;

insert into u select a from t union select 7;

select found_rows();

select a from t;

select a into @a from t limit 1;

select found_rows();

select a from t;

select a into @a from t where 0;

select found_rows();

select week(20240115,null), week('2024-01-15',null), yearweek(20240115,null), week(null,1), yearweek(null,null), week(20240115,'x');

select a, week(20240115,if(a=1,null,a)), yearweek('2023-01-01',if(a=2,null,a)) from t;

