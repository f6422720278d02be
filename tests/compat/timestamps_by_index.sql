-- Timestamps compared with local times: when clocks go forward or back, and at the ends of the range.
-- Recorded from a MariaDB whose time zone Europe/Berlin is loaded. Its index finds only the first of two instants that
-- are one local time, its scan both.

create table t(id int primary key, ts timestamp null, dt datetime null, key(ts), key(dt));

set time_zone='+00:00';

insert into t values(1,'2020-01-01 00:00:00','2020-01-01'),(2,'2021-03-28 00:30:00','2021-03-28 02:30:00'),(3,'2021-03-28 01:00:00','2021-03-28 03:00:00'),(4,'2021-10-31 00:30:00','2021-10-31 02:30'),(5,'2021-10-31 01:30:00','2021-10-31 02:30:00'),(6,null,null);

select id from t where ts < 9223372036854775807 order by 1;

select id from t where ts < 18446744073709551615 order by 1;

select id from t where ts > 0 order by 1;

select id from t where ts > -1 order by 1;

select id from t where ts < 99999999999999 order by 1;

select id from t where ts = 20200101000000;

select id from t where ts > 20200101 order by 1;

select id from t ignore index(ts) where ts < 9223372036854775807 order by 1;

select id from t where dt < 9223372036854775807 order by 1;

select id from t where dt > -1 order by 1;

select id from t where ts <> 9223372036854775807 order by 1;

select id from t where ts between 0 and 9223372036854775807 order by 1;

select id from t where ts < 1e30 order by 1;

select id from t where ts < 20210328003000.5 order by 1;

select id from t where 9223372036854775807 > timestamp'2020-01-01 00:00:00';

select 9223372036854775807 > timestamp'2020-01-01 00:00:00', 9223372036854775807 > ts from t where id=1;

create table n(a bigint, u bigint unsigned, key(a), key(u));

insert into n values(9223372036854775807,18446744073709551615),(20200101000000,20200101000000),(1,1),(null,null),(-1,0);

select a from n where a > timestamp'2020-01-01 00:00:00' order by 1;

select a from n where a >= timestamp'2020-01-01 00:00:00' order by 1;

select a from n where a = timestamp'2020-01-01 00:00:00' order by 1;

select a from n where a < timestamp'2020-01-01 00:00:00' order by 1;

select u from n where u > timestamp'2020-01-01 00:00:00' order by 1;

select a from n where a > date'2020-01-01' order by 1;

select a from n where a > time'10:00:00' order by 1;

select a from n ignore index(a) where a > timestamp'2020-01-01 00:00:00' order by 1;

select n.a, t.id from n join t on n.a=t.ts order by 1,2;

select n.a, t.id from n join t on n.a>t.ts where t.id=1 order by 1,2;

set time_zone='Europe/Berlin';

select id, ts from t order by id;

select id from t where ts = '2021-03-28 02:30:00' order by 1;

select id from t where ts >= '2021-03-28 02:30:00' order by 1;

select id from t where ts > '2021-03-28 02:30:00' order by 1;

select id from t where ts < '2021-03-28 02:30:00' order by 1;

select id from t where ts <= '2021-03-28 02:30:00' order by 1;

select id from t ignore index(ts) where ts >= '2021-03-28 02:30:00' order by 1;

select id from t ignore index(ts) where ts > '2021-03-28 02:30:00' order by 1;

select id from t ignore index(ts) where ts < '2021-03-28 02:30:00' order by 1;

select id from t ignore index(ts) where ts <= '2021-03-28 02:30:00' order by 1;

select id from t ignore index(ts) where ts = '2021-03-28 02:30:00' order by 1;

select id from t where ts = '2021-10-31 02:30:00' order by 1;

select id from t where ts >= '2021-10-31 02:30:00' order by 1;

select id from t where ts > '2021-10-31 02:30:00' order by 1;

select id from t where ts < '2021-10-31 02:30:00' order by 1;

select id from t where ts between '2021-10-31 02:00:00' and '2021-10-31 02:59:59' order by 1;

select id from t ignore index(ts) where ts = '2021-10-31 02:30:00' order by 1;

select id from t ignore index(ts) where ts > '2021-10-31 02:30:00' order by 1;

select id from t ignore index(ts) where ts < '2021-10-31 02:30:00' order by 1;

select id from t where ts in ('2021-10-31 02:30:00','2021-03-28 02:30:00') order by 1;

select id from t where ts = timestamp'2021-10-31 02:30:00' order by 1;

select t.id, u.id from t join t u on t.ts=u.dt order by 1,2;

select t.id, u.id from t straight_join t u force index(ts) on t.dt=u.ts order by 1,2;

select t.id, u.id from t straight_join t u ignore index(ts) on t.dt=u.ts order by 1,2;

select t.id, u.id from t join t u on t.ts=u.ts order by 1,2;

select ts, count(*) from t group by ts order by min(id);

select distinct ts from t order by id;
