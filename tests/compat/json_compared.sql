create table j(id int primary key, v json, vc varchar(20), key(vc));

insert into j values(1,'{"a":"b"}','b'),(2,'{"a":"c"}','c'),(3,'{"a":3}','3'),(4,'{"a":"\\u00e9"}','é'),(5,'{"a":null}','null'),(6,'{"a":[1, 2]}','[1,2]'),(7,'{"a":"B"}','B'),(8,'{"a":true}','true'),(9,'{"a":"x\\"y"}','x"y');

select id from j where json_extract(v,'$.a')=vc ORDER BY id;

select a.id,b.id from j a join j b on json_extract(a.v,'$.a')=json_extract(b.v,'$.a') order by 1,2;

select id from j where json_extract(v,'$.a') in (select vc from j) ORDER BY id;

select id from j where json_extract(v,'$.a') not in (select vc from j) ORDER BY id;

select id from j where json_extract(v,'$.a') in (select 'b' union select 'c') ORDER BY id;

select id from j where json_extract(v,'$.a') = any (select vc from j) ORDER BY id;

select id from j where json_extract(v,'$.a')=(select max(vc) from j where id=2) ORDER BY id;

select id from j where json_extract(v,'$.a') in ('b','c') ORDER BY id;

select id from j where json_extract(v,'$.a') in ('b') ORDER BY id;

select id from j where json_extract(v,'$.a') not in ('b') ORDER BY id;

select id from j where (json_extract(v,'$.a'),id) in (('b',1)) ORDER BY id;

select id from j where (json_extract(v,'$.a'),id) in (('b',1),('c',2)) ORDER BY id;

select id from j where json_extract(v,'$.a')='c' or json_extract(v,'$.a')='b' ORDER BY id;

select id from j where json_extract(v,'$.a')='b' and vc=json_extract(v,'$.a') ORDER BY id;

select id from j where json_extract(v,'$.a')='3' ORDER BY id;

select id from j where json_extract(v,'$.a')=3 ORDER BY id;

select id from j where json_extract(v,'$.a')='[1,2]' ORDER BY id;

select id from j where json_extract(v,'$.a')='[1, 2]' ORDER BY id;

select id from j where json_extract(v,'$.a')='null' ORDER BY id;

select id from j where json_extract(v,'$.a')='true' ORDER BY id;

select id from j where json_extract(v,'$.a')=true ORDER BY id;

select id from j where json_extract(v,'$.a')='x"y' ORDER BY id;

select id from j where json_extract(v,'$.a')='é' ORDER BY id;

select id from j where json_extract(v,'$.a')>'b' ORDER BY id;

select id from j where json_extract(v,'$.a') between 'b' and 'c' ORDER BY id;

select id from j order by json_extract(v,'$.a'),id;

select json_extract(v,'$.a') x,count(*) from j group by x having json_extract(v,'$.a')='b';

create view jv as select json_extract(v,'$.a') x from j;

select * from jv where x='b';

select * from jv where x='"b"';

select distinct x from jv where 'b'=x;

select x from jv union select 'b';

prepare s from 'select id from j where json_extract(v,\'$.a\')=?';

set @x='b';

execute s using @x;

set @x='"b"';

execute s using @x;

set @x=3;

execute s using @x;

prepare s from 'select id from j where ?=json_extract(v,\'$.a\')';

execute s using 'b';

alter table j add constraint ck check(json_extract(v,'$.a')<>'zz');

insert into j values(20,'{"a":"zz"}','b');

insert into j values(20,'{"a":"\\"zz\\""}','b');

alter table j add h varchar(10) as (json_extract(v,'$.a')), add key(h);

select id from j where h='b' ORDER BY id;

select id from j where h='"b"' ORDER BY id;

select id from j where json_extract(v,'$.a')='b' ORDER BY id;

update j set vc='upd' where json_extract(v,'$.a')='b';

delete from j where json_extract(v,'$.a')='c';

select id,vc from j order by id;

select if(json_extract('{"a":"b"}','$.a')='b',1,0), json_extract('{"a":"b"}','$.a')='b', ifnull(json_extract('{"a":"b"}','$.a'),1)='b';

select json_extract('{"a":"b"}','$.a','$.c')='["b"]', json_extract('{"a":"b"}','$.a','$.c')='b';

select cast(json_extract('{"a":"2.5x"}','$.a') as signed), cast(json_extract('{"a":"x"}','$.a') as signed), cast(json_extract('{"a":"2.5x"}','$.a') as decimal(5,2)), cast(json_extract('{"a":"2.5x"}','$.a') as double), json_extract('{"a":"2.5x"}','$.a')|0, json_extract('{"a":"2.5x"}','$.a')+0;

select decode_oracle(json_extract('{"a":"b"}','$.a'),'b',1,0), decode_oracle(json_extract('{"a":"b"}','$.a'),'"b"',1,0);

select sum(json_extract(v,'$.a')='b') over () from j limit 1;

select json_extract(v,'$.a') x from j where json_extract(v,'$.a')=convert('c' using latin1);

select json_extract(_latin1'{"a":"b"}','$.a')='b', json_extract('{"a":"b"}','$.a')='B', json_extract('{"a":"b"}','$.a')=binary 'b', json_extract('{"a":"b"}','$.a') <=> null, json_extract('{"a":"b"}','$.z') <=> null, json_extract('{"a":"b"','$.a')='b';

select json_extract('{"a":"2020-01-01"}','$.a')=date'2020-01-01', json_extract('{"a":"2020-01-01"}','$.a')='2020-01-01', json_extract('{"a":"10:00:00"}','$.a')=time'10:00:00';

alter table j add g varchar(10) as (if(json_extract(v,'$.a')='b','yes','no')), add key(g);
select id,g from j where g='yes' order by id;
select json_extract('{"a":"b"}','$.a') collate utf8mb4_bin='b', json_extract('{"a":"b"}','$.a') collate utf8mb4_bin=3;
select json_extract('{"a":"b"}','$.a') like 'b', strcmp(json_extract('{"a":"b"}','$.a'),'b'), greatest(json_extract('{"a":"b"}','$.a'),'b'), field('b',json_extract('{"a":"b"}','$.a'));
select nullif(json_extract('{"a":"b"}','$.a'),'b'), nullif(json_extract('{"a":"b"}','$.a'),'"b"'), nullif('b',json_extract('{"a":"b"}','$.a'));
select case json_extract('{"a":"b"}','$.a') when 'b' then 1 when '"b"' then 2 end;
select json_extract('{"a":"b"}','$.a')=json_extract('"b"','$'), json_value('{"a":"b"}','$.a')=json_extract('"b"','$');
select json_compact(json_extract('{"a":"b"}','$.a'))='b', json_quote('b')='b', json_unquote(json_extract('{"a":"b"}','$.a'))='b', json_query('{"a":["b"]}','$.a')='["b"]', json_object('a','b')='{"a": "b"}';
select json_extract('{"a":"b"}','$.a')=0.5, json_extract('{"a":"b"}','$.a')+0;
