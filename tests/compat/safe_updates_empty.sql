-- sql_safe_updates refuses a change by several keys if the table is known to be empty, as tables
-- that count their rows are.

create table t(a int, b int, c int, primary key(a), key(b)) engine=myisam;

create table u(a int, b int, c int, primary key(a), key(b)) engine=innodb;

explain update t set c=2 where a=1 or b=2;

set sql_safe_updates=1;

update t set c=2 where a=1 or b=2;

update t set c=2 where a=1 or a=2;

update t set c=2 where a>1;

update t set c=2 where b=1;

update t set c=2 where a=1 or b=2 limit 1;

update t set c=2 where a=1 or c=2;

explain update t set c=2 where a=1 or b=2;

delete from t where a=1 or b=2;

delete from t where b=2;

explain delete from t where a=1 or b=2;

prepare p from 'update t set c=? where a=? or b=?';

execute p using 1, 1, 1;

update u set c=2 where a=1 or b=2;

delete from u where a=1 or b=2;

insert into t values(1,1,1),(2,2,2),(3,3,3),(4,4,4);

execute p using 7, 1, 3;

update t set c=2 where a=1 or b=2;

select * from t;

delete from t where a=1 or b=2;

select * from t;

explain delete from t where a=3 or b=4;
