#!/usr/bin/env python3
"""Writes ../data/*.bin: character tables observed on a running MariaDB server.

Usage: tables.py [--8bit] [options of the mariadb client]   e.g. tables.py -h127.0.0.1 -P3306 -uroot
`--8bit` writes only the tables of single-byte character sets.

All data comes from SQL, one statement per table; nothing is computed from other sources.
../src/charset/tables.rs reads the layouts and describes them.
"""
import struct
import sys

from server import query, write

CHARSETS_8 = (
    "dec8 cp850 hp8 koi8r latin1 latin2 swe7 ascii hebrew koi8u greek cp1250 latin5 armscii8 cp866 "
    "keybcs2 macce macroman cp852 latin7 cp1251 cp1256 cp1257 geostd8 tis620"
).split()
# The position is the number in `Rule::Table`.
TABLES_8 = (
    "dec8_swedish_ci cp850_general_ci latin1_german1_ci hp8_english_ci koi8r_general_ci "
    "latin1_swedish_ci latin2_general_ci swe7_swedish_ci ascii_general_ci cp1251_bulgarian_ci "
    "latin1_danish_ci hebrew_general_ci latin7_estonian_cs latin2_hungarian_ci koi8u_general_ci "
    "cp1251_ukrainian_ci greek_general_ci cp1250_general_ci latin2_croatian_ci cp1257_lithuanian_ci "
    "latin5_turkish_ci armscii8_general_ci cp866_general_ci keybcs2_general_ci macce_general_ci "
    "macroman_general_ci cp852_general_ci latin7_general_ci latin7_general_cs cp1250_croatian_ci "
    "latin1_general_ci latin1_general_cs cp1251_general_ci cp1251_general_cs cp1256_general_ci "
    "cp1257_general_ci geostd8_general_ci latin1_spanish_ci cp1250_polish_ci"
).split()
SAME, IMPLICIT, REPLACEMENT = 0xFFFF, 0xFFFE, 0xFFFD


def codes(last, expression, charset="utf8mb4"):
    """Returns {code point: hex of an SQL expression over the character `$c`}, without surrogates."""
    char = f"CONVERT(CHAR(seq USING utf32) USING {charset})"
    rows = query(f"SELECT seq, HEX({expression.replace('$c', char)}) FROM mysql.seq_0_to_{last}")
    surrogate = range(0xD800, 0xE000)
    return {int(n): h for n, h in rows if h != "NULL" and int(n) not in surrogate}


def paged(values, pages, regular):
    """Returns a page index (u16 each), then pages of 256 u16; `regular` gives the mark of a page that is left out."""
    index, body = [], []
    for page in range(pages):
        cells = [values.get(page * 256 + i) for i in range(256)]
        mark = regular(page, cells)
        index.append(mark if mark is not None else len(body))
        if mark is None:
            body.append(struct.pack("<256H", *[c or 0 for c in cells]))
    return struct.pack(f"<{pages}H", *index) + b"".join(body)


def general(name, collation):
    observed = codes(0xFFFF, f"WEIGHT_STRING($c COLLATE {collation})", collation.split("_")[0])
    weights = {n: int(h, 16) for n, h in observed.items()}

    def regular(page, cells):
        same = all(c in (None, page * 256 + i) for i, c in enumerate(cells))
        return SAME if same else None

    write(name, paged(weights, 256, regular))


