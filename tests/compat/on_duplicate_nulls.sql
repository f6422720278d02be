-- NULLs that ON DUPLICATE KEY UPDATE sets, beside new rows of lists and of queries.

create or replace table t1 (id int primary key, c1 int not null, cnt int default 1);

insert into t1 values (1,10,1);

insert into t1 (id,c1) values (1,10) on duplicate key update c1=null;

insert into t1 (id,c1) select 1,null on duplicate key update c1=null;

select * from t1;

insert into t1 (id,c1) values (1,10),(2,20) on duplicate key update c1=null;

insert into t1 (id,c1) values (2,20),(1,10) on duplicate key update c1=null;

select * from t1;

insert into t1 (id,c1) select 1,10 on duplicate key update c1=null;

insert into t1 (id,c1) values (3,null),(4,4);

insert into t1 (id,c1) values (5,5),(6,null);

insert into t1 (id,c1) select 7,null;

insert into t1 (id,c1) select 8,8 union select 9,null;

insert ignore into t1 (id,c1) select 1,null on duplicate key update c1=null, cnt=cnt+1;

insert ignore into t1 (id,c1) values (1,null) on duplicate key update c1=null, cnt=cnt+1;

select * from t1;

set sql_mode='';

insert into t1 (id,c1) select 1,null on duplicate key update c1=null;

insert into t1 (id,c1) values (1,10) on duplicate key update c1=null;

insert into t1 (id,c1) values (1,null) on duplicate key update c1=5;

insert into t1 (id,c1) values (1,10),(1,11) on duplicate key update c1=null;

select * from t1;

drop table t1;

set sql_mode='';

create or replace table t1 (id int primary key, c1 int not null, cnt int default 1);

insert into t1 values (1,10,1);

insert into t1 (id,c1) select 1,10 on duplicate key update c1=null;

insert into t1 (id,c1) select 1,10 union select 1,11 on duplicate key update c1=null;

insert into t1 (id,c1) select 1,null on duplicate key update cnt=cnt+1;

insert into t1 (id,c1) select 1,null union select 2,null on duplicate key update c1=7;

insert into t1 (id,c1) values (1,null),(3,null) on duplicate key update c1=8;

insert into t1 (id,c1) select 1,null on duplicate key update c1=9;

select * from t1;

insert ignore into t1 (id,c1) select 1,null on duplicate key update c1=values(c1);

insert ignore into t1 (id,c1) values (1,null),(5,null) on duplicate key update c1=values(c1);

select * from t1;

set sql_mode=default;

insert into t1 (id,c1) select 1,null on duplicate key update c1=9;

insert into t1 (id,c1) select 6,null on duplicate key update c1=9;

insert into t1 (id,c1) values (1,null),(3,null) on duplicate key update c1=8;

select * from t1;

drop table t1;

create or replace table t1 (id int primary key, c1 int not null, cnt int default 1);

insert into t1 values (1,10,1),(2,20,2);

insert ignore into t1 (id,c1) select 1,10 on duplicate key update c1=null;

insert ignore into t1 (id,c1) values (2,10) on duplicate key update c1=null;

insert ignore into t1 (id,c1) values (2,10),(1,11) on duplicate key update c1=null;

insert ignore into t1 (id,c1) select 1,null union select 2,null on duplicate key update c1=null;

insert ignore into t1 (id,c1) values (1,null),(2,null) on duplicate key update c1=null;

select * from t1;

drop table t1;
