-- Temporary tables that functions create, drop and replace while the calling statement uses a table
-- of the name.

create temporary table t(a int);

insert into t values(1),(2);

create table b(a int);

insert into b values(1),(2);

create function drops() returns int begin drop temporary table t; return 1; end;

create procedure drop_it() drop temporary table if exists t;

create function calls() returns int begin call drop_it(); return 1; end;

create function replaces() returns int begin create or replace temporary table t as select 8 a; return 1; end;

create function hides() returns int begin create temporary table b as select 8 a; insert into b values(7); drop temporary table b; return 1; end;

create function makes() returns int begin create temporary table n(i int); insert into n values(1),(2); return 1; end;

select drops() from t;

select calls(), a from t;

select a from t;

select replaces() from t;

select a from t;

update t set a=calls();

insert into t select drops();

select a from t;

prepare p from 'select drops(), a from t';

execute p;

select a, hides() from b;

select a, hides() from t;

update b set a=a+10;

select * from b;

create temporary table n as select makes();

select * from n;

drop temporary table n;

create table n as select makes();

select * from n;

drop temporary table n;

select * from n;

drop table n;

select makes();

create temporary table n as select makes();

select * from n;

select replaces();

select * from t;

select drops();

select * from t;
