-- Columns added by ALTER TABLE have the table's new character set, wherever the statement names it.

create table t(a varchar(5), b varchar(5) character set latin1, c int) charset utf8mb4;

alter table t default character set latin2, modify a varchar(10);

show create table t;

alter table t default character set latin1;

show create table t;

alter table t modify a varchar(10);

show create table t;

alter table t add d varchar(5), default character set cp1251;

show create table t;

alter table t add e varchar(5);

show create table t;

alter table t change a a2 varchar(7), character set utf8mb3;

show create table t;

alter table t convert to character set utf8mb4, add f varchar(3), modify b varchar(9);

show create table t;

alter table t convert to character set latin1, modify b varchar(9) character set utf8mb3;

show create table t;

alter table t modify b varchar(9) collate latin1_bin;

show create table t;

alter table t default collate utf8mb4_bin, add g varchar(3), add h enum('a'), add i text;

show create table t;

alter table t default character set binary, add j varchar(3);

show create table t;

create table u(a varchar(5)) charset latin1 collate latin1_bin;

alter table u default character set latin1;

show create table u;

alter table u add b varchar(3);

show create table u;

alter table u character set utf8mb4 collate utf8mb4_unicode_ci, modify a char(3), modify b varchar(3) binary;

show create table u;

alter database character set latin1;

create table u2(a varchar(3));

show create table u2;

drop table u2;

alter database character set utf8mb4;
