-- Numbers with spaces as members of ENUM.
CREATE TABLE e(a ENUM('a','b'), b enum('1 ','2','x'));
INSERT INTO e VALUES('1 ','1 ');
insert into e values (' 1','3  ');
insert into e values ('2   ','2 '),('+1','1');
create table ev (v varchar(10));
insert into ev values ('1 '),('2'),('2  ');
insert into e(a) select v from ev;
select a+0, b+0 from e;
update e set a='1 ';
set sql_mode='';
insert into e(a) values (''),(' '),('9 '),('1 x'),('1\t');
select a+0 from e;
set sql_mode=default;
