create table t (id int auto_increment primary key, a int, b varchar(30), c datetime(3)); create table k (a int primary key, b int); create table l (n int primary key, s varchar(20));
delimiter //
create procedure p (x int, y varchar(10), z decimal(10,2), w double, d date, dt datetime(3)) begin declare i int default 5; insert into t (a, b) values (x, y); insert into t (a, c) values (i, d); update t set a = z + i, c = dt where id = x; set i = i + 1; delete from t where a = i; insert into t (a) select i + x; end//
create procedure loops (n int) begin declare i int default 0; while i < n do set i = i + 1; insert into l values (i, concat('l', i)); end while; update l set s = concat(s, '+') where l.n between 1 and n; end//
create function f (x int) returns int deterministic begin insert into k values (x, x); return x; end//
create function pure (x int) returns int deterministic return x + 1//
create function v () returns int deterministic return @uu//
create procedure inner_call (x int) begin call loops(x); delete from l where n = x; end//
delimiter ;
call p(1, 'a\'b', 1.5, 2.5, '2020-01-02', '2020-01-02 03:04:05.678'); call p(2, null, 1.5, 2.5, '2020-01-02', null);
call loops(3); call inner_call(0);
set @uu = 4;
insert into t (a) values (pure(2));
insert into t (a) values (f(20));
insert into t (a) values (v());
update t set a = f(id + 100) where id = 1;
create trigger tr before insert on k for each row set new.b = new.b + 1;
insert into k values (500, 1), (501, 2);
create trigger ta after insert on k for each row insert into l values (new.a, 'by trigger');
insert into k values (600, 1);
delete from k where a = 600;
select f(30), f(31) + 1; do f(32); set @a = f(33); select pure(5) into @a; begin; select f(34); rollback; select f(20);
create table s select a, b from k; create table s2 select length(uuid()) u, a from k; create table s3 (x int auto_increment primary key) select a from k; create table s4 select @a v;
create or replace table s ignore select a from k; create table if not exists s select 1 as a;
begin not atomic declare q int default 9; insert into l values (q, q); end;
