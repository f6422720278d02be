"""phpMyAdmin: tables made, filled and changed by hand, and every page of a database, a table and the server."""

import contextlib
import json
import os
import re

import web

PACKAGES = ("phpmyadmin", "php-cli", "php-mysql", "php-mbstring", "php-xml", "php-zip", "php-gd", "php-curl")
SOURCE = "/usr/share/phpmyadmin"
DATABASE = "shop"
# What record.py dumps: its own tables too.
DATABASES = (DATABASE, "phpmyadmin")
STATEMENTS = (
    "CREATE TABLE t1 (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) COLLATE utf8mb4_unicode_ci, v DECIMAL(10,2),"
    " d DATETIME DEFAULT '2020-01-01', e ENUM('a','b'), j JSON, KEY (name)) COMMENT='things'",
    "INSERT INTO t1 (name, v, e, j) VALUES ('a', 1.5, 'a', '{}'), ('ü', 2.5, 'b', '[1]'), ('c', NULL, NULL, NULL)",
    "CREATE TABLE t2 (id INT PRIMARY KEY, t1 INT, CONSTRAINT fk FOREIGN KEY (t1) REFERENCES t1 (id) ON DELETE CASCADE)",
    "INSERT INTO t2 VALUES (1, 1), (2, 2)",
    "SELECT * FROM t1 ORDER BY name DESC",
    "CREATE VIEW v1 AS SELECT name, COUNT(*) n FROM t1 GROUP BY name",
    "CREATE FUNCTION f1(a INT) RETURNS INT DETERMINISTIC RETURN a + 1",
    "CREATE TRIGGER tr BEFORE INSERT ON t1 FOR EACH ROW SET NEW.v = COALESCE(NEW.v, 0)",
    "EXPLAIN SELECT * FROM t1 JOIN t2 ON t1.id = t2.t1",
    "UPDATE t1 SET v = v + 1 WHERE id = 1",
    "DELETE FROM t2 WHERE id = 2",
    "SHOW FULL PROCESSLIST",
    "ANALYZE TABLE t1",
)
OF_DATABASE = ("structure", "sql", "search", "qbe", "export", "import", "operations", "routines", "events", "triggers",
               "tracking", "designer", "central-columns", "data-dictionary")
OF_TABLE = ("structure", "search", "find-replace", "zoom-search", "change", "export", "operations", "tracking", "triggers",
            "relation", "indexes", "sql")
OF_SERVER = ("databases", "databases&statistics=1", "sql", "status", "status/processes", "status/queries",
             "status/variables", "status/monitor", "status/advisor", "privileges", "export", "import", "binlog",
             "replication", "variables", "collations", "engines", "engines/InnoDB", "engines/InnoDB/Status",
             "engines/InnoDB/Bufferpool", "plugins", "user-groups")
STORED = ("bookmark", "relation", "table_info", "table_coords", "pdf_pages", "column_info", "history", "table_uiprefs",
          "tracking", "userconfig", "recent", "favorite", "users", "usergroups", "navigationhiding", "savedsearches",
          "central_columns", "designer_settings", "export_templates")


def drive(place):
    """Uses the application at `place` (run.py) and returns the browser that used it."""
    with running(place) as browser:
        token = token_of(browser)
        for statement in STATEMENTS:
            run_sql(browser, token, statement)
        visit(browser)
        changes(browser, token)
    return browser


@contextlib.contextmanager
def running(place):
    """Sets the application up at `place` and returns a browser."""
    place.sql(f"CREATE DATABASE {DATABASE}")
    with open(f"{SOURCE}/sql/create_tables.sql") as file:
        script = file.read()
    place.client(re.sub(r"(?im)^grant[^;]*;", "", script))
    folder = os.path.join(place.folder, "site")
    place.copy(SOURCE, folder)
    configure(folder, place)
    with web.served(folder, place.log) as address:
        yield web.Browser(address)


def token_of(browser):
    browser.get("/index.php", "phpMyAdmin")
    return browser.find(r'token:"([^"]+)"') or browser.find(r'name="token" value="([^"]+)"')


def configure(folder, place):
    tables = {"bookmarktable" if name == "bookmark" else name: f"pma__{name}" for name in STORED}
    server = {"auth_type": "config", "host": "127.0.0.1", "port": str(place.port), "user": "root", "password": "",
              "AllowNoPassword": True, "pmadb": "phpmyadmin", "controluser": "root", "controlpass": "", **tables}
    temporary = os.path.join(place.folder, "tmp")
    os.makedirs(temporary)
    # JSON inside PHP quotes: no value has a quote or a backslash.
    with open(os.path.join(folder, "config.inc.php"), "w") as file:
        file.write("<?php $cfg['blowfish_secret'] = '12345678901234567890123456789012';\n"
                   f"$cfg['Servers'][1] = json_decode('{json.dumps(server)}', true);\n"
                   f"$cfg['TempDir'] = '{temporary}';\n"
                   "$cfg['CheckConfigurationPermissions'] = false; $cfg['VersionCheck'] = false;\n"
                   "$cfg['SendErrorReports'] = 'never';\n")
    vendor = os.path.join(folder, "libraries", "vendor_config.php")
    with open(vendor) as file:
        text = re.sub(r"(?m)^.*'configFile' =>.*$", f"'configFile' => '{folder}/config.inc.php',", file.read())
    with open(vendor, "w") as file:
        file.write(text)


