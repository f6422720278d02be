-- Joins of few rows: a row that is found by its key is looked up, even if the table is small.

create table t(a int primary key, b int unique, c int unique, d varchar(20), key(d)) engine=myisam;

insert into t select seq, seq, seq, concat('x', seq) from seq_1_to_10;

create table u(a int, b int, c int) engine=myisam;

insert into u select seq, seq, seq from seq_1_to_10;

explain select * from t, u where t.b = u.c and t.c = u.b;

select * from t, u where t.b = u.c and t.c = u.b;

explain select * from u, t where t.a = u.b;

explain select * from u join t on t.a = u.a where u.c < 5;

explain select u.a from u where exists (select 1 from t where t.a = u.a);

explain select * from u left join t on t.b = u.b;
