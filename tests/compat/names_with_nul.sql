-- Names of columns made of texts with the character NUL.

select 'a\0b' limit 0;

select concat('a\0b') limit 0;

select '\0abc', ' \0abc', '\0', '\n\0\n' limit 0;

select 'a\0' as 'b\0c' limit 0;

execute immediate concat('select concat(''a', char(0), ''') limit 0');

create table t1 as select 'a\0b';

show create table t1;

drop table t1;
