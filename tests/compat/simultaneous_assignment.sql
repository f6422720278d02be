-- Values of UPDATE and ON DUPLICATE KEY UPDATE are all computed from the old row.

create table t(id int primary key, a int, b int, c int);

insert into t values(1,1,10,100),(2,2,20,200);

set sql_mode='SIMULTANEOUS_ASSIGNMENT';

update t set a=b, b=a;

select * from t;

update t set a=a+1, a=a+5 where id=1;

select * from t;

update t set a=b, b=c, c=a;

select * from t;

update t x join t y on x.id=y.id set x.a=y.b, y.b=x.a;

select * from t;

update t x join t y on x.id=y.id set x.a=x.b, x.b=x.a;

select * from t;

insert into t values(1,7,8,9) on duplicate key update a=b, b=a;

select * from t;

insert into t values(1,7,8,9) on duplicate key update a=values(b), b=a, c=a+b;

select * from t;

insert into t select 1,7,8,9 on duplicate key update a=b, b=a;

select * from t;

insert into t(id,a,b) values(1,7,8) on duplicate key update id=id+10, a=id;

select * from t;

insert into t set id=2,a=5 on duplicate key update a=b,b=a,c=a;

select * from t;

update t set a=default, b=a;

select * from t;

set sql_mode='';

insert into t values(2,7,8,9) on duplicate key update a=b, b=a;

select * from t;

update t set a=5, b=a;

select * from t;

replace into t values(2,3,b,a);

select * from t;

insert into t(id,a,b) values(50,3,a);

select * from t;

set sql_mode='SIMULTANEOUS_ASSIGNMENT';

insert into t(id,a,b) values(51,3,a);

select * from t;

insert into t set id=52, a=4, b=a;

select * from t;

delete from t where id>40;

create trigger tr before update on t for each row set new.c=new.a+new.b;

update t set a=b, b=a;

select * from t;

insert into t values(2,7,8,9) on duplicate key update a=b, b=a;

select * from t;

drop trigger tr;

set @x=0;

update t set a=(@x:=@x+1), b=@x;

select * from t;
