"""Stored functions, procedures and triggers: handlers, cursors, SIGNAL and RESIGNAL, changes of other tables."""

from chapters.pen import contents, statement
from tree import Node, leaf, listed, optional

TYPES = [("n", "INT"), ("n", "TINYINT"), ("n", "BIGINT UNSIGNED"), ("n", "DECIMAL(6,2)"), ("n", "FLOAT"), ("n", "DOUBLE"), ("s", "VARCHAR(10)"),
         ("s", "VARCHAR(3)"), ("s", "TEXT"), ("s", "ENUM('a','b','1')"), ("d", "DATE"), ("d", "DATETIME"), ("s", "CHAR(5)")]
CONDITIONS = ["SQLEXCEPTION", "SQLWARNING", "NOT FOUND", "1062", "1146", "SQLSTATE '23000'", "SQLSTATE '45000'", "SQLSTATE '01000'", "1365", "1366", "1264"]
LOG = "CREATE OR REPLACE TABLE journal (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(60), n DOUBLE)"


class Body:
    """Statements of a stored program over the variables v0, v1 ..."""

    def __init__(self, pen, function=False):
        self.pen, self.function, self.loops = pen, function, 0
        self.types = [pen.random.choice(TYPES) for _ in range(3)]
        self.variables = [(f"v{at}", kind) for at, (kind, _) in enumerate(self.types)]

    def block(self):
        pen = self.pen
        declared = []
        for (name, kind), (_, type_) in zip(self.variables, self.types):
            declared.append(Node("declare", [f"DECLARE {name} {type_}", optional(" DEFAULT ", pen.literal(kind)) if pen.chance(0.4) else "", "; "]))
        handlers = [optional(self.handler()) for _ in range(pen.random.choice([0, 1, 1, 2]))]
        body = listed([self.step(2) for _ in range(pen.random.randint(2, 5))], "")
        return Node("body", ["BEGIN ", *declared, *handlers, body])

    def handler(self):
        pen = self.pen
        acts = ["SET v0 = NULL;", "SET @seen = CONCAT(IFNULL(@seen, ''), '!');", "BEGIN GET DIAGNOSTICS CONDITION 1 @seen = MESSAGE_TEXT, @state = RETURNED_SQLSTATE; END;",
                "INSERT INTO journal (what) VALUES ('handled');", "RESIGNAL;", "RESIGNAL SET MESSAGE_TEXT = 'again';", "BEGIN END;"]
        return f"DECLARE {pen.one('CONTINUE', 'EXIT')} HANDLER FOR {', '.join(pen.some(CONDITIONS, 2))} {pen.random.choice(acts)} "

    def value(self):
        return self.pen.mixed(self.variables)

    def step(self, depth):
        pen = self.pen
        name, _ = pen.random.choice(self.variables)
        table = pen.table()
        columns = pen.columns(table)
        chosen = pen.random.randrange(14 if depth else 8)
        if chosen < 3:
            return Node("step", [f"SET {name} = ", self.value(), "; "])
        if chosen == 3:
            return Node("step", ["SELECT ", pen.mixed(columns), f" INTO {name} FROM {table.name}", pen.where(columns), " ORDER BY id LIMIT 1; "])
        if chosen == 4:
            return Node("step", [f"INSERT INTO journal (what, n) VALUES ({name}, ", pen.simple("n", self.variables), "); "])
        if chosen == 5:
            return Node("step", [f"UPDATE {table.name} SET {table.columns[0].name} = ", pen.simple("a", self.variables), pen.where(columns), "; "])
        if chosen == 6:
            return leaf(pen.one(f"INSERT INTO {table.name} (id) VALUES ({pen.random.randint(1, 5)}); ", "INSERT INTO journal VALUES (1, 'x', 1), (1, 'y', 2); ",
                                "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'mine', MYSQL_ERRNO = 5001; ", "SIGNAL SQLSTATE '01000'; ", "DELETE FROM nowhere; "), "step")
        if chosen == 7:
            return leaf("SET @seen = CONCAT_WS('/', @seen, v0, v1, v2); ", "step")
        return self.nested(chosen, depth - 1, table, columns)

    def nested(self, chosen, depth, table, columns):
        pen, inner = self.pen, lambda: listed([self.step(depth) for _ in range(pen.random.randint(1, 3))], "")
        self.loops += 1
        label = f"l{self.loops}"
        if chosen < 10:
            return Node("step", ["IF ", pen.condition(self.variables), " THEN ", inner(), optional("ELSE ", inner()), "END IF; "])
        if chosen == 10:
            return Node("step", [f"FOR i IN 1..{pen.random.randint(0, 3)} DO ", inner(), "END FOR; "])
        if chosen == 11:
            return Node("step", [f"FOR r IN (SELECT id, {table.columns[0].name} c FROM {table.name}", pen.where(columns), " ORDER BY id LIMIT 3) DO ",
                                 f"SET v0 = r.{pen.one('id', 'c')}; ", inner(), "END FOR; "])
        if chosen == 12:
            return Node("step", [f"BEGIN DECLARE done INT DEFAULT 0; DECLARE c CURSOR FOR SELECT {table.columns[0].name} FROM {table.name} ORDER BY id; ",
                                 f"DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1; OPEN c; {label}: LOOP FETCH c INTO v1; IF done THEN LEAVE {label}; END IF; ",
                                 inner(), "END LOOP; CLOSE c; END; "])
        return Node("step", [f"CASE v0 WHEN ", pen.literal("n"), " THEN ", inner(), "WHEN v1 THEN ", inner(), optional("ELSE ", inner()), "END CASE; "])


