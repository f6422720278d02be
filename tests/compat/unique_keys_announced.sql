-- The first unique key without NULLs is the primary key to clients, if there is none.
create table a(x int not null unique, y int not null unique, z int unique);
create table b(x int not null, y int not null, unique(x,y));
create table d(x varchar(10) not null, unique(x(3)));
create table e(x int unique, y int not null unique);
create table f(x int not null primary key, y int not null unique);
-- meta
select * from a;
-- meta
select * from b;
-- meta
select * from d;
-- meta
select * from e;
-- meta
select * from f;
