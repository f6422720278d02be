-- Column metadata of SHOW statements and of TIMESTAMP columns.

create table a(a timestamp, b timestamp, c timestamp default current_timestamp, d timestamp null, f datetime default current_timestamp, g datetime on update current_timestamp, h timestamp on update current_timestamp default 0);

-- meta
select * from a;

-- meta
select x.c, x.g, a.c from a left join a x on 1;

create view v as select * from a;

-- meta
select * from v;

-- meta
explain select a from a where d is null;

-- meta
explain extended select a from a where d is null;

-- meta
show create table a;

-- meta
show create view v;

-- meta
check table a;

-- meta
select column_type, extra from information_schema.columns where 0;

-- meta
select view_definition from information_schema.views where 0;

-- meta
show index from a;

-- meta
show collation like 'zz';

-- meta
show character set like 'zz';

-- meta
show triggers;

-- meta
show warnings;

-- meta
show procedure status like 'zz';

-- meta
show table status like 'zz';

-- meta
show databases like 'zz';

