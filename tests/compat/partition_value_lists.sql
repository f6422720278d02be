-- Lists of values of partitions: their syntax, texts that columns cannot hold.

create or replace table t1 (a inet6) partition by list columns(a) (partition p0 values in ('€'));

create or replace table t1 (a inet6) partition by list columns(a) (partition p0 values in ('garbage'));

create or replace table t1 (a inet6) partition by range columns(a) (partition p0 values less than ('garbage'));

create or replace table t1 (a inet6) partition by list columns(a) (partition p0 values in (1));

create or replace table t1 (a inet4) partition by list columns(a) (partition p0 values in ('1.2.3'));

create or replace table t1 (a uuid) partition by list columns(a) (partition p0 values in ('1.2.3'));

create or replace table t1 (a time) partition by list columns(a) (partition p0 values in (_ucs2 0x0411));

create or replace table t1 (a time) partition by list columns(a) (partition p0 values in (_latin1 'Z'));

create or replace table t1 (a time) partition by list columns(a) (partition p0 values in ('garbage'));

create or replace table t1 (a date) partition by list columns(a) (partition p0 values in ('garbage'));

create or replace table t1 (a date) partition by list columns(a) (partition p0 values in ('€'));

create or replace table t1 (a date) partition by list columns(a) (partition p0 values in (_ucs2 0x0411));

create or replace table t1 (a date) partition by list columns(a) (partition p0 values in ('2001-01-01', '2001-02-31'));

create or replace table t1 (a datetime) partition by range columns(a) (partition p0 values less than ('2001-02-31'));

create or replace table t1 (a int) partition by list columns(a) (partition p0 values in ('1'));

create or replace table t1 (a int) partition by list columns(a) (partition p0 values in (1.5));

create or replace table t1 (a int) partition by list columns(a) (partition p0 values in ((1)));

create or replace table t1 (a int) partition by list columns(a) (partition p0 values in (2,1),partition p1 values in ((4),(null),(3)));

create or replace table t1 (a int) partition by list (a) (partition p0 values in ((1),(2)));

create or replace table t1 (a int) partition by list (a) (partition p0 values in ((1)));

create or replace table t1 (a int) partition by range columns(a) (partition p0 values less than ((1)));

create or replace table t1 (a char(3)) partition by list columns(a) (partition p0 values in (1));

create or replace table t1 (a char(3) character set latin1) partition by list columns(a) (partition p0 values in ('€','Б'));

create or replace table t1 (a char(3)) partition by list columns(a) (partition p0 values in (_ucs2 0x0411));

create or replace table t1 (a int, b int) partition by list columns(a,b) (partition p0 values in ((maxvalue,maxvalue)));

create or replace table t1 (a int, b int) partition by list columns(a,b) (partition p0 values in ((1,maxvalue)));

create or replace table t1 (a int) partition by list columns(a) (partition p0 values in (maxvalue));

create or replace table t1 (a int) partition by list (a) (partition p0 values in (maxvalue));

create or replace table t1 (a int, b int) partition by range columns(a,b) (partition p0 values less than (10));

create or replace table t1 (a int, b int) partition by range columns(a,b) (partition p0 values less than maxvalue);

create or replace table t1 (a int, b int) partition by range columns(a,b) (partition p0 values less than (1,1,1));

create or replace table t1 (a int, b int) partition by range columns(a,b) (partition p0 values less than (1,1,1);

create or replace table t1 (a int, b int) partition by list columns(a,b) (partition p0 values in (1));

create or replace table t1 (a int, b int) partition by list columns(a,b) (partition p0 values in (1,2));

create or replace table t1 (a int, b int) partition by list columns(a,b) (partition p0 values in ((1,2,3)));

create or replace table t1 (a int, b int) partition by list columns(a,b) (partition p0 values in ((1,2),(3)));

create or replace table t1 (a int, b int) partition by list columns(a,b) (partition p0 values in ((1,2),4));

create or replace table t1 (a int) partition by list columns(a) (partition p0 values in ((1,2)));

create or replace table t1 (a int) partition by list (a) (partition p0 values in ((1,2)));

create or replace table t1 (a int) partition by range (a) (partition p0 values less than (1,2));

create or replace table t1 (a int) partition by range columns(a) (partition p0 values less than (1,2));

create or replace table t1 (a int) partition by key(a) (partition p0 values less than (1,2));

create or replace table t1 (a int) partition by list (a) (partition p0 values in ((1)+1));

create or replace table t1 (a int) partition by list (a) (partition p0 values in (1,(2)));

create or replace table t1 (a int) partition by list (a) (partition p0 values in ((1),2));

create or replace table t1 (a int) partition by list (a) (partition p0 values in (-(1)));

create or replace table t1 (a int) partition by list (a) (partition p0 values in (1));

alter table t1 add partition (partition p1 values in ((2)));

alter table t1 add partition (partition p1 values in ((2),(3)));

alter table t1 add partition (partition p2 values in ((2,4)));

alter table t1 add partition (partition p3 values in (maxvalue));

alter table t1 add partition (partition p3 values in ((maxvalue)));

show create table t1;

create or replace table t1 (a int, b int) partition by list columns (a,b) (partition p0 values in ((1,1)));

alter table t1 add partition (partition p1 values in ((2)));

alter table t1 add partition (partition p1 values in (2));

alter table t1 add partition (partition p1 values in (2,3));

alter table t1 add partition (partition p1 values in ((2,3)));

alter table t1 add partition (partition p1 values in ((2,3,4)));

alter table t1 add partition (partition p3 values in ((2,maxvalue)));

create or replace table t1 (a int, b int) partition by list columns (a,b) (partition p0 values in ((1,(2))));

create or replace table t1 (a int, b int) partition by range columns (a,b) (partition p0 values less than (1,1));

alter table t1 add partition (partition p1 values less than (4));

alter table t1 add partition (partition p1 values less than (4,5,6));

alter table t1 add partition (partition p1 values less than maxvalue);

drop table t1;
