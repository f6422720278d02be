-- Frames by value of decimals are exact.
create table n(d decimal(20,1), e decimal(40,20), i int);
insert into n values(0.1,1.00000000000000000001,1),(0.4,1.00000000000000000002,2),(0.7,1.00000000000000000003,4),(1.0,1.5,7),(1.3,-2,8),(-0.2,null,9),(-0.5,0,null),(null,7,10);
select d, count(*) over(order by d range between 0.3 preceding and 0.3 following) n from n;
select d, count(*) over(order by d desc range between 0.3 preceding and 0.3 following) n from n;
select d, sum(d) over(order by d range between 0.6 preceding and 0.3 preceding) n from n;
select d, sum(d) over(order by d range between 0.3 following and 0.6 following) n from n;
select i, count(*) over(order by i range between 1.0 preceding and 2.0 following) n from n;
select e, count(*) over(order by e range between unbounded preceding and 0.5 following) n from n;
select d, count(*) over(order by d range between 1 preceding and 1 following) n from (select 9007199254740992.5 d union select 9007199254740993.5 union select 9007199254740994.5 union select 9007199254740991.5) q;
select d, sum(d) over(order by d range between 1.0 preceding and 1.0 following) n from (select 9007199254740992.5 d union select 9007199254740993.5 union select 9007199254740994.5 union select 9007199254740991.5) q;
