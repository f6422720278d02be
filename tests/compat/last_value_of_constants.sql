-- LAST_VALUE of arguments that are constant but not literals, over more rows than one.

create table t(a int);

insert into t values(1),(2),(3);

set @a='x';

select last_value(convert('aé' using sjis),'x') from t;

select length(last_value(convert('aé' using sjis),'xyz')) from t group by 1;

select last_value(@a,@a), last_value(1,@a), last_value(a,@a), last_value(@a,a), concat(last_value(@a),a) from t;

