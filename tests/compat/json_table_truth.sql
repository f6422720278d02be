# A truth value of a document is a word in a text column of JSON_TABLE, a number in others.
select j.a, j.b from json_table('{"x":true,"y":false,"z":null,"n":12.5}', '$' columns(a varchar(10) path '$.x', b varchar(4) path '$.x')) j;
select * from json_table('[true,false,null,1,1.5,[1]]', '$[*]' columns(a varchar(10) path '$', b int path '$', c json path '$', d double path '$', e text path '$', f decimal(5,2) path '$')) j;
select * from json_table('[true,false]', '$[*]' columns(a varbinary(5) path '$', e tinyint unsigned path '$', o for ordinality, x int exists path '$', y varchar(3) exists path '$')) j;
select a, a='true', a+0 from json_table('[true,false]', '$[*]' columns(a varchar(9) path '$')) j;
select a from json_table('[{"b":true},{}]', '$[*]' columns(a varchar(9) path '$.b' default 'no' on empty)) j;
create table jt as select * from json_table('[true,false]', '$[*]' columns(a varchar(9) path '$')) j;
select * from jt;
drop table jt;
