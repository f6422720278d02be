-- GREATEST and LEAST compare texts as numbers where a number is expected.
select least('10','9') a, greatest('2020','a') b;
select least('10','9')+0 a, least('10','9')*1.5 b, abs(least('10','9')) c, sum(least('10','9')) d;
select least('10','9')=9 a, least('10','9')=10 b, least('10','9')='9' c, least('10','9') in (9) d;
select greatest('2020','3')+0 a, cast(least('10','9') as signed) b, least('10','9') between 9 and 9 c;
create table t (a varchar(10), b varchar(10));
insert into t values ('10','9'), ('2020','30'), (null,'1');
select least(a,b) l, least(a,b)+0 n, greatest(a,b) g, greatest(a,b)+0 m from t;
