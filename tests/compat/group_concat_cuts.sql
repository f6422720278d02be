-- The rows at which GROUP_CONCAT is cut are counted through all groups.

create table t1 (id int, rollno int, name varchar(30));

insert into t1 values (1,1,'Record_1'),(2,1,'Record_2'),(3,2,'Record_3'),(4,2,'Record_4'),(5,2,'Record_5'),(6,3,'R'),(7,3,'Record_7');

set group_concat_max_len = 4;

select rollno, group_concat(name) from t1 group by rollno;

select rollno, group_concat(name order by name) from t1 group by rollno;

select rollno, group_concat(distinct rollno) from t1 group by rollno;

set group_concat_max_len = 10;

select rollno, group_concat(name order by id desc) from t1 group by rollno;

select group_concat(name) from t1;

select rollno, group_concat(name) from t1 where rollno > 1 group by rollno with rollup;

drop table t1;
