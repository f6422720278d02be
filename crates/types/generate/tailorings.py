#!/usr/bin/env python3
"""Writes ../data/tailorings.bin and ../data/uca_levels.bin, observed on a running MariaDB server.

Usage: tailorings.py allkeys.txt [options of the mariadb client]

`allkeys.txt` of Unicode 14 lists the candidates for contractions of the root; the server gives
their weights and all other data. A tailoring is a list of characters and
contractions whose weights differ from the table it is based on; ../src/charset/tailoring.rs reads
its layout. Levels two and three are runs of sequence numbers, which ../src/charset/levels.rs reads.
"""
import itertools
import struct
import sys

ALLKEYS = sys.argv.pop(1)

from server import query, section, write  # noqa: E402

OLD = (
    "icelandic latvian romanian slovenian polish estonian spanish swedish turkish czech danish "
    "lithuanian slovak spanish2 roman persian esperanto hungarian sinhala german2 croatian_mysql561 "
    "vietnamese croatian myanmar thai_520_w2"
).split()
NEW = (
    "icelandic latvian romanian slovenian polish estonian spanish swedish turkish czech danish "
    "lithuanian slovak spanish2 roman persian esperanto hungarian sinhala german2 vietnamese croatian"
).split()
BASES = {400: "utf8mb4_unicode_ci", 520: "utf8mb4_unicode_520_ci", 1400: "utf8mb4_uca1400_as_cs"}


def varint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def weigh(sequences, collation, levels):
    """Returns the weights of each sequence of code points, by level, in hexadecimal."""
    out = {}
    level_list = ", ".join(
        f"HEX(WEIGHT_STRING(s COLLATE {collation} LEVEL {n}))" for n in range(1, levels + 1))
    for chunk in batched(sequences, 2000):
        rows = " UNION ALL ".join(
            f"SELECT {i}{' n' if not i else ''}, CONVERT(_utf32 x'{''.join('%08X' % c for c in s)}' USING utf8mb4){' s' if not i else ''}"
            for i, s in enumerate(chunk))
        for n, *hexes in query(f"SELECT n, {level_list} FROM ({rows}) t;"):
            out[tuple(chunk[int(n)])] = tuple(hexes)
    return out


def batched(items, size):
    items = list(items)
    return [items[i : i + size] for i in range(0, len(items), size)]


def tailored(collation, base):
    """Returns code points of the first plane whose weights differ from the base."""
    c = "CONVERT(CHAR(seq USING utf32) USING utf8mb4)"
    rows = query(
        f"SELECT seq FROM mysql.seq_1_to_65535 WHERE seq NOT BETWEEN 0xD800 AND 0xDFFF AND "
        f"(WEIGHT_STRING({c} COLLATE {collation} LEVEL 1) <> WEIGHT_STRING({c} COLLATE {base} LEVEL 1)"
        + (f" OR WEIGHT_STRING({c} COLLATE {collation}) <> WEIGHT_STRING({c} COLLATE {base}))"
           if base.endswith("as_cs") else ")"))
    return [int(n) for n, in rows]


def contractions(collation, first, second):
    """Returns pairs whose first level differs from that of their two characters in a row."""
    lists = lambda codes: " UNION ALL ".join(
        f"SELECT {c} n, CONVERT(CHAR({c} USING utf32) USING utf8mb4) COLLATE {collation} s" for c in codes)
    w = lambda s: f"WEIGHT_STRING({s} LEVEL 1)"
    rows = query(
        f"SELECT a.n, b.n FROM (SELECT n, s, {w('s')} w FROM ({lists(first)}) x) a, "
        f"(SELECT n, s, {w('s')} w FROM ({lists(second)}) x) b "
        f"WHERE {w('CONCAT(a.s, b.s)')} <> CONCAT(a.w, b.w);")
    return [(int(a), int(b)) for a, b in rows]


def longer(collation, prefixes, letters):
    """Returns prefixes with one more letter whose weight differs from that of the prefix and the letter."""
    found = []
    for chunk in batched(prefixes, 400):
        lists = " UNION ALL ".join(
            f"SELECT {i} n, CONVERT(_utf32 x'{''.join('%08X' % c for c in p)}' USING utf8mb4) COLLATE {collation} s"
            for i, p in enumerate(chunk))
        tails = " UNION ALL ".join(
            f"SELECT {c} n, CONVERT(CHAR({c} USING utf32) USING utf8mb4) COLLATE {collation} s" for c in letters)
        w = lambda s: f"WEIGHT_STRING({s} LEVEL 1)"
        rows = query(
            f"SELECT a.n, b.n FROM (SELECT n, s, {w('s')} w FROM ({lists}) x) a, "
            f"(SELECT n, s, {w('s')} w FROM ({tails}) x) b WHERE {w('CONCAT(a.s, b.s)')} <> CONCAT(a.w, b.w);")
        found += [tuple(chunk[int(a)]) + (int(b),) for a, b in rows]
    return found


ASCII = [c for c in range(0x41, 0x7B) if chr(c).isalpha()]
LOWER = list(range(0x61, 0x7B))


def alphabet(singles):
    """Returns the letters that may be part of a contraction of a language."""
    return sorted(set(ASCII) | {c for c in singles if c < 0x250 or 0x1E00 <= c < 0x1F00})


