-- LOAD XML: rows are elements, values are attributes and elements in them.
set sql_mode = '';
create table source (line text);
insert into source values
('<?xml version="1.0"?>'), ('<list a="1" c=''listc''>'), (' <row><b>2</b></row>'), (' <row><b>3</b><c>own</c></row>'),
(' <row a="5"/>'), (' <row b="6"/>'), (' <a>77</a>'), (' <row b="7"></row>'),
(' <row><a>8</a><a>9</a><b> x </b><c>  </c></row>'), (' <row><A>8</A><B>9</B></row>'),
(' <row><a>10</a><b><i>in</i>after</b></row>'), (' <row><a>11</a><b>before<i>in</i></b></row>'),
(' <row><field name="a">13</field><field name=''b''>f&amp;g &lt;&gt;&quot;&apos; &#65; &x y;</field></row>'),
(' <row a=15 b=un/quoted c=''it"s''/>'), (' <row><a>16</a><!-- <b>no</b> --><c>-->c</c></row>'),
(' <other><row><a>17</a></row></other>'), (' <ROW><a>18</a></ROW>'), (' <row><a>19</a><b/><c></c></row>'),
(' <row><a>20</a><b>'), (' multi'), (' line</b></row>'), (' <p:row><a>21</a></p:row>'),
(' <row><a>22</a><b>é</b></row><row><a>23</a></row>'), (' <row'), ('a=24 b="x'), ('y">'), (' </row>'),
(' <row><a>x27</a><b>0123456789012345678901</b></row>'), (' <row><a>28</a>');
select line from source into outfile '../compat_xml_1' fields escaped by '';
create table x (a int, b varchar(20), c varchar(10)) charset utf8mb4;
load xml infile '../compat_xml_1' into table x;
select * from x;
delete from x;
load xml infile '../compat_xml_1' into table x rows identified by '<row>' ignore 15 lines;
select * from x;
delete from x;
load xml infile '../compat_xml_1' into table x rows identified by '<row>' ignore 16 rows (a, @b) set b = concat('<', @b, '>'), c = rownum();
select * from x;
delete from x;
load xml infile '../compat_xml_1' into table x rows identified by '<ROW>';
load xml infile '../compat_xml_1' into table x rows identified by '<p:row>' (a);
load xml infile '../compat_xml_1' into table x rows identified by '<a>' (c);
load xml infile '../compat_xml_1' into table x rows identified by '';
load xml infile '../compat_xml_1' into table x rows identified by 'row';
select * from x;
delete from x;
create table n (a int not null, b varchar(20) not null default 'dd', d date, e int default 5, primary key (a));
load xml infile '../compat_xml_1' into table n;
load xml infile '../compat_xml_1' ignore into table n rows identified by '<row>';
select * from n;
load xml infile '../compat_xml_1' replace into table n rows identified by '<row>' ignore 12 rows;
select * from n;
create table au (a int auto_increment primary key, b varchar(20) not null);
load xml infile '../compat_xml_1' ignore into table au ignore 13 rows;
select * from au;
load xml infile '../compat_xml_1' into table nosuch;
create table upper (A int, b varchar(10));
load xml infile '../compat_xml_1' into table upper character set latin1 ignore 14 rows;
select *, hex(b) from upper;
set sql_mode = default;
delete from n;
load xml infile '../compat_xml_1' into table n ignore 2 rows;
select * from n;
prepare s from "load xml infile '../compat_xml_1' into table x";
