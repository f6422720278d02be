-- The rows of a LEFT JOIN come in the order of its left table if both tables have few rows.

create table small(a int primary key);

insert into small values(1),(2),(3),(4),(5),(6),(7),(8),(9);

create table t(id int primary key, b int);

insert into t values(1,4),(2,1),(3,3),(4,1),(5,20),(6,2),(7,1),(8,4);

select id, b, a from t left join small on a=b;

select id, b, a from t left join small on a=b and a>1;

select id, b, (select count(*) from t x where x.b=a) n from t left join small on a=b;

select id from t where not exists (select 1 from small where a=b);

prepare p from 'select id, b, a from t left join small on a=b and a<>?';

execute p using 3;
