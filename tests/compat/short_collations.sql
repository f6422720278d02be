-- Names of collations may leave out the character set.
set names utf8mb4;
select 'a' collate uca1400_as_cs='A', 'a' collate uca1400_ai_ci='Á', 'a' collate utf8mb4_uca1400_ai_ci='Á';
select convert('a' using utf8mb3) collate uca1400_ai_ci='Á', collation(convert('a' using ucs2) collate uca1400_ai_ci);
select collation(cast('a' as char collate uca1400_ai_ci)), collation(cast('a' as char character set utf8mb3 collate uca1400_as_ci));
select _latin1'a' collate uca1400_ai_ci;
select 'a' collate uca1400_xx;
select cast('a' as char character set latin1 collate uca1400_ai_ci);
select 1 collate uca1400_ai_ci;
select 'x' like 'X' collate uca1400_as_cs, 'a' in ('Á' collate uca1400_ai_ci);
create table t(a varchar(10));
insert into t values('a'),('Á'),('b');
select a from t order by a collate uca1400_as_cs desc;
select count(distinct a collate uca1400_as_ci) from t;
