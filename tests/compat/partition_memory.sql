-- MEMORY: of several rows those before the one that is refused are stored, no later one.
create table t4 (a int not null primary key) engine=memory partition by hash (a) partitions 2;
insert into t4 values (2), (4), (5);
insert into t4 values (5), (16);
insert into t4 values (20), (5), (22);
select * from t4;
insert ignore into t4 values (20), (5), (22), (7);
select * from t4;
update t4 set a = a + 1 where a = 4;
select * from t4;
drop table t4;
