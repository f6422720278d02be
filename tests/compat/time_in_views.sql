# TIME(x) and TIMESTAMP(x) keep the fraction in a view.
create table t(id int, d6 datetime(6), t3 time(3), d date, v varchar(40), ts timestamp(2) null, n decimal(20,4), i int);
insert into t values (1,'2024-01-05 10:11:12.987654','10:11:12.123','2024-01-05','2024-01-05 10:11:12.5','2024-01-05 10:11:12.55', 20240105101112.5, 101112);
create view v1 as select time(d6) a, timestamp(d6) b, time('10:11:12.5') c, timestamp('2024-01-05 10:11:12.25') d, time(t3) e, time(v) f, timestamp(v) g, timestamp(d) h, timestamp(ts) i, time(ts) j, time(n) k, timestamp(n) l, timestamp(d6,t3) m, timestamp(d,t3) n, time(i) o, date(d6) p, timestamp(i) q from t;
select * from v1;
show create view v1;
create table g1 (d6 datetime(6), v varchar(30), n decimal(20,4), i int, f double, y year, a time(6) as (time(d6)), b datetime(6) as (timestamp(d6)), c time(6) as (time(v)), e time(6) as (time('10:11:12.5')), h time as (time(i)), j time(6) as (time(f)), check (time(d6) > '00:00:00.5'));
insert into g1(d6,v,n,i,f) values ('2024-01-05 10:11:12.987654','10:11:12.5',101112.5,101112,101112.75);
select * from g1;
create or replace view v5 as select time(f) a, time(y) b, time(concat(v,'')) c, time(10.5) e, time(10) g, time(1e0) h, time(now(3)) i, time(if(1,d6,null)) j, time(null) k, time(d6+interval 1 second) l, timestamp(max(d6)) m, time(x'41') n, time('') o, time('10:11:12.123456789') p, timestamp(20240101101112.5) q, time(cast(d6 as time(3))) r from g1;
create or replace view v5 as select time(f) a, time(y) b, time(concat(v,'')) c, time(10.5) e, time(10) g, time(1e0) h, time(if(1,d6,null)) j, time(null) k, time(d6+interval 1 second) l, timestamp(max(d6)) m, time(x'41') n, time('') o, time('10:11:12.123456789') p, timestamp(20240101101112.5) q, time(cast(d6 as time(3))) r from g1;
select * from v5;
