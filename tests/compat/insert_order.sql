-- The order in which values of INSERT are converted, and engines that cannot delay rows.

create table t(id int primary key auto_increment, a tinyint, b varchar(3), c decimal(4,1), d date);

insert into t(b,a) values('long text','abc');

insert into t(d,c,a) values('x',1000,'y');

insert into t(a,b) values('abc','long text');

insert into t(c,b,a,id) select 9999, 'xxxx', 999, 5;

insert into t set c=9999, b='xxxx', a=999;

insert ignore into t(d,c,b,a) values('x',99999,'long text','abc'),('y',1,'q',1);

set sql_mode='';

insert into t(d,c,b,a) values('x',99999,'long text','abc'),('y',1,'q',1);

insert into t(d,c,b,a) select 'x',99999,'long text','abc';

replace into t(a,id,b) values(1000,1,'abcd');

insert into t(b,a,id) values('abcd',2,1) on duplicate key update b='longer', a=1000;

select * from t;

set sql_mode=default;

insert delayed into t(a) values(1);

replace delayed into t(a) values(1);

create table m(a int) engine=myisam;

insert delayed into t(a) select 1;

