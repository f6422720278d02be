-- NULL set by ON DUPLICATE KEY UPDATE in a column of generated values.

create table t1(a int not null auto_increment primary key, b int);

insert into t1 set a=1, b=1;

insert into t1 set a=1 on duplicate key update a=null;

select * from t1;

insert into t1 values(5,5),(5,6),(7,7) on duplicate key update a=null;

insert into t1 set a=7 on duplicate key update b=a, a=null;

insert into t1 values (7,1) on duplicate key update a=if(b>100,1,null);

select * from t1;

update t1 set a=null where a=7;

create table t2(a int not null, k int unique);

insert into t2 values (1,1);

insert into t2 values (1,1) on duplicate key update a=null;

select * from t2;

create trigger tr before update on t1 for each row set new.b = new.b + 1;

insert into t1 set a=7 on duplicate key update a=null;

select * from t1;

drop table t1, t2;
