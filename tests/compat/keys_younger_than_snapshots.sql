# Session b has a snapshot in which two rows have one key.
create table o (x int);
insert into o values (1), (5);
create table w (a int, n int);
insert into w values (1, 1), (1, 2), (5, 3);
b: set session transaction isolation level repeatable read;
b: start transaction with consistent snapshot;
b: select x from o order by x;
delete from w where n = 2;
alter table w add unique (a);
b: select x from o where x in (select a from w) order by x;
b: select x from o where exists (select * from w where w.a = o.x) order by x;
b: select count(*) from o join w on w.a = o.x;
b: commit;
b: select x from o where x in (select a from w) order by x;
drop table o, w;
