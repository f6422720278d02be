# LIKE tells characters beyond the BMP apart where the order does not.
create table t(id int primary key, v varchar(20) character set utf8mb4 collate utf8mb4_unicode_ci);
insert into t values (1,'a😀b'),(2,'a😁b'),(3,'ab'),(4,'😀'),(5,'😁'),(6,'𝄞'),(7,'é😀'),(8,'E😀');
select id from t where v like '%😀%';
select id from t where v like 'a😁b';
select id from t where v like '_😀_';
select id from t where v like '😀';
select id from t where v='😀';
select id from t where v like 'e😀';
select id from t where v like '%😀' collate utf8mb4_czech_ci;
select id from t where v like '%😀' collate utf8mb4_unicode_520_ci;
select id from t where v like '%😀' collate utf8mb4_general_ci;
select id from t where v like '%😀' collate utf8mb4_swedish_ci;
select id from t where v like '%😀' collate utf8mb4_unicode_nopad_ci;
select group_concat(id order by id) from t group by v order by 1;
alter table t add key(v);
select id from t where v like '😀%';
select id from t where v like 'a😀%';
