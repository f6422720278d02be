-- A column without a default needs no value in VALUES if ON DUPLICATE KEY UPDATE sets it.

CREATE TABLE t1 (id INT PRIMARY KEY, c0 DECIMAL(8,2) NOT NULL, c1 CHAR(5), c2 int not null, e enum('x','y') not null);

INSERT INTO t1 (id, c1,c2,e) VALUES (9, '1',1,'y') ON DUPLICATE KEY UPDATE c0 = 3;

select * from t1;

delete from t1;

INSERT INTO t1 (id, c1,c2) VALUES (9, '1',1) ON DUPLICATE KEY UPDATE c0 = 3,e='y';

select * from t1;

delete from t1;

INSERT INTO t1 (id, c1,c2) VALUES (9, '1',1) ON DUPLICATE KEY UPDATE c0 = 3;

select * from t1;

delete from t1;

INSERT INTO t1 (id, c1,c2,e) select 9, '1',1,'y' ON DUPLICATE KEY UPDATE c0 = 3;

select * from t1;

delete from t1;

INSERT INTO t1 set id=9,c2=1,e='y' ON DUPLICATE KEY UPDATE c0 = 3;

select * from t1;

delete from t1;

INSERT INTO t1 (id, c1,c2,e) VALUES (9, '1',1,'y') ON DUPLICATE KEY UPDATE c0 = default(c0);

select * from t1;

delete from t1;

INSERT INTO t1 (id, c1,c2,e) VALUES (9, '1',1,'y') ON DUPLICATE KEY UPDATE c0 = default;

select * from t1;

delete from t1;

INSERT INTO t1 (id, c1,c2,e) VALUES (9, '1',1,'y') ON DUPLICATE KEY UPDATE c1 = c0;

select * from t1;

delete from t1;

INSERT INTO t1 (id, c0,c1,c2,e) VALUES (9,default, '1',1,'y') ON DUPLICATE KEY UPDATE c0 = 3;

select * from t1;

delete from t1;

INSERT INTO t1 (id, c1,c2,e) VALUES (9, '1',1,'y') ON DUPLICATE KEY UPDATE c1 = values(c0);

select * from t1;

delete from t1;

INSERT INTO t1 (id) VALUES (9) ON DUPLICATE KEY UPDATE c1 = 5;

select * from t1;

delete from t1;

INSERT INTO t1 (id) VALUES (9) ON DUPLICATE KEY UPDATE c0=1,c2=1;

select * from t1;

delete from t1;

INSERT IGNORE INTO t1 (id) VALUES (9) ON DUPLICATE KEY UPDATE c0=1,c2=1;

select * from t1;

delete from t1;

INSERT INTO t1 () VALUES () ON DUPLICATE KEY UPDATE c0=1,c2=1,id=4,e='x';

select * from t1;

delete from t1;

INSERT INTO t1 VALUES () ON DUPLICATE KEY UPDATE c0=1,c2=1,id=4,e='x';

select * from t1;

delete from t1;

replace INTO t1 (id, c1,c2,e) VALUES (9, '1',1,'y');

create view v as select id,c0,c1 from t1;

insert into v(id,c1) values(1,2) on duplicate key update c0=1;

create view w as select id,c1,c2,e from t1;

insert into w values(1,2,3,'x') on duplicate key update c2=1;

prepare s from 'INSERT INTO t1 (id, c1,c2,e) VALUES (?, ?,1,?) ON DUPLICATE KEY UPDATE c0 = ?';

set @a=1,@b='x',@c=5;

execute s using @a,@a,@b,@c;

execute s using @a,@a,@b,@c;

select * from t1;

INSERT INTO t1 (id, c1,c2,e) VALUES (9, '1',1,'y'),(9,'2',2,'x'),(10,'3',3,'x') ON DUPLICATE KEY UPDATE c0 = c0+1;

select * from t1;

alter table t1 add dd date not null;

INSERT INTO t1 (id, c1,c2,e,c0) VALUES (19, '1',1,'y',1) ON DUPLICATE KEY UPDATE dd=now();

select * from t1;

create trigger tr before insert on t1 for each row set new.c2=8;

INSERT INTO t1 (id, c1,e,c0,dd) VALUES (29, '1','y',1,'2020-01-01') ON DUPLICATE KEY UPDATE c2=1;

select * from t1;

INSERT INTO t1 (id, c1,e,dd) VALUES (39, '1','y','2020-01-01') ON DUPLICATE KEY UPDATE c2=1;

select * from t1;

