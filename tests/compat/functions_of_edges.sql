# LOCATE counts bytes where the text or the start is at an edge.
set names utf8mb4;
select locate('', 'äöü', 1), locate('', 'äöü', 2), locate('', 'äöü', 3), locate('', 'äöü', 4), locate('', 'äöü', 5), locate('', 'äöü', 7);
select locate('ü', 'äöü', 2), locate('ü', 'äöü', 3), locate('ü', 'äöü', 4), locate('ü', 'äöü', 7);
select locate('', '', 1), locate('', '', 2), locate('', 'a', 2), locate('', 'abc', 3), locate('', 'abc', 4), locate('c', 'abc', 3), locate('c', 'abc', 4);
select locate('', '', null), instr('', ''), position('' in 'abc'), locate('', 'abc'), locate('', '');
# DIV of an unsigned number is unsigned, also as doubles.
select 7 div 2e0, cast(7 as unsigned) div 2e0, 7 div '2', -7 div 2e0;
create table t (a double unsigned, b float unsigned, c decimal(5,2) unsigned, d year, e bit(8), f float);
insert into t values (7.5, 7.5, 7.5, 2001, 7, -0.001);
select a div -2 from t;
select b div -2 from t;
select c div -2 from t;
select d div -2 from t;
select e div f from t;
select a div 2, b div 2e0, c div 2e0, d div 2e0, f div 2 from t;
# CONV of a bit value: the base does not matter, but must be one.
select conv(b'1111', 1, 2), conv(b'1111', 40, 2), conv(b'1111', 10, 1), conv(b'1111', 10, 2);
select conv(e, 10, 40), conv(e, 0, 10), conv(e, 37, 10), conv(e, -36, 10), conv(e, 2, 10), conv(e, null, 10), bin(e), oct(e) from t;
drop table t;
