-- Reads of nothing but the clustered key.

create table one (a int not null primary key, b int) engine=innodb;

create table two (a int not null, d varchar(10) not null, b int, c int, primary key(a,d), key(b)) engine=innodb;

create table parts (a int not null primary key, b int) engine=innodb partition by hash(a) partitions 2;

insert into one values (4,4),(5,4),(1,3),(3,2),(2,1),(6,6);

insert into two select a, 'x', b, b from one;

insert into parts select a, b from one;

explain select a from one;

explain select a, b from one;

explain select count(*) from one;

explain select a from one where a=1;

explain select 1 from one where a=1 for update;

explain select a from one where a>1;

explain select a from one where a>1 for update;

explain select a from one lock in share mode;

explain select b from one where a>1;

explain select a from one order by a;

explain select a from one order by a desc limit 1;

explain select a from one order by a+1;

explain select max(a) from one group by a;

explain select a from one where a+1>2;

explain select a from one ignore index(primary) where a>1;

explain select a from one use index();

explain select a from two;

explain select a, d from two where a=1;

explain select b from two where a=1;

explain select d from two where a=1 and d='x';

explain select x.a from one x, one y;

explain select a from one union select a from two;

explain delete from one where a>1;

explain update one set b=1 where a>1;

explain select a from parts where a>2;

explain format=json select a from one;

drop table one, two, parts;