def case(name, function, collation, last):
    expression = f"CONVERT({function}($c COLLATE {collation}) USING utf32)"
    deltas = {n: int(h, 16) - n & 0xFFFF for n, h in codes(last, expression).items()}
    unchanged = lambda page, cells: None if any(cells) else SAME
    write(name, paged(deltas, (last + 1) // 256, unchanged))


def implicit(code, hexes):
    if len(hexes) != 8:
        return False
    first, second = int(hexes[:4], 16), int(hexes[4:], 16)
    return first & 0xFFC0 in (0xFB40, 0xFB80, 0xFBC0) and second == code & 0x7FFF | 0x8000


def uca(name, collation, last):
    """Writes a page index, pages of sequence numbers, then offsets of the sequences and their weights."""
    observed = codes(last, f"WEIGHT_STRING($c COLLATE {collation})")
    numbers, values = {"": 0}, {}
    for code, hexes in observed.items():
        if implicit(code, hexes):
            values[code] = IMPLICIT
        elif hexes == "FFFD":
            values[code] = REPLACEMENT
        else:
            values[code] = numbers.setdefault(hexes, len(numbers))
    bases = {}
    for code, hexes in observed.items():
        if values[code] == IMPLICIT:
            bases.setdefault((int(hexes[:4], 16) - (code >> 15)), []).append(code)
    for base, members in sorted(bases.items()):
        runs, start, previous = [], members[0], members[0]
        for code in members[1:] + [None]:
            if code is None or (base != 0xFBC0 and code != previous + 1):
                runs.append(f"{start:04X}-{previous:04X}")
                start = code
            previous = code
        print(f"  {name}: base {base:04X}: {' '.join(runs)}")

    def regular(_page, cells):
        for mark in (IMPLICIT, REPLACEMENT):
            if all(c in (None, mark) for c in cells):
                return mark
        return None

    pages = (last + 1) // 256
    body = paged(values, pages, regular)
    offsets, pool = [], b""
    for hexes in numbers:
        offsets.append(len(pool) // 2)
        words = [int(hexes[i : i + 4], 16) for i in range(0, len(hexes), 4)]
        pool += struct.pack(f"<{len(words)}H", *words)
    offsets.append(len(pool) // 2)
    head = struct.pack("<II", len(body), len(offsets))
    write(name, head + body + struct.pack(f"<{len(offsets)}H", *offsets) + pool)


def eight_bit():
    """Writes per character set: 256 u16 of Unicode (0: none), 256 upper, 256 lower."""
    out = b""
    for charset in CHARSETS_8:
        char = f"CHAR(seq USING {charset})"
        rows = query(
            f"SELECT seq, HEX(CONVERT({char} USING ucs2)), HEX(UPPER({char})), HEX(LOWER({char})) "
            "FROM mysql.seq_0_to_255"
        )
        known = lambda n, h: h not in ("NULL", "") and not (h == "003F" and n not in (0x3F,))
        # Thai bytes without a character become U+FFFD; no character becomes such a byte.
        cells = [int(h, 16) if known(int(n), h) else 0 for n, h, _, _ in rows]
        out += struct.pack("<256H", *cells)
        for column in (2, 3):
            fold = lambda r: int(r[0]) if r[column] in ("NULL", "") else int(r[column], 16)
            out += bytes(fold(r) for r in rows)
    write("eight_bit.bin", out)
    orders = b""
    for collation in TABLES_8:
        char = f"CHAR(seq USING {collation.split('_')[0]})"
        rows = query(f"SELECT seq, HEX(WEIGHT_STRING({char} COLLATE {collation})) FROM mysql.seq_0_to_255")
        orders += bytes(int(n) if h in ("NULL", "") else int(h, 16) for n, h in rows)
    write("eight_bit_order.bin", orders)


def special():
    """Writes the orders that are not a table of one weight per byte.

    Two weights per byte of latin1_german2_ci; for LIKE, the first equal character in it, in tis620_thai_ci and in
    the two Czech orders; the levels of latin2_czech_cs (four) and cp1250_czech_cs (two) for
    each byte and then for `ch`, `Ch`, `CH`.
    """
    def weights(collation):
        char = f"CHAR(seq USING {collation.split('_')[0]})"
        return [h for _, h in query(f"SELECT seq, HEX(WEIGHT_STRING({char} COLLATE {collation})) FROM mysql.seq_0_to_255")]

    out = b"".join(bytes.fromhex(h.ljust(4, "0")) for h in weights("latin1_german2_ci"))
    for collation in ("latin1_german2_ci", "tis620_thai_ci", "latin2_czech_cs", "cp1250_czech_cs"):
        char = lambda t: f"CHAR({t}.seq USING {collation.split('_')[0]})"
        rows = query(
            f"SELECT a.seq, MIN(b.seq) FROM mysql.seq_0_to_255 a, mysql.seq_0_to_255 b WHERE "
            f"b.seq NOT IN (37, 95, 124) AND {char('a')} COLLATE {collation} LIKE {char('b')} ESCAPE '|' GROUP BY a.seq")
        least = {int(a): int(b) for a, b in rows}
        out += bytes(least.get(n, n) for n in range(256))
    pairs = lambda collation: [
        query(f"SELECT HEX(WEIGHT_STRING(_{collation.split('_')[0]} '{s}' COLLATE {collation}))")[0][0]
        for s in ("ch", "Ch", "CH")]
    # Each of the four levels has at most one weight per character and ends with 01, the last one with 00.
    four = [split_levels(bytes.fromhex(h)) for h in weights("latin2_czech_cs") + pairs("latin2_czech_cs")]
    out += b"".join(bytes(column) for column in zip(*four))
    two = [bytes.fromhex(h) for h in weights("cp1250_czech_cs") + pairs("cp1250_czech_cs")]
    out += b"".join(bytes(column) for column in zip(*two))
    write("special_orders.bin", out)


def split_levels(weights):
    """Returns one weight for each of four levels, 0 for a level without one."""
    out, at = [], 0
    for end in (1, 1, 1, 0):
        if weights[at] == end:
            out.append(0)
        else:
            out.append(weights[at])
            at += 1
        assert weights[at] == end
        at += 1
    return out


def main():
    if "--8bit" in sys.argv:
        sys.argv.remove("--8bit")
        eight_bit()
        return special()
    eight_bit()
    special()
    general("general_ci.bin", "utf8mb4_general_ci")
    general("general_mysql500_ci.bin", "utf8mb3_general_mysql500_ci")
    case("upper.bin", "UPPER", "utf8mb4_general_ci", 0xFFFF)
    case("lower.bin", "LOWER", "utf8mb4_general_ci", 0xFFFF)
    case("upper520.bin", "UPPER", "utf8mb4_unicode_520_ci", 0x1FFFF)
    case("lower520.bin", "LOWER", "utf8mb4_unicode_520_ci", 0x1FFFF)
    uca("uca400.bin", "utf8mb4_unicode_ci", 0xFFFF)
    uca("uca520.bin", "utf8mb4_unicode_520_ci", 0x10FFFF)
    uca("uca1400.bin", "utf8mb4_uca1400_ai_ci", 0x10FFFF)


main()
