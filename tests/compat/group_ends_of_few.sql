-- The ends of groups in an index whose groups have few entries, under locks, inside an OR and with
-- fewer rows wanted than there are groups; ranges of an OR beside other conditions.
create table shelf (row_letter char(1) character set latin1 not null, place int not null, weight int not null,
  unique key on_shelf (row_letter, weight), unique key by_place (row_letter, place, weight)) engine=innodb;
insert into shelf select char(ascii('p') + l.n), w.n, w.n
  from (select 0 n union select 1 union select 2 union select 3) l,
  (with recursive s as (select 1 n union all select n + 1 from s where n < 25) select n from s) w;
analyze table shelf;
explain select row_letter, max(weight) from shelf where (row_letter = 'q' or row_letter = 's') and weight = 7 group by row_letter;
select row_letter, max(weight) from shelf where (row_letter = 'q' or row_letter = 's') and weight = 7 group by row_letter;
explain select row_letter, min(weight) from shelf where (row_letter = 'q' and (weight = 30 or weight = 20)) or (row_letter = 'r' and weight = 30) group by row_letter;
select row_letter, min(weight) from shelf where (row_letter = 'q' and (weight = 30 or weight = 20)) or (row_letter = 'r' and weight = 30) group by row_letter;
explain select row_letter, max(weight) from shelf where (row_letter = 'q' and weight = 11) or row_letter = 's' group by row_letter;
select row_letter, max(weight) from shelf where (row_letter = 'q' and weight = 11) or row_letter = 's' group by row_letter;
explain select row_letter, place, min(weight) from shelf force index (by_place)
  where (row_letter = 'q' or row_letter = 's' and place < 30) and weight = 9 group by row_letter, place;
select row_letter, place, min(weight) from shelf force index (by_place)
  where (row_letter = 'q' or row_letter = 's' and place < 30) and weight = 9 group by row_letter, place;
-- An aggregate with DISTINCT does not read groups of the clustered key.
create table pair (l char(1) character set latin1, r char(1) character set latin1, primary key (l, r)) engine=innodb;
insert into pair values ('k','m'),('n','o');
explain select count(distinct l) from pair where r = 'm';
select count(distinct l) from pair where r = 'm';
create table twin (l char(1) character set latin1 not null, r char(1) character set latin1 not null, unique key both_sides (l, r)) engine=innodb;
insert into twin values ('k','m'),('n','o');
explain select count(distinct l) from twin where r = 'm';
select sum(distinct r = 'm') from twin;
-- Under locks.
create table ship (id int primary key, port int, berth int, tons int, key in_port (port, berth, tons)) engine=innodb;
insert into ship select n, n % 4, n % 6, n from (with recursive s as (select 1 n union all select n + 1 from s where n < 240) select n from s) w;
analyze table ship;
select port, min(berth), max(berth) from ship group by port for update;
select port, min(tons) from ship where berth = 2 group by port for update;
select port, min(tons), max(tons) from ship where berth = 3 and port in (1, 3) group by port lock in share mode;
select distinct port from ship where port > 0 for update;
select port, max(tons) from ship where berth = 5 and tons % 2 = 1 group by port for update;
-- Fewer rows than groups are wanted.
create table word (a varchar(5) character set latin1, b varchar(30) character set latin1, primary key (b, a), key first_of (a)) engine=innodb;
insert into word values ('aa','x'),('bb','x'),('aa','y'),('cc','z'),('cc','x'),('cc','y');
explain select a from word group by a order by count(distinct b) limit 6;
explain select a from word group by a order by count(distinct b) limit 7;
explain select a, count(distinct b) from word group by a order by a;
select a, count(distinct b) n from word group by a order by n, a;
select a from word group by a order by count(distinct b) desc, a limit 2;
-- Alternatives for later parts.
create table route (id int primary key, a int not null, b int, c int, key abc (a, b, c)) engine=innodb;
insert into route select n, n % 20, nullif(n % 15, 3), n % 7 from (with recursive s as (select 1 n union all select n + 1 from s where n < 900) select n from s) w;
explain select id, a, b from route where a = 4 and (b = 4 or b = 9);
select id, a, b from route where a = 4 and (b = 4 or b = 9) order by id limit 5;
explain select a, b from route where a = 18 and (b is null or b = 13);
select count(*), count(b) from route where a = 18 and (b is null or b = 13);
select count(*), sum(id) from route where (a = 1 and (b = 1 or b = 6 and c = 2)) or (a = 2 and (b in (2, 7) or b = 12) and (c = 1 or c = 3 or c = 1));
explain select a, b from route where a in (1, 2) and b in (11, 6, 7, 12) order by a;
select a, b, c from route where a in (2, 1) and b in (11, 6, 7, 12) order by a desc, b desc, c desc limit 8;
select a, b, c from route where a in (2, 1) and b in (11, 6, 7, 12) order by a, b, c limit 8;
select a, count(*), min(b), max(c) from route where (a = 2 or a = 1) and (b = 12 or b = 6 or b = 12) group by a;
select a, count(*) from route where a in (1, 2, 1) and b in (1, 1, 2, 2) group by a order by a desc;
-- A column with one value is none of the group's, DISTINCT above aggregates, ranges of the part whose ends are read.
create table berth (port int not null, pier int, depth int, mark varchar(8) character set latin1, key by_pier (port, pier, depth), key by_mark (mark, depth), unique key only_mark (mark)) engine=innodb;
insert into berth select n % 8, nullif(n % 5, 4), n % 37, if(n > 250, null, concat('m', n)) from (with recursive s as (select 1 n union all select n + 1 from s where n < 800) select n from s) w;
analyze table berth;
select port, pier, max(depth) from berth where pier = 2 group by port;
select port, pier, min(depth), max(depth) from berth where pier is null group by port;
select distinct port, max(depth) from berth where port >= 4 group by port, port;
explain select distinct port, max(depth) from berth where port >= 0 group by port, port;
select pier, max(depth) from berth where port = 3 and pier = 1 group by port;
select port, mark, count(distinct pier) from berth where mark = 'm7' group by port;
select port, max(depth) from berth where pier = 3 and depth > 30 group by port;
select port, min(depth), max(depth) from berth where pier = 3 and (depth < 5 or depth > 33) group by port;
explain select mark from berth force index (only_mark) group by mark;
select count(*) from (select mark from berth group by mark) d;
select a.port, m from (select port, max(depth) m from berth where pier = 0 group by port) a order by m, a.port;
