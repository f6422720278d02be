-- Indexes that are added while others use the table.
create table t (id int primary key, a int, b varchar(20), v int as (a % 3) virtual, unique k0 (b)) engine=innodb;
insert into t (id, a, b) values (1,1,'a'),(2,2,'b'),(3,null,null),(4,null,null),(5,2,'c');
alter table t add index k1 (a), algorithm=instant;
alter table t add index k1 (a), algorithm=nocopy, lock=none;
alter table t add unique k2 (id, a), algorithm=inplace, lock=none;
create index k3 on t (v);
alter online table t add index k4 (b desc, a);
alter table t add unique k5 (a), lock=none;
create unique index k5 on t (b(1)) lock=none;
create index k5 on t (a) lock=none;
alter table t add index k6 (a), add index k7 (b(3)) ignored, lock=shared;
alter table t add index k8 (a), algorithm=copy, lock=none;
alter table t add index k8 (a), lock=exclusive;
show create table t;
-- Who has changed rows is waited for, who only reads is not.
b: begin;
b: update t set a = 7 where id = 1;
set lock_wait_timeout = 1;
alter table t add index k9 (a, b);
create index k9 on t (a, b) nowait;
b: rollback;
alter table t add index k9 (a, b);
show index from t where key_name = 'k9';
-- An older snapshot does not read the new index.
b: start transaction with consistent snapshot;
c: insert into t (id, a, b) values (6, 6, 'f');
c: update t set a = 20 where id = 2;
alter table t add index k10 (a, b);
b: select id, a from t force index (k10) where a > 0 order by a, id;
b: select id, a from t force index (k1) where a > 0 order by a, id;
b: select id, a from t force index (primary);
b: commit;
b: select id, a from t force index (k10) where a > 0 order by a, id;
check table t extended;
alter table t drop index k10, lock=none;
alter table t drop index k9, algorithm=nocopy;
drop table t;