def seen(pen):
    return [statement("SELECT @seen, @state"), contents("journal")] + [contents(table.name) for table in pen.tables]


def begun():
    return [statement(LOG)]


def procedures(pen):
    body = Body(pen)
    kinds = [pen.random.choice(TYPES) for _ in range(2)]
    body.variables += [("p0", kinds[0][0]), ("p1", kinds[1][0])]
    found = begun() + [statement(f"CREATE OR REPLACE PROCEDURE pr (p0 {kinds[0][1]}, {pen.one('OUT', 'INOUT')} p1 {kinds[1][1]}) ", body.block(),
                                 "SELECT v0, v1, v2, p0, p1; SET p1 = v0; END")]
    for _ in range(2):
        found += [statement("SET @out = ", pen.literal(kinds[1][0])), statement("CALL pr(", pen.literal(kinds[0][0]), ", @out)"), statement("SELECT @out"), *seen(pen)]
    return found


def functions(pen):
    body = Body(pen, True)
    kind, type_ = pen.random.choice(TYPES)
    body.variables.append(("p0", kind))
    table = pen.table()
    column = pen.random.choice(table.columns).name
    create = statement(f"CREATE OR REPLACE FUNCTION fn (p0 {type_}) RETURNS {pen.random.choice(TYPES)[1]} ", body.block(), "RETURN ", body.value(), "; END")
    return begun() + [create, statement("SELECT fn(", pen.literal(kind), "), fn(", pen.literal(kind), ")"), *seen(pen),
                      statement(f"SELECT id, fn({column}) FROM {table.name} ORDER BY id"), statement("SET @kept = fn(1)"), statement("SELECT @kept"), *seen(pen)]


def triggers(pen):
    table = pen.table()
    columns = table.columns
    found = begun()
    for at in range(pen.random.randint(1, 3)):
        event, time = pen.one("INSERT", "UPDATE", "DELETE"), pen.one("BEFORE", "AFTER")
        rows = ["OLD"] if event == "DELETE" else ["NEW"] if event == "INSERT" else ["NEW", "OLD"]
        own = [(f"{row}.{name}", kind) for row in rows for name, kind in pen.columns(table)]
        steps = [Node("step", [f"INSERT INTO journal (what, n) VALUES ('{time} {event}', ", pen.simple("n", own), "); "])]
        if time == "BEFORE" and event != "DELETE":
            column = pen.random.choice(columns)
            steps.append(Node("step", ["IF ", pen.condition(own), f" THEN SET NEW.{column.name} = ", pen.simple(column.kind, own), "; END IF; "]))
        if pen.chance(0.3):
            steps.append(Node("step", ["IF ", pen.condition(own), " THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'; END IF; "]))
        found.append(statement(f"CREATE OR REPLACE TRIGGER g{at} {time} {event} ON {table.name} FOR EACH ROW BEGIN ", listed(steps, ""), "END"))
    own = pen.columns(table)
    for _ in range(4):
        column = pen.random.choice(columns)
        identity = pen.random.randint(1, 9)
        found.append(pen.one(
            statement(pen.one("INSERT", "INSERT IGNORE", "REPLACE"), f" INTO {table.name} (id, {column.name}) VALUES ({identity}, ", pen.value(column), f"), ({identity + 1}, ", pen.value(column), ")"),
            statement(f"INSERT INTO {table.name} (id) VALUES ({identity}) ON DUPLICATE KEY UPDATE {column.name} = ", pen.value(column)),
            statement("UPDATE", pen.one("", " IGNORE"), f" {table.name} SET {column.name} = ", pen.simple(column.kind, own), pen.where(own), " ORDER BY id"),
            statement(f"DELETE FROM {table.name}", pen.where(own, 1, True), " ORDER BY id")))
        found += [contents(table.name), contents("journal")]
    return found


CHAPTERS = [procedures, functions, triggers]
