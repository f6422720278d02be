-- Placeholders of LIMIT that are negative or NULL.

create table lu(a int);

insert into lu values(1),(2),(3);

prepare m from 'delete from lu limit ?';

set @x=-1;

execute m using @x;

select count(*) from lu;

set @x=null;

execute m using @x;

select count(*) from lu;

prepare m from 'update lu set a=1 limit ?';

set @x=null;

execute m using @x;

set @x=-1;

execute m using @x;

set @x='-1';

execute m using @x;

prepare m from '(select 1) union (select 2) limit ?';

set @x=-1;

execute m using @x;

set @x=null;

execute m using @x;

prepare m from 'select * from (select a from lu limit ?) d';

set @x=-1;

execute m using @x;

set @x=null;

execute m using @x;

prepare m from 'insert into lu select a from lu limit ?';

set @x=-1;

execute m using @x;

set @x=null;

execute m using @x;

select count(*) from lu;

execute immediate 'delete from lu limit ?' using -1;

execute immediate 'select a from lu order by a limit ?, ?' using -1, 2;

execute immediate 'select a from lu order by a limit ?, ?' using '0', 1.4;

select count(*) from lu;