def run_sql(browser, token, statement):
    browser.post("/index.php?route=/import", {
        "db": DATABASE, "table": "", "token": token, "sql_query": statement, "sql_delimiter": ";", "is_js_confirmed": "1",
        "pos": "0", "message_to_show": "done", "ajax_request": "true", "show_query": "1", "SQL": "Go",
        "goto": "index.php?route=/database/sql", "fk_checks": "1"}, r'"success":true', statement)


def visit(browser):
    for page in OF_DATABASE:
        browser.get(f"/index.php?route=/database/{page}&db={DATABASE}")
    for page in OF_TABLE:
        browser.get(f"/index.php?route=/table/{page}&db={DATABASE}&table=t1")
    for table in ("t1", "v1"):
        browser.get(f"/index.php?route=/sql&db={DATABASE}&table={table}&pos=0")
    for page in OF_SERVER:
        browser.get(f"/index.php?route=/server/{page}")
    for database in ("information_schema", "mysql", "performance_schema", "sys"):
        browser.get(f"/index.php?route=/database/structure&db={database}")
    for table in ("information_schema&table=ROUTINES", "mysql&table=user"):
        browser.get(f"/index.php?route=/sql&db={table}&pos=0")
    browser.get(f"/index.php?route=/navigation&ajax_request=1&db={DATABASE}")


def changes(browser, token):
    def change(route, fields):
        browser.post(f"/index.php?route={route}", {"token": token, "ajax_request": "true", "db": DATABASE, **fields},
                     r'"success":true')

    change("/server/databases/create", {"new_db": "made_here", "db_collation": "utf8mb4_general_ci"})
    change("/server/databases/destroy", {"drop_selected_dbs": "1", "selected_dbs[]": "made_here"})
    change("/server/privileges", {
        "adduser_submit": "Go", "pred_username": "userdefined", "username": "made", "pred_hostname": "localhost",
        "hostname": "localhost", "authentication_plugin": "mysql_native_password", "pred_password": "userdefined",
        "pma_pw": "x1", "pma_pw2": "x1", "Select_priv": "Y", "Insert_priv": "Y", "max_questions": "0", "max_updates": "0",
        "max_connections": "0", "max_user_connections": "0", "ssl_type": "NONE", "createdb-1": "1", "userGroup": ""})
    browser.get("/index.php?route=/server/privileges&username=made&hostname=localhost", "made")
    run_sql(browser, token, "DROP USER made@localhost")
    browser.get(f"/index.php?route=/table/structure/change&db={DATABASE}&table=t1&field=name&change_column=1", "name")
    change("/table/operations", {
        "table": "t1", "submitoptions": "1", "comment": "new", "prev_comment": "things",
        "tbl_collation": "utf8mb4_unicode_ci", "new_tbl_storage_engine": "InnoDB", "new_auto_increment": "100",
        "auto_increment": "4", "row_format": "DYNAMIC", "new_name": "t1"})
    change("/database/search", {"criteriaSearchString": "a", "criteriaSearchType": "1", "criteriaTables[]": ["t1", "t2"],
                                "submit_search": "Go"})


def pages(browser, _):
    """Fills the application, and returns its kinds of pages for record.py: a browser and paths for each."""
    token = token_of(browser)
    for statement in STATEMENTS[:9]:
        run_sql(browser, token, statement)
    for number in range(20):
        run_sql(browser, token, f"CREATE TABLE of_more_{number} (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(40), KEY (a))")
        run_sql(browser, token, f"INSERT INTO of_more_{number} (a, b) SELECT seq % 7, CONCAT('row ', seq) FROM seq_1_to_200")

    def of(*routes):
        return (browser, [f"/index.php?route=/{route}" for route in routes])

    tables = [f"&db={DATABASE}&table=of_more_{number}" for number in (1, 5, 9)]
    return {
        "front": (browser, ["/index.php"]),
        "databases": of("server/databases"),
        "structure": of(f"database/structure&db={DATABASE}"),
        "rows": of(*(f"sql{table}&pos=0" for table in tables)),
        "table": of(*(f"table/structure{table}" for table in tables)),
        "navigation": of(f"navigation&ajax_request=1&db={DATABASE}"),
        "privileges": of("server/privileges"),
        "variables": of("server/variables", "server/status"),
    }
