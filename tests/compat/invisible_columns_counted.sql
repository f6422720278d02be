-- Feature_invisible_columns counts definitions that are made, and read for the first time.

flush status;

create table t(a int, b int invisible, c int invisible);

show status like 'Feature_invisible_columns';

select * from t;

show status like 'Feature_invisible_columns';

select a, b from t;

desc t;

show create table t;

show status like 'Feature_invisible_columns';

create table u like t;

show status like 'Feature_invisible_columns';

desc u;

show status like 'Feature_invisible_columns';

create table v as select a, b from t;

show status like 'Feature_invisible_columns';

alter table t add d int invisible;

show status like 'Feature_invisible_columns';

alter table t add e int;

show status like 'Feature_invisible_columns';

alter table t modify b int;

alter table t drop c;

show status like 'Feature_invisible_columns';

create or replace table t(a int, b int invisible not null);

create index i on t(a);

show status like 'Feature_invisible_columns';

alter table t modify a int invisible;

show status like 'Feature_invisible_columns';

truncate t;

show status like 'Feature_invisible_columns';

insert into t() values();

show status like 'Feature_invisible_columns';

create table if not exists t(a int, b int invisible);

create table n(a int invisible);

show status like 'Feature_invisible_columns';

-- Columns of system versioning are of another kind.

create table w(a int) with system versioning;

select * from w;

show status like 'Feature_invisible_columns';

set system_versioning_alter_history = keep;

flush status;

alter table w add b int;

show status like 'Feature_system_versioning';

desc w;

show status like 'Feature_system_versioning';

-- Views: the numbers of a counter are not theirs.

create table g(a int auto_increment primary key, b int not null, c bigint unsigned not null default 7);

create view y as select a, b, c from g;

desc y;

create view z as select a + 0, b, a as k from g;

desc z;
