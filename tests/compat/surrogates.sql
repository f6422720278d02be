-- Halves of the pairs of UTF-16 are characters in the other Unicode character sets.

select hex(char(0xD800 using utf32)), hex(convert(char(0xD800 using utf32) using utf8mb4));

select hex(char(0xDFFF using utf32)), hex(char(0xD800 using utf16)), hex(char(0xD800 using ucs2));

select hex(convert(_ucs2 0xD800 using utf8mb4)), hex(convert(_ucs2 0xDFFF using utf32));

select hex(_utf8mb4 0xEDA080), char_length(_utf8mb4 0x61EDA08062), hex(convert(_utf8mb4 0xEDBFBF using ucs2));

select hex(convert(_utf8mb4 0xEDBFBF using utf16)), hex(convert(_utf8mb4 0xEDBFBF using latin1));

select hex(lower(char(0xD800 using utf32))), hex(weight_string(char(0xD800 using utf32) collate utf32_general_ci));

create table t1 (s varchar(10) character set utf8mb4, key (s));

insert into t1 values (0x61EDA080), (char(0xDBFF using utf32)), ('a'), ('b');

select hex(s) from t1 order by s;

select hex(s) from t1 where s = 0xEDA080;

insert into t1 values (0x61EDA0);

select hex(reverse(s)), hex(substring(s, 2)), hex(upper(s)) from t1 where s like 'a%' order by s;

drop table t1;

create table t1 (a varchar(10) character set utf8mb4 default 0xEDA080);

create table t2 (a varchar(10) character set utf8mb4) partition by list columns (a) (partition p values in (_utf8mb4 0xEDA080));
