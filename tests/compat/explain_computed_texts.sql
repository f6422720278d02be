-- EXPLAIN EXTENDED shows the value of a text that became constant by an equality, if a text column is compared with it.
create table t3 (x int, y varchar(20)) charset latin1;
insert into t3 values (1, '1'), (2, '2'), (3, 'c');
explain extended select 1 from t3 where x = 1 and y = trim(x);
explain extended select 1 from t3 where x = 1 and trim(x) = y;
explain extended select 1 from t3 where x = 1 and x + 1 = y;
explain extended select 1 from t3 where x = 1 and concat(x, 'a') = y;
explain extended select 1 from t3 where y = 'q' and concat(y, 'a') = x;
