-- A column of a view that has another collation than its column of the table can be written.
set names latin1;
create table n (a int, s varchar(10), t timestamp null) charset latin1;
insert into n values (1, 'x', null);
create view w as select a, s collate latin1_german1_ci c, t collate latin1_german1_ci d from n;
update w set d = '2020-01-02 03:04:05';
insert into w values (7, 'all', null);
insert into w (d) values ('2021-01-02 03:04:05');
select * from n order by a;
create view u as select concat(s, '') c from n;
insert into w (c) values ('written');
update w set c = 'again' where c = 'written';
select count(*) from n where s = 'again';
update u set c = 'z';
insert into u values ('z');
