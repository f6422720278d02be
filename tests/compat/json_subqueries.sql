-- A query of one value without tables and conditions is that value: a JSON document for one, whatever its
-- other clauses are. A document stays one in derived tables and unions, and is a text in MAX and others.
create table t(a int, j json, s varchar(20));

insert into t values(1,'"b"','b'),(2,'"c"','b');

create table e(a int);

select (select json_extract('"b"','$'))='b';

select (select json_extract('"b"','$') limit 1)='b';

select (select (select json_extract('"b"','$')))='b';

select (select json_extract('"b"','$') from dual)='b';

select (select json_extract('"b"','$') where 1)='b';

select (select json_extract('"b"','$') from t limit 1)='b';

select (select json_extract(max(j),'$') from t)='b';

select (select json_extract('"b"','$') having 1)='b';

select (select json_extract('"b"','$') order by 1)='b';

select (select json_extract('"b"','$') union select json_extract('"b"','$'))='b';

select (select distinct json_extract('"b"','$'))='b';

select (select json_extract('"b"','$') group by 1)='b';

select (select json_extract('"b"','$') limit 0)='b';

select (select json_extract('"b"','$') limit 2)='b';

select (select json_extract('"b"','$') limit 1 offset 0)='b';

select a from t where (select json_extract(t.j,'$'))='b';

select a from t where (select json_extract(t.j,'$'))=s;

select a from t where json_extract(t.j,'$')=s;

select (select json_extract('"b"','$') where (select 1))='b';

select (values (json_extract('"b"','$')))='b';

select (select json_array(1,2)) = '[1,2]', json_array(1,2)='[1,2]', json_array(1,2)='[1, 2]';

select json_object('a',(select json_array(1,2))), json_object('a',(select json_array(1,2) from t limit 1)), json_object('a',(select json_array(1,2) limit 1));

select json_array((select json_extract('{"a":1}','$'))), json_array((select j from t limit 1)), json_array((select json_extract(j,'$') from t limit 1));

select a from t where s in ((select json_extract(t.j,'$')));

select a from t where s = any (select json_extract(t.j,'$'));

select (select json_extract('"b"','$')) in ('b'), (select json_extract('"b"','$')) in ('b','c');

select case (select json_extract('"b"','$')) when 'b' then 1 else 0 end, nullif((select json_extract('"b"','$')),'b');

select (select json_extract('"b"','$')) <=> 'b', (select json_extract('"b"','$')) <> 'b', (select json_extract('"b"','$')) > 'a';

select 'b'=(select json_extract('"b"','$'));

select (select count(*))+0, (select json_extract(count(*),'$'))='1';

select count(*), (select json_extract(max(t.j),'$'))='c' from t;

select a, (select json_extract(t.j,'$'))='b' from t group by a having (select json_extract(t.j,'$'))='b';

select (select json_unquote(json_extract('"b"','$')))='b';

select (select json_extract('"b"','$') limit 1 for update)='b';

select (with x as (select 1) select json_extract('"b"','$'))='b';

select (select json_extract('"b"','$')) between 'a' and 'c';

select a from t order by (select json_extract(j,'$'))='c';

select coalesce((select json_extract('"b"','$')),'x')='b', if(1,(select json_extract('"b"','$')),'x')='b';

select (select json_extract('"b"','$') from e)='b', exists(select json_extract('"b"','$'));

select ((select json_extract('"b"','$')),1)=('b',1), (select json_extract('"b"','$'),1)=('b',1);

select json_array((select json_extract(j,'$') from t limit 1)), json_array((select max(json_extract(j,'$')) from t)), json_array((select json_extract('"b"','$') union select '"b"')), json_array((select json_extract('"b"','$') union select json_extract('"b"','$')));

select json_array((select json_extract(max(j),'$') from t)), json_array((select json_arrayagg(a) from t)), json_array((select json_array(1) where 1)), json_array((select j from t order by 1 limit 1));

select json_array((select x from (select json_extract(j,'$') x from t limit 1) d)), json_array((select x from (select json_extract(j,'$') x from t) d limit 1)), json_array((select if(1,json_array(1),json_array(2)) from t limit 1));

select json_object('k',(select json_array(a) from t limit 1)), json_arrayagg((select json_array(a) from t limit 1)), json_arrayagg((select json_array(1)));

select 1 in ((select a from t));

select 'b' in (select json_extract('"b"','$')), 'b' = any (select json_extract('"b"','$')), 'b' <> all (select json_extract('"b"','$')), 'b' not in (select json_extract('"b"','$')), 'a' < any (select json_extract('"b"','$'));

select 'b' in (select json_extract('"b"','$') where 1), 'b' in (select json_extract('"b"','$') having 1), 'b' in (select json_extract('"b"','$') from t), 'b' in (select json_extract('"b"','$') limit 1);

select 'b' in (select json_extract('"b"','$') order by 1), 'b' in (select distinct json_extract('"b"','$')), 'b' in (select json_extract('"b"','$') group by 1), 'b' in (select json_extract('"b"','$') union select 1);

select ('b',1) in (select json_extract('"b"','$'),1), null in (select json_extract('"b"','$')), 'b' in (select null), null not in (select 1), null = any (select null);

select json_extract('"b"','$') in (select 'b'), json_extract('"b"','$') in (select s from t), json_extract('"b"','$') = any (select 'b');

select 'b' in (select json_extract(t.j,'$')), a in (select count(*)) from t;

select 'b' in (select json_extract('"b"','$') where 0), 'b' not in (select json_extract('"b"','$') where 0);

select x='b' from (select json_extract(j,'$') x from t limit 1) d;

select x='b' from (select json_extract(j,'$') x from t) d;

select json_array(max(x)), json_array(min(j)) from (select json_extract(j,'$') x, j from t limit 1) d;

select json_array(group_concat(x)), json_array(concat(x)), json_array(if(1,x,x)), json_array(ifnull(x,x)), json_array(nullif(x,'a')), json_array(case when 1 then x end), json_array(case when 1 then x else 'a' end), json_array(lower(x)) from (select json_extract(j,'$') x, j from t limit 1) d;