def find_contractions(name, collation, singles):
    if name == "myanmar":
        letters = list(range(0x1000, 0x10A0)) + [0x200B, 0x200C, 0x200D]
        pairs = contractions(collation, letters, letters)
        triples = longer(collation, list(itertools.product(letters, letters)), letters)
        return pairs + triples, letters
    if name.startswith("thai"):
        letters = list(range(0xE00, 0xE80))
        return contractions(collation, letters, letters), letters
    letters = alphabet(singles)
    pairs = contractions(collation, letters, letters)
    wide = sorted(set(LOWER) | {c for p in pairs for c in p})
    triples = longer(collation, list(itertools.product(wide, repeat=2)), wide)
    return pairs + triples, wide


def reduce(sequences, weights, singles, known):
    """Drops sequences that are only the sum of shorter contractions and characters, longest match first."""
    kept = dict(known)
    for seq in sorted(sequences, key=len):
        expected = parts(seq, kept, singles)
        if expected != weights[seq]:
            kept[seq] = weights[seq]
    return {s: w for s, w in kept.items() if known.get(s) != w}


def parts(seq, kept, singles):
    out, at = None, 0
    while at < len(seq):
        for size in range(len(seq) - at, 0, -1):
            piece = tuple(seq[at : at + size])
            w = singles.get(piece) if size == 1 else kept.get(piece)
            if w is not None:
                break
        out = w if out is None else tuple(a + b for a, b in zip(out, w))
        at += size
    return out


def entry(seq, weights):
    out = bytes([len(seq)]) + b"".join(struct.pack("<I", c)[:3] for c in seq)
    for hexes in weights:
        words = [int(hexes[i : i + 4], 16) for i in range(0, len(hexes), 4)]
        out += bytes([len(words)]) + struct.pack(f"<{len(words)}H", *words)
    return out


def tailoring(name, collation, base, levels, known):
    codes = tailored(collation, BASES[base])
    weights = weigh([(c,) for c in codes], collation, levels)
    entries = dict(weights)
    found, letters = find_contractions(name, collation, codes)
    sequences = sorted(set(found))
    # Contractions of the root may have other weights here.
    more = [s for s in known if s not in found]
    all_weights = weigh(sequences + more, collation, levels)
    needed = {(c,) for s in sequences + more for c in s}
    singles = weigh(sorted(needed), collation, levels)
    contracted = reduce(sequences + more, all_weights, singles, known)
    size = 3
    while longest := [s for s in contracted if len(s) == size]:
        further = longer(collation, longest, letters)
        all_weights |= weigh(further, collation, levels)
        singles |= weigh([(c,) for c in letters], collation, levels)
        sequences += further
        contracted = reduce(sequences + more, all_weights, singles, known)
        size += 1
    entries.update(contracted)
    print(f"{name} on {base}: {len(codes)} characters, {len(contracted)} contractions",
          "".join(" " + "".join(map(chr, s)) for s in list(contracted)[:40] if name != "myanmar"))
    return struct.pack("<HBH", base, levels, len(entries)) + b"".join(
        entry(s, w) for s, w in sorted(entries.items()))


def root():
    """Returns the contractions of the root of Unicode 14, from the candidates in the table of Unicode."""
    candidates = []
    for line in open(ALLKEYS, encoding="utf-8"):
        codes = line.split(";")[0].split()
        if len(codes) > 1 and not line.startswith(("#", "@")):
            candidates.append(tuple(int(c, 16) for c in codes))
    weights = weigh(candidates, BASES[1400], 3)
    singles = weigh(sorted({(c,) for s in candidates for c in s}), BASES[1400], 3)
    for old in (400, 520):
        w, s = weigh(candidates, BASES[old], 1), weigh(sorted({(c,) for s in candidates for c in s}), BASES[old], 1)
        print(f"root of {old}: {len(reduce(candidates, w, s, {}))} contractions")
    found = reduce(candidates, weights, singles, {})
    print(f"root of 1400: {len(found)} of {len(candidates)} candidates are contractions")
    return found


def levels():
    out = b""
    c = "CONVERT(CHAR(seq USING utf32) USING utf8mb4)"
    for collation, level in ((BASES[1400], 2), (BASES[1400], 3), ("utf8mb4_thai_520_w2", 2)):
        rows = query(
            f"SELECT seq, HEX(WEIGHT_STRING({c} COLLATE {collation} LEVEL {level})) FROM mysql.seq_0_to_1114111")
        surrogate = range(0xD800, 0xE000)
        numbers, runs, last = {}, [], None
        for n, hexes in rows:
            if int(n) not in surrogate:
                last = numbers.setdefault(hexes, len(numbers))
            if runs and runs[-1][1] == last:
                runs[-1][0] += 1
            else:
                runs.append([1, last or 0])
        pool = b"".join(bytes([len(h) // 4]) + b"".join(struct.pack("<H", int(h[i : i + 4], 16)) for i in range(0, len(h), 4)) for h in numbers)
        body = b"".join(varint(count) + varint(number) for count, number in runs)
        print(f"{collation} level {level}: {len(numbers)} sequences, {len(runs)} runs")
        out += section(struct.pack("<H", len(numbers)) + pool) + section(body)
    write("uca_levels.bin", out)



def main():
    known = root()
    out = [struct.pack("<HBH", 1400, 3, len(known)) + b"".join(entry(s, w) for s, w in sorted(known.items()))]
    for name in OLD:
        collation = f"utf8mb4_{name}" if name.endswith("w2") else f"utf8mb4_{name}_ci"
        base = min((400, 520), key=lambda b: len(tailored(collation, BASES[b])))
        out.append(tailoring(name, collation, base, 2 if name.endswith("w2") else 1, {}))
    for name in NEW:
        out.append(tailoring(name, f"utf8mb4_uca1400_{name}_as_cs", 1400, 3, known))
    write("tailorings.bin", b"".join(section(t) for t in out))
    levels()


if __name__ == "__main__":
    main()
