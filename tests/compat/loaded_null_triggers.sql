-- NULL from a file in a column that cannot have it: with BEFORE triggers an error as in INSERT.
select 1, 2 union all select null, 3 into outfile '../compat_loads_null_triggers' fields terminated by ',';
create table t1 (a int not null, b int);
load data infile '../compat_loads_null_triggers' into table t1 fields terminated by ',';
create trigger tr after insert on t1 for each row set @x = new.b;
load data infile '../compat_loads_null_triggers' into table t1 fields terminated by ',';
drop trigger tr;
create trigger tr before insert on t1 for each row set new.b = 9;
load data infile '../compat_loads_null_triggers' into table t1 fields terminated by ',';
load data infile '../compat_loads_null_triggers' ignore into table t1 fields terminated by ',';
set sql_mode = '';
load data infile '../compat_loads_null_triggers' into table t1 fields terminated by ',';
select * from t1;
drop table t1;
