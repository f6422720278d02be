-- Whether columns may be NULL after MODIFY and DROP PRIMARY KEY, in either order.

 create table t(a int, b int, primary key(a));

alter table t modify a int, drop primary key;

show create table t;

create or replace table t(a int, b int, primary key(a));

alter table t drop primary key, modify a int;

show create table t;

create or replace table t(a int, b int, primary key(a));

alter table t drop primary key, modify a int null;

show create table t;

create or replace table t(a int, b int, primary key(a));

alter table t drop primary key;

show create table t;

alter table t modify a int;

show create table t;

create or replace table t(a int, b int, primary key(a));

alter table t drop primary key, change a c int;

show create table t;

create or replace table t(a int, b int, primary key(a));

alter table t drop primary key, add primary key(b);

show create table t;

create or replace table t(a int, b int, primary key(a));

alter table t drop primary key, add primary key(b), modify a int;

show create table t;

create or replace table t(a int, b int, primary key(a));

alter table t drop primary key, add primary key(b), modify a int not null default 7;

show create table t;

create or replace table t(a int, b int, primary key(a));

alter table t modify a int;

show create table t;

alter table t modify a int null;

show create table t;

create or replace table t(a int, b int, primary key(a,b));

alter table t modify a bigint, drop primary key, add key(a);

show create table t;

create or replace table t(a int, b int, primary key(a));


show create table t;

alter table t drop column a;

show create table t;

create or replace table t(a int, b int, primary key(a,b));

alter table t drop column a;

show create table t;

create or replace table t(a int auto_increment, b int, primary key(a));

alter table t modify a int, drop primary key;

show create table t;

create or replace table t(a int auto_increment primary key, b int);

alter table t drop primary key, add unique(a);

show create table t;

alter table t drop key a;

alter table t modify a int, drop key a;

show create table t;

create or replace table t(a int auto_increment primary key, b int);

alter table t modify a int auto_increment, drop primary key, add key(a);

show create table t;

create or replace table t(a int default 5 primary key, b int);

show create table t;

alter table t drop primary key;

show create table t;

alter table t modify a int;

show create table t;

create or replace table t(a timestamp primary key, b int);

show create table t;

alter table t drop primary key,modify a timestamp;

show create table t;

