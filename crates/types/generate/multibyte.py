#!/usr/bin/env python3
"""Writes ../data/multibyte.bin: the East Asian character sets, observed on a running MariaDB server.

Usage: multibyte.py [options of the mariadb client]

A character of two bytes has the code `first << 8 | second`. A character of three bytes (the first is 0x8F) has the code
of its last two, with the high bit of the last one cleared. Each character set is a section of sections: the rows,
Unicode of the cells, exceptions for conversion from Unicode (where it does not give the first code), upper
case, lower case, 256 weights of single bytes, weights of the cells if they differ from the codes.
../src/charset/multibyte.rs reads this layout.
"""
import struct

from server import query, section, words, write

# Name, first bytes, first and last second byte, collation.
CHARSETS = [
    ("big5", 0xA1, 0xF9, 0x40, 0xFE, "big5_chinese_ci"),
    ("cp932", 0x81, 0xFC, 0x40, 0xFC, "cp932_japanese_ci"),
    ("eucjpms", 0xA1, 0xFE, 0xA1, 0xFE, "eucjpms_japanese_ci"),
    ("euckr", 0x81, 0xFE, 0x41, 0xFE, "euckr_korean_ci"),
    ("gb2312", 0xA1, 0xF7, 0xA1, 0xFE, "gb2312_chinese_ci"),
    ("gbk", 0x81, 0xFE, 0x40, 0xFE, "gbk_chinese_ci"),
    ("sjis", 0x81, 0xFC, 0x40, 0xFC, "sjis_japanese_ci"),
    ("ujis", 0xA1, 0xFE, 0xA1, 0xFE, "ujis_japanese_ci"),
]
SINGLE, THREE = 0, 256


def observe(name, collation, source):
    """Returns {code: hex of bytes, Unicode, upper, lower, weight} of the well-formed characters of a query."""
    char = f"CONVERT(b USING {name})"
    rows = query(
        f"SELECT n, HEX(b), HEX({char}), HEX(CONVERT({char} USING ucs2)), HEX(UPPER({char} COLLATE {collation})),"
        f" HEX(LOWER({char} COLLATE {collation})), HEX(WEIGHT_STRING({char} COLLATE {collation})) "
        f"FROM ({source}) t WHERE CHAR_LENGTH({char}) = 1"
    )
    return {int(n): (h, *rest) for n, h, back, *rest in rows if h == back}


def code_of(hexes, three_rows):
    """Returns the code of a character given in hexadecimal."""
    data = bytes.fromhex(hexes)
    if len(data) == 3:
        return data[1] << 8 | data[2] & 0x7F
    return data[0] << 8 | data[1] if len(data) == 2 else data[0]


def charset(name, first, last, low, high, collation):
    three = name in ("ujis", "eucjpms")
    singles = observe(name, collation, "SELECT seq n, UNHEX(LPAD(HEX(seq),2,'0')) b FROM mysql.seq_0_to_255")
    pairs = "SELECT seq n, UNHEX(HEX(seq)) b FROM mysql.seq_32768_to_65535"
    doubles = observe(name, collation, pairs)
    triples = {}
    if three:
        triples = observe(name, collation, "SELECT seq n, UNHEX(CONCAT('8F',HEX(seq))) b FROM mysql.seq_41120_to_65535")
    chars = dict(singles)
    chars.update(doubles)
    chars.update({code & 0xFF7F: row for code, row in triples.items()})
    assert len(chars) == len(singles) + len(doubles) + len(triples), name

    unicode = {}
    for code, row in chars.items():
        value = int(row[1], 16) if len(row[1]) == 4 else 0
        if value == 0x3F and code != 0x3F:
            value = 0
        unicode[code] = value
    back = {int(n): code_of(h, three) for n, h in query(
        f"SELECT seq, HEX(CONVERT(CHAR(seq USING ucs2) USING {name})) FROM mysql.seq_0_to_65535")
        if h not in ("NULL", "") and (h != "3F" or int(n) == 0x3F)}
    default = {}
    for code in sorted(unicode):
        if unicode[code] or code == 0:
            default.setdefault(unicode[code], code)
    odd = []
    for value in sorted(set(default) | set(back)):
        if default.get(value) != back.get(value):
            odd += [value, back.get(value, 0xFFFF)]

    # Rows of cells: by first byte, then those of characters of three bytes.
    rows, cells, weights = [0xFFFF] * 512, [], []
    raw = True
    for lead in list(range(0x80, 0x100)) + ([256 + b for b in range(0xA0, 0x100)] if three else []):
        trails = range(low, high + 1)
        codes = [(lead & 0xFF) << 8 | (t & 0x7F if lead >= 256 else t) for t in trails]
        if not any(c in unicode for c in codes):
            continue
        rows[lead] = len(cells) // len(trails)
        cells += [unicode.get(c, 0) for c in codes]
        for c in codes:
            w = int(chars[c][4], 16) if c in chars else c
            if c in triples or lead >= 256:
                w = c if c not in chars or chars[c][4] == chars[c][0] else None
            raw &= w == c
            weights.append(w)
    if name in ("ujis", "eucjpms"):
        # Half-width kana are characters of two bytes outside the rows.
        assert all(chars[c][4] == "%04X" % c for c in doubles if c >> 8 == 0x8E)
    up = [x for c, r in sorted(chars.items()) if code_of(r[2], three) != c for x in (c, code_of(r[2], three))]
    lower = [x for c, r in sorted(chars.items()) if code_of(r[3], three) != c for x in (c, code_of(r[3], three))]
    single_weights = bytes(int(singles[c][4], 16) if c in singles else c for c in range(256))
    single_unicode = [unicode.get(c, 0) for c in range(256)]
    print(f"{name}: {len(chars)} characters, {len(cells)} cells, {len(odd) // 2} odd back, raw weights {raw}, "
          f"case {len(up) // 2}/{len(lower) // 2}; bad singles {ranges([c for c in range(256) if c not in singles])}")
    leads = sorted({c >> 8 for c in doubles})
    trails = sorted({c & 0xFF for c in doubles if c >> 8 != 0x8E or not three})
    print("   leads", ranges(leads), "trails", ranges(trails), "8E", ranges(sorted({c & 255 for c in doubles if c >> 8 == 0x8E})),
          "8F", ranges(sorted({c >> 8 for c in triples})), ranges(sorted({c & 255 for c in triples})))
    return b"".join([
        section(words(rows)), section(words(single_unicode)), section(words(cells)), section(words(odd)),
        section(words(up)), section(words(lower)), section(single_weights),
        section(b"" if raw else words([w or 0 for w in weights])),
    ])


def ranges(values):
    out, start = [], None
    for i, v in enumerate(values):
        if start is None:
            start = v
        if i + 1 == len(values) or values[i + 1] != v + 1:
            out.append(f"{start:02X}-{v:02X}")
            start = None
    return " ".join(out)


if __name__ == "__main__":
    write("multibyte.bin", b"".join(section(charset(*c)) for c in CHARSETS))
