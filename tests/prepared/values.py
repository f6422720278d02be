"""Parameters of the binary protocol: values of every type, at their ends and beyond them."""

import struct

UNSIGNED = 0x8000
(DECIMAL, TINY, SHORT, LONG, FLOAT, DOUBLE, NULL, TIMESTAMP, LONGLONG, INT24, DATE, TIME, DATETIME, YEAR, NEWDATE, VARCHAR,
 BIT) = range(17)
JSON, NEWDECIMAL, ENUM, SET, TINY_BLOB, MEDIUM_BLOB, LONG_BLOB, BLOB, VAR_STRING, STRING, GEOMETRY = range(245, 256)
WIDTHS = {TINY: 1, SHORT: 2, YEAR: 2, LONG: 4, INT24: 4, LONGLONG: 8}
STRINGS = (VARCHAR, VAR_STRING, STRING, TINY_BLOB, MEDIUM_BLOB, LONG_BLOB, BLOB)
# Types in the frequency in which they are sent. MariaDB takes INT24, YEAR, BIT and GEOMETRY for NULL, does not read their
# values, and refuses JSON; Selkie reads them.
KINDS = ([TINY, SHORT, LONG, LONGLONG] * 4 + [FLOAT, DOUBLE] * 3 + [NEWDECIMAL] * 4 + [DECIMAL] + [DATE, TIME, DATETIME] * 4
         + [TIMESTAMP] * 2 + [VAR_STRING, STRING] * 5 + [VARCHAR, BLOB, LONG_BLOB, TINY_BLOB] * 2 + [MEDIUM_BLOB, ENUM, SET, NULL])
NAMES = {value: name for name, value in list(globals().items()) if name.isupper() and isinstance(value, int)}

TEXTS = ["", "0", "1", "-1", "7", "12", " 12 ", "12abc", "abc", "ABC", "abc ", "a%", "%b%", "_", "a\\", "é", "ß", "ss", "😀", "1e3",
         "1.5", "-0.0", ".5", "99999999999999999999", "18446744073709551615", "9223372036854775808", "2024-02-29",
         "2023-02-30", "2024-02-29 12:34:56.789", "0000-00-00", "2024-00-01", "12:34:56", "-838:59:59.999999", "839:00:00",
         "20240229", "24-2-29", "10:11", "red", "green,blue", "blue,red", "3", "2024", "70", "{}", '{"a": 1}', "[1, 2", '"x"',
         "null", "true", "$.a", "\0", "a\0b", "x" * 300, "POINT(1 2)", "127.0.0.1", "::1", "%Y-%m", "1:1", "1 1", "-1.5 x"]
RAW = [b"\xff", b"\xc3", b"\xf0\x9f\x98", b"\x80abc", b"\0" * 4, bytes(range(128, 144))]
DECIMALS = ["0", "1", "-1", "0.5", "-0.5", "1.50", "2.5", "-2.5", "12345678901234567890", "-12345678901234567890", "9" * 65, "9" * 66,
            "0." + "9" * 30, "0." + "3" * 38, "0." + "1" * 45, "1e5", "1e-5", "-0", "0.0", "00012.3400", "", "x", "1x", " 2 ", "+3", "18446744073709551615",
            "9223372036854775808", "1e400", "20240229", "20240229123456.789", "123456.5", "10101"]
DOUBLES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 0.1, 1 / 3, 1e10, 1e15, 1e16, 1e17, 123456789.125, -1e-10, 1e-300, 1e300, 1.7976931348623157e308,
           5e-324, 9.223372036854775807e18, 1.8446744073709551615e19, 20240229.0, 20240229123456.0, 16777217.0, 12.0]
ODD_DOUBLES = [float("inf"), float("-inf"), float("nan")]
DATES = [(2024, 2, 29), (1999, 12, 31), (2000, 1, 1), (0, 0, 0), (2024, 0, 0), (2024, 2, 0), (2023, 2, 29), (1, 1, 1), (9999, 12, 31),
         (2024, 4, 31), (2024, 13, 1), (2024, 1, 32), (10000, 1, 1), (65535, 255, 255), (12, 12, 12), (1970, 1, 1), (2038, 1, 19),
         (2039, 1, 1)]
STAMPS = [(2024, 2, 29), (1999, 12, 31), (2000, 1, 1), (1971, 1, 1), (2038, 1, 18)]
CLOCKS = [(0, 0, 0), (12, 34, 56), (23, 59, 59), (24, 0, 0), (23, 60, 0), (23, 59, 60), (255, 255, 255), (1, 2, 3), (3, 14, 7),
          (3, 14, 8)]
FRACTIONS = [0, 1, 500000, 999999, 123456, 1000000, 0xFFFFFFFF]
DAYS = [0, 0, 0, 0, 1, 34, 35, 100, 0xFFFFFFFF]
INTEGERS = [0, 1, 2, 3, 5, 7, 10, 12, 60, 100, -1, -2, -128, 127, 128, 255, 32767, -32768, 65535, 2**31 - 1, -2**31, 2**32 - 1, 2**63 - 1, -2**63,
            2**64 - 1, 2024, 70, 99, 1901, 2155, 20240229, 101112, 20240229123456, 8385959]
