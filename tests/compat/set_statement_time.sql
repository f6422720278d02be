-- SET STATEMENT timestamp and time_zone hold for every use of the time in the statement.
set time_zone = '+00:00';
set timestamp=1600000000;
set statement timestamp=1600018800 for select now(), @@timestamp;
create table a (id int primary key, b int, t timestamp default now() on update now());
set statement timestamp=1600018800 for insert into a(id,b) values (1,1);
select * from a;
set statement timestamp=1600018801 for update a set b=2;
select * from a;
create table v (id int primary key) with system versioning;
set statement timestamp=1600018800 for insert into v values (1);
select id, row_start from v;
select now();
set statement time_zone='+05:00' for select now();
