-- A scan of all rows of an InnoDB table in partitions that reads nothing but its primary key gives
-- them in the key's order over all partitions.
create table t1 (a int not null, b varchar(10) not null, primary key (a, b)) engine=innodb partition by hash (a) partitions 3;
insert into t1 values (1, 'x'), (2, 'y'), (3, 'z'), (4, 'w'), (5, 'v');
select * from t1;
select b, a from t1 where a + 1 > 2;
select * from t1 for update;
select * from t1 limit 2;
select count(*) from t1;
create table t2 (a int not null primary key, c int) engine=innodb partition by hash (a) partitions 3;
insert into t2 values (1, 1), (2, 2), (3, 3), (4, 4), (5, 5);
select a from t2;
select * from t2;
drop table t1, t2;
