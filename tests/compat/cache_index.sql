-- CACHE INDEX and LOAD INDEX INTO CACHE.

set global hot.key_buffer_size = 1048576;

create table m(a int primary key, b int, key(b)) engine=myisam;

create table i(a int primary key, b int) engine=innodb;

create table a(a int primary key) engine=aria;

create table mem(a int primary key) engine=memory;

create table c(a int not null) engine=csv;

create table p(i int) engine=myisam partition by hash(i) partitions 2;

create table pi(i int) engine=innodb partition by hash(i) partitions 2;

create table sub(i int, j int, key(j)) engine=myisam partition by range(i) subpartition by hash(j) subpartitions 2 (partition low values less than (10), partition high values less than maxvalue);

create view v as select 1;

create sequence s;

create temporary table t(a int primary key) engine=myisam;

cache index m in hot;

cache index m, i, a, mem, c, p, pi, v, s, t, missing in hot;

cache index m in nocache;

cache index missing in nocache;

cache index m in default;

cache index m in `Default`;

cache index m in HOT;

cache index m index (b) in hot;

cache index m key (primary, b), i in hot;

cache index m index (none) in hot;

cache index i index (none) in hot;

cache index m index () in hot;

cache index p partition (p0, p1) in hot;

cache index p partition (all) in hot;

cache index p partition (P1) in hot;

cache index p partition (p5) in hot;

cache index p partition (p0, p5) in hot;

cache index m partition (p5) in hot;

cache index pi partition (p1) in hot;

cache index pi partition (p9) in hot;

cache index p partition (p1) index (x) in hot;

cache index p index (x) in hot;

cache index sub partition (high) index (j) in hot;

cache index m, m in hot;

cache index m as k in hot;

cache index m;

cache index m in hot.x;

cache index m in 'hot';

cache index nowhere.m in hot;

cache index information_schema.tables in hot;

load index into cache m;

load index into cache m, i, a, mem, c, p, pi, v, s, t, missing;

load index into cache m ignore leaves;

load index into cache m index (b) ignore leaves, i;

load index into cache m index (none);

load index into cache p partition (p0);

load index into cache p partition (all) ignore leaves;

load index into cache p partition (p7);

load index into cache m partition (p0);

load index into cache p partition (p0) index (x);

load index into cache m, m;

-- Neither commits.

begin;

insert into i values(1, 1);

cache index m in hot;

load index into cache m;

rollback;

select count(*) from i;

xa start 'x';

cache index m in hot;

load index into cache p partition (p0);

xa end 'x';

xa rollback 'x';

lock tables m read;

cache index m in hot;

load index into cache m, i;

unlock tables;

prepare q from 'cache index m in hot';

execute q;

prepare q from 'load index into cache m';

execute q;

create procedure both_of() begin cache index m in hot; load index into cache m; end;

call both_of();

create function f() returns int begin cache index m in hot; return 1; end;

create function f() returns int begin load index into cache m; return 1; end;

-- Names are told apart by case.

cache index m in DEFAULT;

set global Warm.key_buffer_size = 1048576;

select @@Warm.key_buffer_size, @@warm.key_buffer_size;

cache index m in Warm;

cache index m in warm;

set global Warm.key_buffer_size = 0;

-- A cache that is gone is known; its tables are in the default one.

set global hot.key_buffer_size = 0;

cache index m in hot;

cache index m in never;
