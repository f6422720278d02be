-- Names and times of user locks.
select get_lock('a',-1), get_lock('b',null), get_lock('c',0), get_lock('d',1e10), get_lock(null,0), get_lock('',0);
select get_lock(repeat('x',192),0), get_lock(repeat('é',96),0);
select get_lock(repeat('x',193),0);
select get_lock(repeat('é',97),0);
select is_free_lock(repeat('x',193));
select is_used_lock(repeat('x',193));
select release_lock(repeat('x',193));
select is_free_lock('a'), is_free_lock('C'), release_all_locks();
-- SET TRANSACTION applies to the next transaction; a statement without tables is none.
create table t(id int primary key, a int);
insert into t values(1,1);
set transaction read only;
select 1;
set @x=(select 2);
do 3;
insert into t values(2,1);
insert into t values(3,1);
set transaction read only;
select count(*) from t;
insert into t values(4,1);
set transaction read only;
select * from (select 1) d;
select seq from seq_1_to_2;
insert into t values(5,1);
select * from t;
b: set innodb_lock_wait_timeout=1;
set transaction isolation level serializable;
select @@tx_isolation;
begin;
select a from t where id=1;
b: update t set a=a+1 where id=1;
commit;
begin;
select a from t where id=1;
b: update t set a=a+1 where id=1;
commit;
-- Names of locks are bytes.
select get_lock('Ab',0), is_free_lock('ab'), is_free_lock('Ab'), is_free_lock('Ab '), is_free_lock('AB'), release_lock('ab'), release_lock('Ab'), release_all_locks();
