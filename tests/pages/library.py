"""An application with two pages, for recordings: a library with books, tags, loans and settings.

Statements have the forms of a real application's pages: page A has 30, page B has 77, each on a connection of its own.

usage: library.py PORT a|b PAGES   (the tables of library.sql are there)
"""

import sys

import pymysql

MODE = "NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
TAGS = ("SELECT DISTINCT t.id, tr.book_id FROM tag AS t INNER JOIN tagging AS tt ON t.id = tt.tag_id "
        "INNER JOIN book_tag AS tr ON tr.tagging_id = tt.id ")


def start(n):
    yield "SET NAMES utf8mb4"
    yield "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_ci'"
    yield "SELECT @@SESSION.sql_mode"
    yield f"SET SESSION sql_mode='{MODE}'"
    yield "SELECT k, v FROM conf WHERE early IN ( 'yes', 'on', 'auto' )"


def setting(n):
    return f"SELECT v FROM conf WHERE k = 'key_{1 + n % 200}' LIMIT 1"


def numbers(n, count, step=1):
    return ",".join(str(1 + (n * 13 + i * step) % 190) for i in range(count))


def one_tag(n):
    return ("SELECT t.id FROM tag AS t INNER JOIN tagging AS tt ON t.id = tt.tag_id "
            f"WHERE tt.kind IN ('theme{n}') AND t.slug IN ('tag-{n}') LIMIT 1")


def never(n):
    return (f"SELECT book.* FROM book WHERE 1=1 AND ( 0 = 1 ) AND book.kind = 'map{n % 3}' AND ((book.state = 'in')) "
            "GROUP BY book.id ORDER BY book.added DESC")


def never_one(n):
    return f"SELECT book.id FROM book WHERE 1=1 AND ( 0 = 1 ) AND book.kind = 'book{n % 3}' GROUP BY book.id LIMIT 0, 1"


def tags_of(n):
    return ("SELECT t.*, tt.* FROM tag AS t INNER JOIN tagging AS tt ON t.id = tt.tag_id "
            f"WHERE t.id IN ({1 + n % 38},{2 + n % 38},{3 + n % 37})")


def page_a(n):
    yield from start(n)
    for i in range(5):
        yield setting(n * 9 + i)
    yield one_tag(n)
    for i in range(4):
        yield never(n + i)
        yield setting(n * 9 + 5 + i)
    yield ("SELECT SQL_CALC_FOUND_ROWS book.id FROM book WHERE 1=1 AND ((book.kind = 'map' AND (book.state = 'out'))) "
           "ORDER BY book.added DESC LIMIT 0, 10")
    yield "SELECT FOUND_ROWS()"
    yield f"SELECT book.* FROM book WHERE id IN ({numbers(n, 8, 3)})"
    yield (TAGS + f"WHERE tt.kind IN ('genre', 'mood', 'format') AND tr.book_id IN ({numbers(n, 8, 3)}) "
           "ORDER BY t.name ASC")
    yield tags_of(n)
    yield f"SELECT owner, k, v FROM note WHERE owner IN ({numbers(n % 6, 8)}) ORDER BY id ASC"
    for i in range(3):
        yield never_one(n + i)
    yield f"SELECT book.* FROM book WHERE id IN ({1 + n * 3 % 190})"
    yield "SELECT book.* FROM book WHERE book.kind = 'menu' AND book.state = 'in' ORDER BY book.place ASC, book.title ASC"


def page_b(n):
    yield from start(n)
    for i in range(15):
        yield setting(n * 15 + i)
    yield one_tag(n)
    yield never(n)
    yield never_one(n)
    for i in range(9):
        yield (TAGS + f"WHERE tt.kind IN ('genre') AND tr.book_id IN ({1 + (n * 9 + i) % 190}) ORDER BY t.name ASC")
        yield f"SELECT owner, k, v FROM note WHERE owner = {100 + (n * 9 + i) % 100}"
    for i in range(2):
        yield tags_of(n * 2 + i)
    for i in range(3):
        yield ("SELECT t.id, t.name FROM tag AS t INNER JOIN tagging AS tt ON t.id = tt.tag_id "
               f"WHERE tt.kind IN ('{['genre', 'mood', 'theme'][i]}') ORDER BY t.name ASC")
        yield f"SELECT owner, k, v FROM note WHERE owner IN ({numbers(n + i, 8)}) ORDER BY id ASC"
    for i in range(5):
        yield f"SELECT COUNT(*) FROM loan WHERE ( approved = '1' ) AND book_id = {1 + (n * 5 + i) % 60} ORDER BY loan.due DESC"
    slugs = ", ".join(f"'slug-{1 + (n + i * 3) % 199}'" for i in range(10))
    yield f"SELECT id, title, kind FROM book WHERE slug IN ({slugs}) AND kind <> 'menu'"
    yield f"SELECT DISTINCT kind FROM book WHERE id IN ({numbers(n, 12)}) AND state <> 'out'"
    for i in range(12):
        yield f"SELECT id, reader, due FROM loan WHERE parent = {(n * 12 + i) % 37} AND approved <> 'spam'"
    for i in range(9):
        yield f"SELECT owner, k, v FROM note WHERE owner = {120 + (n * 9 + i) % 80}"


PAGES = {"a": page_a, "b": page_b}


def drive(port, page, pages):
    """Loads the page some times, with other values each time."""
    for n in range(pages):
        connection = pymysql.connect(host="127.0.0.1", port=port, user="root", database="library", autocommit=None)
        with connection.cursor() as cursor:
            for statement in PAGES[page](n):
                cursor.execute(statement)
                cursor.fetchall()
        connection.close()


if __name__ == "__main__":
    drive(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