POINT = struct.pack("<IBIdd", 0, 1, 1, 1.0, 2.0)
LINE = struct.pack("<IBII4d", 0, 1, 2, 2, 0.0, 0.0, 1.0, 1.0)


class Value:
    """A parameter as it is sent: a type with flags, and bytes, or None for NULL."""

    def __init__(self, kind, data, name):
        self.kind, self.data, self.name = kind, data, name

    def __repr__(self):
        return self.name


def counted(data):
    if len(data) < 251:
        return bytes([len(data)]) + data
    return b"\xfc" + struct.pack("<H", len(data)) + data


def some(random, odd):
    """A parameter of any type; `odd` allows values that no client would send."""
    kind = random.choice(KINDS)
    if kind == NULL or random.random() < 0.05:
        return Value(kind, None, f"{NAMES[kind]} NULL")
    return of_kind(random, kind, odd)


def of_kind(random, kind, odd):
    if kind in WIDTHS:
        return integer(random, kind)
    if kind in (FLOAT, DOUBLE):
        value = random.choice(ODD_DOUBLES if odd and random.random() < 0.05 else DOUBLES)
        return floating(kind, value)
    if kind in (NEWDECIMAL, DECIMAL):
        text = random.choice(DECIMALS)
        return Value(kind, counted(text.encode()), f"{NAMES[kind]} {text!r}")
    if kind in (DATE, DATETIME, TIMESTAMP):
        return date(random, kind, odd)
    if kind == TIME:
        return time(random, odd)
    if kind == GEOMETRY or random.random() < 0.03:
        data = random.choice([POINT, LINE, POINT[:-1], b"", POINT[4:], b"POINT(1 2)"])
        return Value(kind, counted(data), f"{NAMES[kind]} x'{data.hex()}'")
    data = random.choice(TEXTS).encode() if random.random() < 0.9 else random.choice(RAW)
    return Value(kind, counted(data), f"{NAMES[kind]} {data!r:.60}")


def integer(random, kind):
    width = WIDTHS[kind]
    number = random.choice(INTEGERS) & ((1 << 8 * width) - 1)
    flag = random.choice([0, 0, UNSIGNED])
    shown = number if flag or number < 1 << (8 * width - 1) else number - (1 << 8 * width)
    return Value(kind | flag, number.to_bytes(width, "little"), f"{NAMES[kind]}{' UNSIGNED' if flag else ''} {shown}")


def floating(kind, value):
    if kind == DOUBLE:
        return Value(kind, struct.pack("<d", value), f"DOUBLE {value!r}")
    if abs(value) > 3.4e38 and value not in ODD_DOUBLES:
        value = 3.4028234663852886e38
    data = struct.pack("<f", value)
    return Value(kind, data, f"FLOAT {struct.unpack('<f', data)[0]!r}")


def date(random, kind, odd):
    # A TIMESTAMP that is none changes in MariaDB, and is a DATETIME in Selkie.
    year, month, day = random.choice(STAMPS if kind == TIMESTAMP else DATES)
    clock = random.choice(CLOCKS[:3] if kind == TIMESTAMP else CLOCKS)
    fraction = random.choice(FRACTIONS[:5] if kind == TIMESTAMP else FRACTIONS)
    full = struct.pack("<HBB", year, month, day) + bytes(clock) + struct.pack("<I", fraction)
    length = random.choice([4] * 6 + [0, 7, 11] if kind == DATE else [0, 4, 4, 7, 7, 7, 7, 11, 11, 11])
    if odd and random.random() < 0.05:
        # MariaDB reads beyond shorter ones.
        length = random.choice([5, 6, 8, 9, 10] if kind == DATE else [1, 2, 3])
    return Value(kind, bytes([length]) + full[:length], f"{NAMES[kind]}({length}) {year}-{month}-{day} {clock} {fraction}")


def time(random, odd):
    negative, days = random.choice([0, 0, 1]), random.choice(DAYS)
    clock, fraction = random.choice(CLOCKS), random.choice(FRACTIONS)
    full = struct.pack("<BI", negative, days) + bytes(clock) + struct.pack("<I", fraction)
    length = random.choice([0, 8, 8, 8, 8, 12, 12, 12])
    if odd and random.random() < 0.05:
        length = random.choice([1, 4, 5, 7])
    return Value(TIME, bytes([length]) + full[:length], f"TIME({length}) {'-' * negative}{days}d {clock} {fraction}")


def packet(values, bound, bitmap=None):
    """The body of an execution: null bitmap, types (None: none were sent, not even the flag), values."""
    if not values:
        return b""
    nulls = bytearray((len(values) + 7) // 8)
    for at, value in enumerate(values):
        if value.data is None:
            nulls[at // 8] |= 1 << at % 8
    body = bytes(nulls if bitmap is None else bitmap) + bytes([bound])
    if bound:
        body += b"".join(struct.pack("<H", value.kind) for value in values)
    return body + b"".join(value.data for value in values if value.data is not None)
