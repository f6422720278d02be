#!/usr/bin/env python3
"""Compares character sets and collations of two servers: every code point, every code.

usage: charsets_beside_mariadb.py PORT REFERENCE_PORT [NAME ...]     NAMEs: charsets or collations

For each character set: the conversion of every code point to it, and of every byte or pair of bytes of it to Unicode,
upper case and lower case. For each collation: the weights of every code point.
Both servers run the same queries; differences are counted and the first ones printed. Both need the
client `mariadb`, an account root without a password, and tables of the SEQUENCE engine.
"""
import subprocess
import sys

WIDE = {"utf8mb4", "utf16", "utf16le", "utf32"}
SHOWN = 5


def ask(port, sql):
    command = ["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{port}", "-uroot", "-N", "-f",
               "--default-character-set=utf8mb4", "mysql"]
    run = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
    return run.stdout.splitlines() + run.stderr.splitlines()


def compare(what, sql):
    mine, reference = (ask(port, sql) for port in sys.argv[1:3])
    different = [(a, b) for a, b in zip(mine, reference) if a != b]
    count = len(different) + abs(len(mine) - len(reference))
    print(f"{'same' if not count else 'DIFFERENT':10} {what}: {len(reference)} rows, {count} differ")
    for a, b in different[:SHOWN]:
        print(f"    {a!r} instead of {b!r}")
    return count


def rows(port, sql):
    return [line.split("\t") for line in ask(port, sql)]


def charset(name):
    last = 0x10FFFF if name in WIDE else 0xFFFF
    char = f"CONVERT(CHAR(seq USING utf32) USING {name})"
    count = compare(f"{name} from Unicode", f"SELECT seq, HEX({char}) FROM seq_0_to_{last}")
    bytes_ = f"CONVERT(UNHEX(LPAD(HEX(seq), IF(seq < 256, 2, 4), '0')) USING {name})"
    return count + compare(
        f"{name} to Unicode and its cases",
        f"SELECT seq, HEX({bytes_}), HEX(CONVERT({bytes_} USING utf32)), HEX(UPPER({bytes_})), "
        f"HEX(LOWER({bytes_})) FROM seq_0_to_65535")


def collation(name, charset_name):
    last = 0x10FFFF if charset_name in WIDE else 0xFFFF
    char = f"CONVERT(CHAR(seq USING utf32) USING {charset_name}) COLLATE {name}"
    return compare(f"weights of {name}",
                   f"SELECT seq, HEX(WEIGHT_STRING({char})) FROM seq_1_to_{last}")


def main():
    wanted = set(sys.argv[3:])
    charsets = [r[0] for r in rows(sys.argv[2], "SHOW CHARACTER SET") if r[0] != "binary"]
    collations = rows(
        sys.argv[2],
        "SELECT FULL_COLLATION_NAME, CHARACTER_SET_NAME FROM "
        "information_schema.COLLATION_CHARACTER_SET_APPLICABILITY WHERE CHARACTER_SET_NAME <> 'binary'")
    different = 0
    for name in charsets:
        if not wanted or name in wanted:
            different += charset(name)
    for name, charset_name in collations:
        if not wanted or name in wanted or charset_name in wanted:
            different += collation(name, charset_name)
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
