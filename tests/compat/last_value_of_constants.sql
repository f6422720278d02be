-- LAST_VALUE of arguments that are constant but not literals, over more rows than one.

create table t(a int);

insert into t values(1),(2),(3);

set @a='x';

select length(last_value('a',repeat('xy',8000000))) from t;

select last_value('a',repeat('xy',8000000)) is null from t;

select last_value(@a,@a), last_value(1,@a), last_value(a,@a), last_value(@a,a), concat(last_value(@a),a) from t;

