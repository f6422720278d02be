# Keys whose column is compared as another type are listed as possible, though no range finds rows.
set note_verbosity = 'basic';
create table t (id char(12) character set latin1 primary key, b int, c varchar(10) character set latin1, key (c), key (b, c), filler text);
insert into t values ('000000000001', 1, '1', ''), ('000000000002', 2, '2', ''), ('3', 3, '3', '');
explain select * from t where id = 1;
explain select * from t where id < 5;
explain select * from t where id in (1, 2);
explain select * from t where id between 1 and 3;
explain select * from t where id = 1.5 and c = 1;
explain select * from t where id + 0 = 3;
explain select * from t where c = 1 or b = 2;
explain select * from t where c = 1 and b = 2;
drop table t;
