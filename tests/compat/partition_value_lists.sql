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

create table u1 (c0 int not null,c1 int not null,c2 int not null,c3 int not null,c4 int not null,c5 int not null,c6 int not null,c7 int not null,c8 int not null,c9 int not null,c10 int not null,c11 int not null,c12 int not null,c13 int not null,c14 int not null,c15 int not null,c16 int not null,c17 int not null,c18 int not null,c19 int not null,c20 int not null,c21 int not null,c22 int not null,c23 int not null,c24 int not null,c25 int not null,c26 int not null,c27 int not null,c28 int not null,c29 int not null,c30 int not null,c31 int not null,c32 int not null, primary key(c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19,c20,c21,c22,c23,c24,c25,c26,c27,c28,c29,c30,c31,c32)) partition by key(c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19,c20,c21,c22,c23,c24,c25,c26,c27,c28,c29,c30,c31,c32) partitions 2;

create table u1 (c0 int not null,c1 int not null,c2 int not null,c3 int not null,c4 int not null,c5 int not null,c6 int not null,c7 int not null,c8 int not null,c9 int not null,c10 int not null,c11 int not null,c12 int not null,c13 int not null,c14 int not null,c15 int not null,c16 int not null,c17 int not null,c18 int not null,c19 int not null,c20 int not null,c21 int not null,c22 int not null,c23 int not null,c24 int not null,c25 int not null,c26 int not null,c27 int not null,c28 int not null,c29 int not null,c30 int not null,c31 int not null,c32 int not null) partition by list columns(c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19,c20,c21,c22,c23,c24,c25,c26,c27,c28,c29,c30,c31,c32) (partition p0 values in ((1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)));
