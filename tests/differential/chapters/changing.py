"""Table changes as applications make them: counters, columns without defaults, several unique keys."""

from changes import Changes
from chapters.pen import contents, statement
from schema import Column
from tree import Node, leaf, listed

STOCK = [Column("n", "n", "INT"), Column("u", "n", "INT"), Column("s", "s", "VARCHAR(4)"), Column("k", "s", "VARCHAR(10)"),
         Column("e", "s", "ENUM('a','b','c')"), Column("f", "n", "FLOAT"), Column("p", "n", "DECIMAL(6,2)"), Column("d", "d", "DATE")]
CREATE = ("CREATE OR REPLACE TABLE stock (id INT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL, u INT UNIQUE, s VARCHAR(4) NOT NULL DEFAULT 'new',"
          " k VARCHAR(10){unique}, e ENUM('a','b','c') NOT NULL, f FLOAT, p DECIMAL(6,2) NOT NULL DEFAULT 1.50, d DATE)")


def row(pen, columns):
    return Node("row", ["(", listed([leaf("DEFAULT") if pen.chance(0.08) else pen.value(c) for c in columns], sort="fixed"), ")"])


def insert(pen, verbs):
    columns = pen.some(STOCK, 5)
    names = ", ".join(c.name for c in columns)
    rows = listed([row(pen, columns) for _ in range(pen.random.randint(1, 4))])
    return [f"{pen.random.choice(verbs)} INTO stock ({names}) VALUES ", rows], columns


def again(pen, columns):
    forms = [f"n = n + {pen.one('1', 'VALUES(n)', 'u', 'IFNULL(VALUES(u), 5)')}", "s = CONCAT(s, 'x')", f"k = {pen.one('NULL', 'VALUES(k)', 's')}", "f = f * 1.1",
             "u = u + 10", "p = p + f", "e = VALUES(e)", "id = LAST_INSERT_ID(id)", "d = d + INTERVAL 1 DAY", "n = NULL"]
    return Node("again", [" ON DUPLICATE KEY UPDATE ", listed([leaf(form) for form in pen.some(forms, 3)])])


def of_query(pen):
    source = pen.relations.joined(1, 0)
    order = f" ORDER BY {', '.join(source.keys)}" if source.keys else " ORDER BY 1, 2, 3"
    chosen = listed([pen.mixed(source.columns) for _ in range(3)], sort="fixed")
    names = pen.one("n, u, e", "u, k, n", "n, s, p", "id, n, f", "n, e, d")
    return [f"({names}) SELECT ", chosen, " FROM ", source.node, pen.where(source.columns, 0), order]


def change(pen):
    own = [(c.name, c.kind) for c in STOCK] + [("id", "n")]
    column = pen.random.choice(STOCK)
    sorting = pen.one("", " ORDER BY id", " ORDER BY n, id LIMIT 2", " ORDER BY k DESC, u, id DESC LIMIT 3")
    kind = pen.random.randrange(7)
    if kind < 2:
        parts, columns = insert(pen, ["INSERT", "INSERT", "INSERT IGNORE", "REPLACE"])
        return statement(*parts, again(pen, columns) if parts[0].startswith("INSERT") and pen.chance(0.5) else "")
    if kind == 2:
        verb = pen.one("INSERT", "INSERT IGNORE", "REPLACE")
        return statement(f"{verb} INTO stock ", *of_query(pen), again(pen, STOCK) if verb != "REPLACE" and pen.chance(0.5) else "")
    if kind < 5:
        certain = sorting if column.name not in "uk" else " ORDER BY id"
        return statement("UPDATE", pen.one("", " IGNORE"), f" stock SET {column.name} = ", pen.one(pen.mixed(own), pen.value(column), leaf("DEFAULT")), pen.where(own), certain)
    if kind == 5:
        return statement("DELETE", pen.one("", " IGNORE"), " FROM stock", pen.where(own, 1, True), sorting)
    other = pen.table()
    columns = [(f"s.{name}", of) for name, of in own] + pen.columns(other, "o.")
    column = pen.random.choice([c for c in STOCK if c.name not in "uk"])
    return pen.one(statement(f"UPDATE stock s JOIN {other.name} o ON o.id = s.id SET s.{column.name} = ", pen.mixed(columns), pen.where(columns, 0)),
                   statement(f"DELETE s FROM stock s LEFT JOIN {other.name} o ON o.id = s.id", pen.where(columns, 0, True)),
                   statement(f"UPDATE stock s JOIN {other.name} o ON o.id = s.id SET s.n = s.n + 1, o.{other.columns[0].name} = NULL ORDER BY s.id LIMIT 2"))


def stock(pen):
    found = [statement(CREATE.format(unique=pen.one("", " UNIQUE")))]
    found.append(statement("INSERT IGNORE INTO stock (n, u, k, e, f) VALUES (1, 1, 'a', 'a', 1.1), (2, 2, 'b', 'b', 0.5), (3, NULL, NULL, 'c', NULL)"))
    for _ in range(6):
        found += [change(pen), contents("stock")]
    return found + [statement("SELECT LAST_INSERT_ID(), ROW_COUNT()")]


def transactions(pen):
    changes = Changes(pen.relations)
    found = [statement("START TRANSACTION")]
    for at in range(4):
        found.append(changes.change())
        found.append(statement(pen.one(f"SAVEPOINT s{at % 2}", f"ROLLBACK TO s{at % 2}", "ROLLBACK", "COMMIT", "START TRANSACTION", "SELECT 1")))
    return found + [contents(table.name) for table in pen.tables] + [statement("ROLLBACK")]


CHAPTERS = [stock, stock, transactions]
