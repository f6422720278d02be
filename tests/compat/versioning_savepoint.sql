-- A transaction whose first changes stay is registered, whatever was undone after them.
create table t (id int primary key, s bigint unsigned as row start invisible, e bigint unsigned as row end invisible, period for system_time(s, e)) with system versioning;
begin;
insert into t values (1);
savepoint a;
insert into t values (2);
rollback to a;
commit;
select id, s in (select transaction_id from mysql.transaction_registry) from t;
xa start 'x';
insert into t values (3);
xa end 'x';
xa prepare 'x';
xa commit 'x';
select id, s in (select transaction_id from mysql.transaction_registry) from t where id = 3;
