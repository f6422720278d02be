-- Rows that EXPLAIN tells of partitions that are read whole.

create table t1 (a int, b int) engine=myisam partition by range (a) (partition p0 values less than (10), partition p1 values less than (20), partition p2 values less than maxvalue);

insert into t1 values (1,1),(2,1),(3,1),(11,1),(21,1),(22,2);

explain partitions select * from t1 where a < 10;

explain partitions select * from t1 where a = 11;

explain partitions select * from t1 where a between 12 and 30;

explain partitions select * from t1 partition (p2);

explain partitions select * from t1 where a = 5;

explain partitions select * from t1;

explain extended select * from t1 where a = 11 and b = 1;

explain partitions select x.a, y.a from t1 x, t1 y where x.a = 11 and y.b = x.b;

drop table t1;
