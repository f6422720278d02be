# Views of the schema sys over definitions.
create database d;
create table d.k (a int auto_increment, b int, c int, key (a), key (a, b), key k2 (b), unique u (b), key z (c, b), primary key (a, b, c));
create table d.l (a bigint unsigned auto_increment primary key, b varchar(30), key (b(3)), key b2 (b), key b3 (b, a));
create table d.m (a tinyint auto_increment primary key, b int, unique (b), unique b2 (b), unique b3 (b, a));
insert into d.m (b) values (1), (2), (3);
create view d.v as select 1;
create procedure d.p() select 1;
create function d.f() returns int return 1;
create trigger d.tr before insert on d.k for each row set @a = 1;
create event d.e on schedule every 1 day disable do select 1;
-- sorted
select * from sys.`x$schema_flattened_keys` where table_schema = 'd';
-- sorted
select * from sys.schema_redundant_indexes where table_schema = 'd';
select * from sys.schema_auto_increment_columns where table_schema = 'd';
select * from sys.schema_object_overview where db = 'd';
