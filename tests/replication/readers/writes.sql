create table numbers (id int auto_increment primary key, t tinyint, tu tinyint unsigned, s smallint, su smallint unsigned, m mediumint,
  mu mediumint unsigned, i int, iu int unsigned, b bigint, bu bigint unsigned, z int(8) zerofill, y year, f float, d double,
  n decimal(65, 30), p decimal(10), q decimal(5, 4) unsigned, o bool, bits bit(1), many bit(64), some bit(13));
insert into numbers values (1, -128, 0, -32768, 0, -8388608, 0, -2147483648, 0, -9223372036854775808, 0, 0, 0, -1.5, -2.5e-300,
  -12345678901234567890123456789012345.123456789012345678901234567890, -9999999999, 0, false, b'0', 0, 0);
insert into numbers values (2, 127, 255, 32767, 65535, 8388607, 16777215, 2147483647, 4294967295, 9223372036854775807,
  18446744073709551615, 42, 2155, 3.4e38, 1.7e308, 0.000000000000000000000000000001, 9999999999, 9.9999, true, b'1',
  0xffffffffffffffff, 0x1abc), (3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1901, 0.1, 0.1, 1, 1, 1, 1, 1, 1, 1);
insert into numbers (id) values (4), (5);
update numbers set i = id * 7, f = id / 4, n = -n, many = ~many where id < 5;
delete from numbers where id in (1, 5);
create table times (id int primary key, d date, t0 time, t1 time(1), t3 time(3), t6 time(6), dt0 datetime, dt2 datetime(2), dt4 datetime(4),
  dt6 datetime(6), ts0 timestamp null, ts3 timestamp(3) null, ts6 timestamp(6) null);
set time_zone = '+00:00';
insert into times values (1, '1000-01-01', '-838:59:59', '-00:00:00.1', '-12:34:56.789', '-00:00:00.000001', '1000-01-01 00:00:00',
  '1000-01-01 00:00:00.01', '1999-12-31 23:59:59.9999', '9999-12-31 23:59:59.999999', '1970-01-01 00:00:01', '2038-01-19 03:14:07.999',
  '2026-02-28 01:02:03.000004');
insert into times values (2, '9999-12-31', '838:59:59', '00:00:00.9', '12:34:56.001', '838:59:58.999999', '9999-12-31 23:59:59',
  '2024-02-29 12:00:00.50', '2024-02-29 12:00:00.0500', '2024-02-29 12:00:00.000005', '2024-02-29 12:00:00', '2024-02-29 12:00:00.050',
  '2024-02-29 12:00:00.000005'), (3, null, null, null, null, null, null, null, null, null, null, null, null);
set sql_mode = '';
insert into times (id, d, dt0, dt6, ts0) values (4, '0000-00-00', '0000-00-00 00:00:00', '2026-00-10 00:00:00', '0000-00-00 00:00:00');
set sql_mode = default;
update times set d = '2026-11-29', t6 = '00:00:01.5', ts6 = '2001-09-09 01:46:40.123456' where id > 1;
delete from times where id < 4;
create table texts (id int primary key, l varchar(20) character set latin1, u varchar(300) character set utf8mb4, w char(10) character set ucs2,
  g varchar(20) character set gbk, fixed char(30) character set utf8mb4, bi binary(6), vb varbinary(300), tt tinytext, mt mediumtext, lt longtext,
  tb tinyblob, bl blob, mb mediumblob, lb longblob, j json, e enum('one', 'two', 'drei\'') character set utf8mb4,
  big enum('a', 'b', 'c'), s set('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'), ip inet6, id2 uuid);
insert into texts values (1, 'Grüße', 'naïve 😀 日本', 'wide', '中文', 'padded', 0x0001, 0x00ff00, '', 'medium', repeat('long', 100), 0x00,
  repeat(x'00ff', 200), repeat('m', 70000), repeat('l', 300000), '{"a": [1, 2.5, null, "é"]}', 'drei''', 'a', 'a,c,i', '::1',
  '12345678-1234-1234-1234-123456789012');
insert into texts (id) values (2), (3);
insert into texts (id, l, u, s, e, big) select id + 10, concat(l, '+'), repeat(u, 10), 'h', 2, 'c' from texts;
update texts set u = concat(ifnull(u, ''), '!'), j = '[]', s = '', lb = null where id in (1, 2, 12);
delete from texts where id < 3;
create table without_key (a int, b text, c varchar(10));
insert into without_key values (1, 'x', 'y'), (1, 'x', 'y'), (null, null, null), (2, '', '');
update without_key set b = 'z' where a = 1 limit 1;
delete from without_key where a is null or a = 2;
create table moved (a int primary key, b varchar(10), c int default 3);
insert into moved (a, b) values (1, 'one'), (2, 'two');
alter table moved add d datetime(3) default '2020-01-01 00:00:00.123' after a, drop c, modify b varchar(300) character set utf8mb4;
update moved set b = repeat('wide', 70) where a = 1;
rename table moved to renamed;
replace into renamed (a, b) values (2, 'again');
create table big (id int primary key, v varchar(200));
begin;
insert into big select seq, repeat(char(65 + seq % 26), seq % 200) from seq_1_to_20000;
update big set v = concat(left(v, 150), id) where id % 3 = 0;
savepoint s;
delete from big where id < 100;
rollback to savepoint s;
delete from big where id % 7 = 0;
commit;
truncate table big;
create table made as select 1 as one, 'two' as two;
create or replace table made select 2 as two;
create table plain engine = MyISAM default charset = utf8mb4 as select 3 as three;
create or replace table plain engine = MyISAM default charset = utf8mb4 select 4 as four from made where two < 0;
create table alike like made;
create sequence counter; select nextval(counter); drop sequence counter;
create trigger counted after insert on without_key for each row insert into big values (new.a, new.c);
insert into without_key values (77, 'seen', 'by');
drop trigger counted;
create table parent (id int primary key); create table child (id int primary key, p int references parent (id) on delete cascade);
insert into parent values (1), (2); insert into child values (10, 1), (20, 2);
insert into big values (1, 'odku') on duplicate key update v = 'other'; insert into big values (1, 'odku') on duplicate key update v = 'other';
insert ignore into big values (1, 'kept out'), (2, 'let in');
xa start 'x'; insert into big values (3, 'xa'); xa end 'x'; xa commit 'x' one phase;
set gtid_domain_id = 5; insert into big values (4, 'another domain'); set gtid_domain_id = 0;
flush binary logs;
insert into big values (5, 'in the next file');
drop table child, parent, made, plain, alike;
create database other character set latin1;
use other;
create table here (a int) engine = MyISAM;
insert into here values (1), (2);
alter database d comment 'altered';
create or replace database other2;
drop database other2;
begin; insert into here values (3); commit;
begin; insert into here values (5); insert into d.big values (8, 'undone'); rollback;
drop database if exists nowhere;
create user someone@localhost; grant select on d.* to someone@localhost; drop user someone@localhost;
create procedure d.p() begin end; drop procedure d.p; create view d.v as select 1 as one; drop view d.v;
flush tables d.big; analyze table d.big; optimize table here;
set binlog_format = statement; insert into d.big values (9, 'statement'); begin; insert into d.big values (10, 'statement'); savepoint t; rollback; create temporary table d.tt (a int); insert into d.tt values (1); drop temporary table d.tt; set binlog_format = row;
drop database other;
create table d.last (a int primary key);
use d;
xa start 'y'; insert into last values (1); xa end 'y'; xa prepare 'y'; xa commit 'y';
xa start 'z'; insert into last values (2); xa end 'z'; xa prepare 'z'; xa rollback 'z';
