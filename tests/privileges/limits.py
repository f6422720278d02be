"""Limits of accounts, wrong passwords, and whose privileges count: assertions observed on a MariaDB 10.11.

Takes about 2 s. usage: limits.py BINARY, or limits.py PORT for a running server (MariaDB passes too).
"""

import contextlib
import os
import sys
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from selkie import Server  # noqa: E402

BLOCKED, LIMIT, DENIED, NO_PASSWORD = 4150, 1226, 1045, 1698


class Client:
    def __init__(self, port, user="root", password=""):
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user=user, password=password,
                                          ssl_disabled=True, autocommit=None, read_timeout=60)

    def run(self, sql):
        """Returns the rows, or the number of the error."""
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(sql)
                return tuple(cursor.fetchall())
        except pymysql.MySQLError as error:
            return error.args[0]

    def close(self):
        self.connection.close()


class Test:
    def __init__(self, port):
        self.port = port
        self.root = Client(port)

    def do(self, *statements):
        for sql in statements:
            result = self.root.run(sql)
            assert not isinstance(result, int), f"{sql}: {result}"

    def log_in(self, user="l", password=""):
        """Returns a client, or the number of the error."""
        try:
            return Client(self.port, user, password)
        except pymysql.MySQLError as error:
            return error.args[0]

    def account(self, rest="", name="l@localhost"):
        self.do(f"CREATE OR REPLACE USER {name} {rest}", "FLUSH USER_RESOURCES")

    def connections(self):
        self.account("WITH MAX_USER_CONNECTIONS 2")
        first, second = self.log_in(), self.log_in()
        assert second.run("SELECT @@max_user_connections") == ((2,),)
        assert self.log_in() == LIMIT
        first.close()
        third = self.until_in()
        second.close(), third.close()
        self.account("WITH MAX_USER_CONNECTIONS 1")
        one = self.until_in()
        assert self.log_in() == LIMIT
        self.do("ALTER USER l@localhost WITH MAX_USER_CONNECTIONS 2")
        two = self.log_in()
        assert self.log_in() == LIMIT
        one.close(), two.close()
        self.account("WITH MAX_USER_CONNECTIONS -1")
        assert self.log_in() == LIMIT

    def until_in(self):
        """Logs in after another connection was closed: its place is free a moment later."""
        for _ in range(100):
            client = self.log_in()
            if isinstance(client, Client):
                return client
            time.sleep(0.02)
        raise AssertionError("the place of a connection that is gone stays taken")

    def hours(self):
        self.account("WITH MAX_QUERIES_PER_HOUR 5")
        client = self.log_in()
        answers = [client.run(sql) for sql in ("DO 1", "this is none", "DO 2", "DO 3", "DO 4", "DO 5")]
        # The client sends one statement when it connects.
        assert answers == [(), 1064, (), (), (), LIMIT], answers
        assert self.log_in() == LIMIT
        self.do("FLUSH USER_RESOURCES")
        assert client.run("DO 6") == ()
        client.close()
        self.do("CREATE OR REPLACE DATABASE limits_of", "CREATE TABLE limits_of.t (a INT)")
        self.account("WITH MAX_UPDATES_PER_HOUR 2")
        self.do("GRANT ALL ON limits_of.* TO l@localhost")
        client = self.log_in()
        assert client.run("INSERT INTO limits_of.t VALUES (1)") == ()
        assert client.run("SELECT a FROM limits_of.t") == ((1,),)
        assert client.run("EXPLAIN DELETE FROM limits_of.t") != LIMIT
        assert client.run("DELETE FROM limits_of.t") == LIMIT
        assert client.run("ANALYZE TABLE limits_of.t") != LIMIT
        assert client.run("CREATE TABLE limits_of.u (a INT)") == LIMIT
        self.do("FLUSH PRIVILEGES")
        assert client.run("DELETE FROM limits_of.t") == ()
        client.close()
        self.do("DROP DATABASE limits_of")
        self.account("WITH MAX_CONNECTIONS_PER_HOUR 2")
        for _ in range(2):
            self.log_in().close()
        assert self.log_in() == LIMIT
        self.do("FLUSH USER_RESOURCES")
        self.log_in().close()

    def passwords(self):
        self.account("IDENTIFIED BY 'right'")
        before = self.root.run("SELECT @@GLOBAL.max_password_errors")[0][0]
        self.do("SET GLOBAL max_password_errors = 2")
        wrong = lambda count: [self.log_in("l", "wrong") for _ in range(count)]  # noqa: E731
        try:
            assert wrong(3) == [DENIED, DENIED, BLOCKED]
            assert self.log_in("l", "right") == BLOCKED
            self.do("FLUSH PRIVILEGES")
            self.log_in("l", "right").close()
            assert wrong(1) == [DENIED]
            self.log_in("l", "right").close()
            assert wrong(3) == [DENIED, DENIED, BLOCKED], "a right password begins anew"
            self.do("SET PASSWORD FOR l@localhost = PASSWORD('right')")
            assert self.log_in("l", "right") == BLOCKED
            self.do("ALTER USER l@localhost ACCOUNT UNLOCK")
            self.log_in("l", "right").close()
            assert [self.log_in("l", "") for _ in range(3)] == [DENIED] * 3, "no password is no wrong one"
            self.account("IDENTIFIED BY 'right'")
            self.do("GRANT CONNECTION ADMIN ON *.* TO l@localhost")
            assert wrong(4) == [DENIED] * 4
        finally:
            self.do(f"SET GLOBAL max_password_errors = {before}")

    def methods(self):
        """The error of a refused login speaks of a password if one was given to the last method of the account."""
        native = "mysql_native_password USING PASSWORD('right')"
        ways = {
            "unix_socket": [NO_PASSWORD, NO_PASSWORD], f"{native} OR unix_socket": [NO_PASSWORD, NO_PASSWORD],
            native: [DENIED, DENIED], f"unix_socket OR {native}": [NO_PASSWORD, DENIED],
        }
        for way, numbers in ways.items():
            self.account(f"IDENTIFIED VIA {way}")
            assert [self.log_in("l", password) for password in ("", "wrong")] == numbers, way

    def definers(self):
        """Inside a program the definer's privileges count, also for the server's own statements."""
        self.account()
        self.do("CREATE OR REPLACE DATABASE limits_of", "GRANT ALL ON limits_of.* TO l@localhost")
        client = self.log_in()
        refused = {
            "GRANT ALL PRIVILEGES ON *.* TO l@localhost": 1045, "CREATE USER evil@localhost": 1227,
            "SET GLOBAL max_connections = 77": 1227, "SET PASSWORD FOR root@localhost = PASSWORD('x')": 1044,
            "REVOKE ALL PRIVILEGES, GRANT OPTION FROM root@localhost": 1227, "FLUSH PRIVILEGES": 1227,
            "SHOW ENGINE INNODB STATUS": 1227, "SELECT COUNT(*) FROM information_schema.INNODB_TRX": 1227,
            "ALTER TABLE limits_of.t RENAME mysql.t": 1142, "SHOW GRANTS FOR root@localhost": 1044,
        }
        self.do("CREATE TABLE limits_of.t (a INT)")
        for sql, number in refused.items():
            assert client.run(f"CREATE OR REPLACE PROCEDURE limits_of.p() {sql}") == ()
            answer = self.root.run("CALL limits_of.p()")
            assert answer == number, f"{sql} by a definer without privileges: {answer}"
        assert self.root.run("SELECT CURRENT_USER()") == (("root@localhost",),)
        self.do("CREATE OR REPLACE PROCEDURE limits_of.p() CREATE OR REPLACE USER made@localhost")
        assert client.run("CALL limits_of.p()") == (), "a definer's privileges are lent"
        assert client.run("CREATE USER made2@localhost") == 1227
        client.close()
        self.do("DROP DATABASE limits_of", "DROP USER made@localhost")

    def revoked(self):
        """REVOKE also holds for statements that were planned, prepared or compiled before."""
        self.account()
        self.do("CREATE OR REPLACE DATABASE limits_of", "CREATE TABLE limits_of.t (a INT PRIMARY KEY)",
                "INSERT INTO limits_of.t VALUES (1)",
                "CREATE SQL SECURITY INVOKER VIEW limits_of.v AS SELECT a FROM limits_of.t",
                "CREATE PROCEDURE limits_of.p() SQL SECURITY INVOKER SELECT a FROM limits_of.t",
                "CREATE FUNCTION limits_of.f() RETURNS INT SQL SECURITY INVOKER RETURN (SELECT MAX(a) FROM limits_of.t)",
                "GRANT SELECT ON limits_of.v TO l@localhost", "GRANT EXECUTE ON limits_of.* TO l@localhost")
        texts = ["SELECT a FROM limits_of.t WHERE a = 1", "SELECT a FROM limits_of.v", "EXECUTE st", "CALL limits_of.p()",
                 "SELECT limits_of.f()"]
        grants = ["SELECT ON limits_of.t", "SELECT (a) ON limits_of.t"]
        for grant in grants:
            self.do(f"GRANT {grant} TO l@localhost")
            client = self.log_in()
            assert client.run("PREPARE st FROM 'SELECT a FROM limits_of.t WHERE a = 1'") == ()
            for _ in range(3):
                answers = [client.run(sql) for sql in texts]
                assert answers == [((1,),)] * len(texts), answers
            self.do(f"REVOKE {grant} FROM l@localhost")
            answers = [client.run(sql) for sql in texts]
            assert answers == [1142, 1356, 1142, 1142, 1142], f"after REVOKE {grant}: {answers}"
            self.do(f"GRANT {grant} TO l@localhost")
            assert client.run(texts[0]) == ((1,),)
            self.do(f"REVOKE {grant} FROM l@localhost")
            client.close()
        self.do("DROP DATABASE limits_of")

    def passing_on(self):
        """GRANT by accounts with privileges on columns only; PUBLIC, which the first GRANT to it creates."""
        self.account()
        self.account(name="other@localhost")
        self.do("CREATE OR REPLACE DATABASE limits_of", "CREATE TABLE limits_of.t (id INT, a INT, b INT)",
                "GRANT SELECT (id, a) ON limits_of.t TO l@localhost WITH GRANT OPTION")
        client = self.log_in()
        for what, answer in [("SELECT", 1142), ("SELECT (b)", 1143), ("SELECT (id), SELECT (b)", 1143), ("SELECT (nosuch)", 1054),
                             ("INSERT (id)", 1142), ("ALL", 1142), ("SELECT (id)", ()), ("SELECT (a, id)", ()), ("USAGE", ())]:
            got = client.run(f"GRANT {what} ON limits_of.t TO other@localhost")
            assert got == answer, f"GRANT {what}: {got}"
        self.do("GRANT INSERT ON limits_of.t TO l@localhost", "GRANT SELECT, SELECT (b) ON limits_of.t TO other@localhost")
        for what, answer in [("SELECT (b), INSERT", 1143), ("SELECT (id), INSERT", ())]:
            got = client.run(f"GRANT {what} ON limits_of.t TO other@localhost")
            assert got == answer, f"GRANT {what}: {got}"
        for what in ("SELECT (b)", "SELECT (id)", "SELECT"):
            assert client.run(f"REVOKE {what} ON limits_of.t FROM other@localhost") == ()
        there = self.root.run("SELECT COUNT(*) FROM mysql.global_priv WHERE User = 'PUBLIC'") == ((1,),)
        assert client.run("GRANT INSERT ON limits_of.t TO PUBLIC") == (() if there else 1410)
        client.close()
        self.do("GRANT INSERT ON limits_of.t TO PUBLIC", "REVOKE INSERT ON limits_of.t FROM PUBLIC",
                "DROP USER other@localhost", "DROP DATABASE limits_of")

    def anonymous(self):
        """An account without a name can change no password and no default role, not even its own."""
        self.do("DROP USER IF EXISTS ''@localhost", "CREATE USER ''@localhost", "GRANT UPDATE ON mysql.* TO ''@localhost")
        self.account()
        client = self.log_in("nobody")
        for sql in ("SET PASSWORD = ''", "SET PASSWORD FOR l@localhost = ''", "SET PASSWORD FOR ''@localhost = ''",
                    "SET DEFAULT ROLE NONE", "SET DEFAULT ROLE NONE FOR l@localhost"):
            got = client.run(sql)
            assert got == 1131, f"{sql}: {got}"
        client.close()
        self.do("DROP USER ''@localhost")

    def columns(self):
        """Columns are shown to accounts with a privilege on them."""
        self.account()
        self.do("CREATE OR REPLACE DATABASE limits_of", "CREATE TABLE limits_of.t (id INT PRIMARY KEY, a INT)")
        asked = "SELECT column_name FROM information_schema.columns WHERE table_schema = 'limits_of'"
        for granted, seen in [("DELETE", []), ("INDEX", []), ("ALL", ["id", "a"]), ("REFERENCES (a)", ["a"]), ("INSERT", ["id", "a"])]:
            self.do(f"GRANT {granted} ON limits_of.t TO l@localhost")
            client = self.log_in()
            for sql in (asked, "SHOW COLUMNS FROM limits_of.t", "DESCRIBE limits_of.t", "SHOW FULL COLUMNS FROM limits_of.t"):
                got = client.run(sql)
                assert [row[0] for row in got] == seen, f"{sql} with {granted}: {got}"
            client.close()
            self.do(f"REVOKE {granted} ON limits_of.t FROM l@localhost")
        self.do("DROP DATABASE limits_of")


def run(port):
    test = Test(port)
    for name in ("connections", "hours", "passwords", "methods", "definers", "revoked", "passing_on", "anonymous", "columns"):
        getattr(test, name)()
    test.do("DROP USER l@localhost")
    print("limits: passed")


def main():
    if sys.argv[1].isdigit():
        return run(int(sys.argv[1]))
    server = Server(sys.argv[1]).start()
    with contextlib.ExitStack() as stack:
        stack.callback(server.remove)
        run(server.port)
        server.stop()


if __name__ == "__main__":
    main()
