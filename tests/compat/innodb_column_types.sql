# Main types of texts in INNODB_SYS_COLUMNS: those of latin1_swedish_ci have their own.
create table t (a char(5) collate latin1_swedish_ci, b varchar(5) collate latin1_swedish_ci, c char(5) collate latin1_bin, d varchar(5) collate latin1_german1_ci, e binary(5), f varbinary(5), g char(5) collate utf8mb4_bin, h varchar(5) collate utf8mb4_general_ci, i text, j enum('x'), k set('y'));
select c.name, c.mtype from information_schema.innodb_sys_columns c join information_schema.innodb_sys_tables t using (table_id) where t.name = concat(database(), '/t') order by c.pos;
drop table t;
