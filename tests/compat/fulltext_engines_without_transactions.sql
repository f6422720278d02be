# Words of rows in tables of MyISAM and Aria: changes, rollbacks, other engines and back.
create table t (id int primary key, a varchar(100), b text, fulltext fa (a), fulltext fab (a, b)) engine=myisam;
insert into t values (1, 'wood craft', 'garden'), (2, 'wood', 'river craft'), (3, null, ''), (4, 'stone', null);
select id, match(a) against('craft') from t where match(a) against('craft');
select id, match(a, b) against('craft river') from t where match(a, b) against('craft river');
# Changes are found at once, by the statement that follows, and stay after a rollback.
begin;
update t set a = 'stone bridge' where id = 1;
insert into t values (5, 'bridge', 'river'), (6, 'paper', 'stone');
select id from t where match(a) against('+bridge' in boolean mode);
rollback;
select id from t where match(a) against('+bridge' in boolean mode) order by id;
delete from t where match(a) against('paper');
replace into t values (2, 'paper', 'river paper');
insert into t values (4, 'x', 'x') on duplicate key update a = 'river stone', b = 'wood';
select id, match(a, b) against('river') r from t where match(a, b) against('river') order by r desc, id;
select id, match(a, b) against('+river -wood' in boolean mode) r from t order by id;
select id, match(a, b) against('riv* pap*' in boolean mode) r from t order by id;
select id from t where match(a, b) against('"river paper"' in boolean mode);
select id from t where match(a, b) against('+(river wood) +stone' in boolean mode) order by id;
# A row that gets another key keeps its words.
update t set id = id + 10 order by id desc;
select id from t where match(a, b) against('paper');
# The statement sees rows that a function has changed before.
create table log (id int primary key auto_increment, a text, fulltext (a)) engine=aria;
create function noted(word varchar(20)) returns int begin insert into log (a) values (word); return (select count(*) from log where match(a) against(word in boolean mode)); end;
select noted('copper');
select noted('copper'), noted('silver');
select id, a from log where match(a) against('copper') order by id;
# Engines that follow each other keep their own words.
alter table t engine=innodb;
select id, match(a, b) against('river') > 0 r from t where match(a, b) against('river') order by id;
check table t;
alter table t engine=aria;
select id, match(a, b) against('river') r from t where match(a, b) against('river') order by id;
check table t;
alter table t add c varchar(20) default 'marble', drop index fab, add fulltext fbc (b, c), order by id;
select id from t where match(b, c) against('+marble +wood' in boolean mode);
create table like_t like t;
insert into like_t select * from t;
select id from like_t where match(b, c) against('wood');
truncate table t;
select count(*) from t where match(b, c) against('+marble' in boolean mode);
insert into t (id, b) values (1, 'marble wood'), (2, 'sand');
select id from t where match(b, c) against('+marble' in boolean mode) order by id;
repair table t;
optimize table t;
check table t, like_t, log;
# Temporary tables, and tables in partitions.
create temporary table u (id int primary key, a text, fulltext (a)) engine=myisam;
insert into u values (1, 'marble'), (2, 'sand'), (3, 'gravel sand');
update u set a = 'marble sand' where id = 3;
select id from u where match(a) against('marble');
select id from u where match(a) against('+sand -marble' in boolean mode);
alter table u add b int;
select id from u where match(a) against('+sand' in boolean mode) order by id;
create table p (id int primary key, a text, fulltext (a)) engine=myisam partition by hash (id) partitions 3;
insert into p values (1, 'marble'), (2, 'sand'), (3, 'gravel sand'), (4, 'chalk');
select id from p where match(a) against('+sand' in boolean mode) order by id;
check table p;
drop table t, like_t, log, p;
drop function noted;
