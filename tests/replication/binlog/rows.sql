create table t (id int auto_increment primary key, a int, b varchar(20), unique key (a));
insert into t (a, b) values (1, 'a'), (2, 'b'), (3, null);
insert into t (a, b) select a + 10, b from t;
insert into t (a) values (1);
insert ignore into t (a, b) values (1, 'x'), (4, 'four'), (2, 'y');
update t set b = concat(b, '!') where a < 3;
update t set a = a;
update t set a = 2 where a = 1;
update ignore t set a = 2 where a in (1, 3);
replace into t (a, b) values (1, 'replaced'), (77, 'new');
replace into t values (2, 5, 'two keys');
insert into t (a, b) values (77, 'q'), (78, 'r') on duplicate key update b = concat(values(b), '+');
delete from t where a > 70;
delete from t where a > 700;
create table u (k int primary key, v int);
insert into u select id, a from t;
update t join u on t.id = u.k set t.b = 'joined', u.v = u.v + 1 where t.id < 3;
delete t, u from t join u on t.id = u.k where t.id = 3;
truncate table u;
create table p (id int primary key); create table c (id int primary key, p int, foreign key (p) references p (id) on delete cascade on update cascade);
insert into p values (1), (2), (3); insert into c values (10, 1), (20, 2), (30, 2);
delete from p where id = 1; update p set id = 7 where id = 2; delete from p where id = 3;
create table log (n int auto_increment primary key, what varchar(30));
create trigger ti after insert on u for each row insert into log (what) values (concat('u', new.k));
insert into u values (1, 1), (2, 2);
begin; insert into u values (3, 3); update t set b = 'in' where id = 1; delete from u where k = 1; commit;
begin; insert into u values (4, 4); savepoint a; insert into u values (5, 5); savepoint b; insert into u values (6, 6); rollback to a; insert into u values (7, 7); commit;
begin; insert into u values (8, 8); rollback;
begin; insert into u values (9, 9); insert into u values (9, 9); insert into u values (10, 10); commit;
set autocommit = 0; insert into u values (11, 11); commit; set autocommit = 1;
create table m (a int) engine = MyISAM; insert into m values (1), (2); begin; insert into m values (3); insert into u values (12, 12); rollback;
update m set a = a + 1; delete from m where a = 2;
create table noprimary (a int, b text); insert into noprimary values (1, 'x'), (1, 'x'), (null, null); update noprimary set b = 'y' where a = 1 limit 1; delete from noprimary limit 1;
set sql_log_bin = 0; insert into p values (500); delete from p where id = 500; set sql_log_bin = 1;
set binlog_annotate_row_events = 0; insert into u values (13, 13); set binlog_annotate_row_events = 1;
set binlog_row_image = 'MINIMAL'; insert into u values (14, 14); update u set v = 15 where k = 14; delete from u where k = 14; set binlog_row_image = 'FULL';
delimiter //
create procedure fill(n int) begin declare i int default 0; while i < n do insert into log (what) values ('p'); set i = i + 1; end while; end//
delimiter ;
call fill(3);
delimiter //
create function f(x int) returns int begin insert into log (what) values ('f'); return x + 1; end//
delimiter ;
select f(1), f(2); insert into u values (f(40), 1); update u set v = f(v) where k = 41;
prepare s from 'insert into u values (?, ?)'; set @a = 50, @b = 51; execute s using @a, @b; deallocate prepare s;
create view v as select k, v from u where k > 10; insert into v values (60, 61); update v set v = 62 where k = 60; delete from v where k = 60;
create table g (a int, s int as (a + 1) stored, w int as (a * 2) virtual); insert into g (a) values (1), (2); update g set a = 5 where a = 1;
