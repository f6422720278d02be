-- User variables that a statement does not assign find rows by an index.

create table t(id int primary key, v int, s varchar(20), d decimal(10,2), key(v), key(s), key(d)) charset utf8mb4;

insert into t select seq, seq%100, concat('s',seq), seq/4 from seq_1_to_2000;

set @a=7, @s='s77', @d=12.25;

flush status;

select * from t where id=@a;

select * from t where id in (@a, 9, @a+1) order by id;

select count(*) from t where v=@a;

select * from t where id>@a and id<@a+3 order by id;

select * from t where d=@d;

select count(*) from t where v between @a and @a+1;

select variable_name, variable_value from information_schema.session_status where variable_name='handler_read_rnd_next';

select * from t where s=@s;

update t set d=@d where id=@a;

select * from t where id=@a;

delete from t where id=@a;

select * from t where id=@a;

select a.id, b.id from t a join t b on a.v=b.id where a.id=@a+1;

prepare p from 'select id, v from t where id=@a';

execute p;

set @a=8;

execute p;

set @a='9';

execute p;

set @a=10.0;

execute p;

set @a=10.5;

execute p;

set @a=null;

execute p;

set @a='x';

execute p;

set @a=11e0;

execute p;

set @a=date'2020-01-01';

execute p;

set @a=12;

execute p;

select @a:=id from t where id>@a and id<20;

set @a=12;

select id from t where id=@a union all select @a:=14 union all select id from t where id=@a;

set @a=12;

select * from (select @a:=16 x) d, t where t.id=@a;

set @a=12;

insert into t select id, v, s, d from t where id=@a on duplicate key update d=(@a:=@a+1);

select @a;

set @a=12;

select v into @a from t where id=@a;

select @a;

create function f() returns int begin set @a=@a+1; return 1; end;

set @a=12;

select id, f() from t where id=@a;

select @a;

create procedure pr() begin declare i int default 0; set @k=20; while i<3 do select id, v from t where id=@k; set @k=@k+1, i=i+1; end while; end;

call pr();

create trigger tr before update on t for each row set @k=@k+1;

set @k=30;

update t set v=@k where id in (@k, @k+1, @k+2);

select id, v from t where id between 29 and 34;

set @a=40;

update t set id=id+5000 where id>=@a and id<@a+3;

select id from t where id>5000;

select exists(select 1 from t x where x.id=@a+5000), (select max(id) from t where v=@a);

select count(*) from t x where x.id in (select y.id from t y where y.v=@a);

select id from t where id=@unset;

explain update t set v=1 where id=@a;

create view w as select * from t;

select id from w where id=@a+1;

set @lo=100, @hi=102;

select id from t where (id, v) > (@lo, 0) and id<=@hi order by id desc limit 1;

select id from t where s like @s;

select id from t where id=@a or v=@a order by id limit 3;
