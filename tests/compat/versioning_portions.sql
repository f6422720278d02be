# A portion that is deleted from a versioned row: the row becomes one of history, and foreign keys follow.
set timestamp=1000000000;
create table pa (id int, s date, e date, v int, period for ap(s,e), key(id)) with system versioning;
create table c1 (id int primary key, pid int, key(pid), foreign key (pid) references pa(id) on delete cascade);
create table c2 (id int primary key, pid int, key(pid), foreign key (pid) references pa(id) on delete set null);
create table c3 (id int primary key, pid int, key(pid), foreign key (pid) references pa(id));
insert into pa values (2,'2000-01-01','2010-01-01',2),(5,'2000-01-01','2010-01-01',4),(7,'2000-01-01','2010-01-01',4);
insert into c1 values (2,2);
insert into c2 values (7,7);
insert into c3 values (5,5);
set timestamp=1000000010;
delete from pa for portion of ap from '2004-01-01' to '2005-01-01' where id=2;
select * from c1;
delete from pa for portion of ap from '2004-01-01' to '2005-01-01' where id=5;
delete from pa for portion of ap from '2004-01-01' to '2015-01-01' where id=7;
select * from c2;
select * from pa order by id,s;
select *,row_start,row_end from pa for system_time all order by id,s,row_end;
