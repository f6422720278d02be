-- LAST_INSERT_ID of a column that a view does not show is reported to the client only.
create table v(id int auto_increment primary key, n int, unique(n));
create view vv as select n from v;
insert into vv(n) values(5);
select last_insert_id();
insert into vv values(6),(7);
select last_insert_id();
insert into vv values(5) on duplicate key update n=10;
select last_insert_id();
insert into v(n) values(90);
select last_insert_id();
insert into vv values(99);
insert into vv select n+1000 from v;
insert ignore into vv values(99);
replace into vv values(99);
select last_insert_id();
select * from v order by id;
