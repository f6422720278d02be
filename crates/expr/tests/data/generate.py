#!/usr/bin/env python3
"""Makes reference data: reads expressions over the table below from stdin, writes lines of the data format to stdout.

Needs pymysql and a MariaDB server: generate.py HOST PORT < expressions > data.txt
"""
import sys

import pymysql
from pymysql.converters import encoders

TYPES = {0: "decimal", 1: "tiny", 2: "short", 3: "long", 4: "float", 5: "double", 6: "null",
         7: "timestamp", 8: "longlong", 9: "int24", 10: "date", 11: "time", 12: "datetime",
         13: "year", 16: "bit", 246: "newdecimal", 249: "tinyblob", 250: "medblob",
         251: "longblob", 252: "blob", 253: "varstring", 254: "string"}
WIDTHS = {45: 4, 63: 1}

TABLE = """create or replace table t(i int, u int unsigned, b bigint, bu bigint unsigned, t tinyint,
d decimal(10,2), f float, db double, s varchar(20), c char(5) character set latin1, dt date,
tm time(3), dtm datetime, ts timestamp null, y year, bt bit(5), e enum('x','yy'), tx text,
bl blob, vb varbinary(10))"""
ROW = """insert into t values(1,2,3,4,5,6.78,1.5,2.5,'abc','de','2020-01-02','10:11:12.123',
'2020-01-02 03:04:05','2020-01-02 03:04:05',2020,b'101','yy','text','blob','vb')"""


def main():
    connection = pymysql.connect(host=sys.argv[1], port=int(sys.argv[2]), user="root",
                                 charset="utf8mb4", conv=encoders, autocommit=True)
    cursor = connection.cursor()
    for setting in ("names utf8mb4", "timestamp=1700000000.123456", "time_zone='+00:00'"):
        cursor.execute("set " + setting)
    for statement in ("create database if not exists expr_reference", "use expr_reference", TABLE, ROW):
        cursor.execute(statement)
    for line in sys.stdin:
        source = line.rstrip("\n")
        if not source:
            continue
        try:
            cursor.execute("select " + source + " from t")
            value = cursor.fetchall()[0][0]
        except pymysql.Error as error:
            print(f"{source} | error {error.args[0]} | ")
            continue
        field = cursor._result.fields[0]
        textual = field.type_code in (249, 250, 251, 252, 253, 254)
        length = field.length // WIDTHS.get(field.charsetnr, 1) if textual else field.length
        decimals = 0 if textual else field.scale
        nulls = "notnull" if field.flags & 1 else "null"
        if value is None:
            value = "NULL"
        elif isinstance(value, bytes):
            value = value.hex()
        else:
            value = value.replace("\n", "\\n")
        print(f"{source} | {TYPES[field.type_code]} {length} {decimals} {nulls} | {value}")


main()
