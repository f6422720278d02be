-- Functions write their own characters in the character set of their arguments.
select soundex('xyz'), soundex('Tymczak'), soundex('Pfister'), soundex('bab'), soundex('bahb'), soundex('abcabc'), soundex('a1b2c'), soundex('éab'), soundex('bébé'), soundex('ßx'), soundex(''), soundex('123'), soundex(null), soundex('x y z'), soundex(' ab'), soundex('b_b'), soundex('ÿb');
select soundex(_latin1 x'e96162'), hex(soundex(_utf16 x'00610062')), hex(soundex(_ucs2'é')), soundex(_gbk x'd65c61'), soundex(x'616200ff63');
select quote(_ucs2'a\'b'), hex(quote(_sjis x'955c')), hex(quote(_big5 x'b35c27')), quote(_utf16'\\'), hex(quote(_utf32'a')), quote(_utf16le'é'), hex(quote(x'005c271a')), quote(null);
select make_set(7,_utf16'a',_utf16'b',null,'c'), hex(make_set(3,_utf32'a',_utf32'b')), make_set(5,'a','b','é');
select find_in_set('b','a,b,'), find_in_set('','a,,b'), find_in_set('a,b','a,b'), find_in_set('','a,'), find_in_set('a ','a,b'), find_in_set('b','a,b,b'), find_in_set('','');
create table u(a varchar(20) character set utf16, b varchar(20) character set utf32);
insert into u values('a,b,C','c'),('','x'),('a,,b',''),('a','a'),('a,é','É'),('a,b','a,b');
select find_in_set('b',a), find_in_set('',a), find_in_set('é',a), find_in_set('b',b), find_in_set(b,a) from u;
create table n(a varchar(20), b varbinary(16));
insert into n values(null,null),('1.2.3.4',inet6_aton('::ffff:1.2.3.4')),('::1',inet6_aton('::1.2.3.4'));
select is_ipv4(a), is_ipv6(a), is_ipv4_compat(b), is_ipv4_mapped(b), is_ipv4(a) is null from n;
select count(*) from n where not is_ipv4(a);
create table sj(d varchar(5), i int);
insert into sj values('a',0),('',1),(null,null),('a',null),('',0);
select json_arrayagg(distinct d order by d), json_arrayagg(distinct d order by d desc), json_arrayagg(distinct i order by i), group_concat(distinct d order by d separator '|'), count(distinct d), count(distinct i) from sj;
