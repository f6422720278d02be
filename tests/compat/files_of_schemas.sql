-- A server file that is named without a directory is one of the current schema.

create database files_here;

use files_here;

create table t (a int);

insert into t values (1),(2);

select * into outfile 'o.txt' from t;

select * into outfile 'o.txt' from t;

load data infile 'o.txt' into table t;

load data infile 'files_here/o.txt' into table t;

select count(*) from t;

select 5 into dumpfile 'd.txt';

select load_file('d.txt'), load_file('files_here/d.txt');

use compat_files_of_schemas;

drop database files_here;
