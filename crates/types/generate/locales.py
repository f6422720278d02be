#!/usr/bin/env python3
"""Writes ../data/locales.txt: names of months and days, and number formats, of a MariaDB server.

Usage: locales.py [options of the mariadb client]

One line per locale, tab separated: number, name, months, short months, days from Monday, short days,
and the number 123456789012.5 as FORMAT() prints it. Lists are separated by `|`.
"""
import pathlib
import subprocess
import sys

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
LAST = 111


def names(directive, days):
    return "CONCAT_WS('|'," + ",".join(f"DATE_FORMAT('{d}','{directive}')" for d in days) + ")"


months = [f"2024-{m:02}-01" for m in range(1, 13)]
week = [f"2024-01-{d:02}" for d in range(1, 8)]
columns = [names("%M", months), names("%b", months), names("%W", week), names("%a", week)]
sql = "".join(
    f"SET lc_time_names={n}; SELECT {n}, @@lc_time_names, {','.join(columns)}, "
    "FORMAT(123456789012.5, 1, @@lc_time_names);"
    for n in range(LAST + 1)
)
command = ["mariadb", "--no-defaults", *sys.argv[1:], "-N", "--default-character-set=utf8mb4"]
run = subprocess.run(command, input=sql, capture_output=True, text=True, check=True)
# The client prints a NUL, which some locales have between thousands, as a backslash and a zero.
(DATA / "locales.txt").write_text(run.stdout.replace("\\0", "\0"), encoding="utf-8")
