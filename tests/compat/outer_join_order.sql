-- Rows of an outer join without keys come right row by right row.
create table t1 (a int);
create table t2 (b int);
insert into t1 values (1), (2), (3);
insert into t2 values (1), (2);
select * from t1 left join t2 on 1;
select * from t1 natural left join t2;
select * from t1 left join t2 on t1.a > 1;
select * from t1 left join t2 on t1.a > t2.b;
select * from t1 left join t2 on t2.b > 5;
select * from t1 right join t2 on t1.a <> t2.b;
select * from t1 left join (t2 left join t1 x on x.a < t2.b) on t1.a >= t2.b;
select * from t1 left join t2 on t1.a > t2.b order by t1.a, t2.b;
select * from t1 left join t2 on 1 limit 4;
drop table t1, t2;
