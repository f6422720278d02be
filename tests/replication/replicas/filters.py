"""Filters of replicas: what they take and pass over, and that positions move over what is filtered."""

from . import report
from .chain import running, two
from .nodes import gtids, until

# One replica is looked at.
WANTS = two
CHECKS = ["do_db", "ignore_db", "do_table", "ignore_table", "wild_do_table", "wild_ignore_table", "rewrite_db", "filters_together", "filters_of_statements",
          "ignore_server_ids", "do_domain_ids", "marked_for_skip", "updates_of_joins", "accounts_left_out", "filters_at_the_start", "filters_of_the_primary", "filtered_branch"]
LOAD = ("CREATE DATABASE da", "CREATE DATABASE db", "CREATE TABLE da.t1 (a INT PRIMARY KEY)", "CREATE TABLE da.t2 (a INT PRIMARY KEY)",
        "CREATE TABLE db.t1 (a INT PRIMARY KEY)", "CREATE TABLE db.t_x (a INT PRIMARY KEY)",
        "INSERT INTO da.t1 VALUES (1), (2)", "INSERT INTO da.t2 VALUES (1)", "INSERT INTO db.t1 VALUES (1), (2), (3)", "INSERT INTO db.t_x VALUES (1)",
        "BEGIN", "INSERT INTO da.t1 VALUES (5)", "INSERT INTO db.t1 VALUES (5)", "INSERT INTO db.t_x VALUES (5)", "COMMIT",
        "UPDATE da.t1, db.t1 SET da.t1.a = 60, db.t1.a = 60 WHERE da.t1.a = 5 AND db.t1.a = 5", "DELETE FROM da.t1 WHERE a = 1", "DELETE FROM db.t1 WHERE a = 1")
WHOLE = {"da.t1": [2, 60], "da.t2": [1], "db.t1": [2, 3, 60], "db.t_x": [1, 5]}


def use(texts):
    """Each statement with the database that it names as the default one, as filters of databases want it."""
    found = []
    for text in texts:
        schema = "da" if "da." in text else "db" if "db." in text else None
        found += [f"USE {schema}", text] if schema else [text]
    return found


def has(node, names=WHOLE):
    """The rows of tables; None for a table that is not there."""
    found = {}
    for name in names:
        schema, table = name.split(".")
        there = node.value(f"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema='{schema}' AND table_name='{table}'")
        found[name] = [row[0] for row in node.rows(f"SELECT a FROM {name} ORDER BY a")] if there else None
    return found


def parts(text):
    """The entries of a filter, which come in any order."""
    return sorted((text or "").split(","))


def filtered(chain, variables, expected, made=()):
    """The replica with these filters has only what is expected, whatever the mode."""
    node = chain.replica
    for how in ("gtid", "position"):
        chain.clean()
        for name, value in variables.items():
            node.rows(f"SET GLOBAL {name}='{value}'")
            report.same(name, parts(node.variable(name)), parts(value))
        for schema in made:
            node.rows("SET sql_log_bin=0", f"CREATE DATABASE {schema}")
        node.follow(chain.primary, how)
        chain.primary.rows(*use(LOAD))
        chain.catch_up()
        report.same(f"tables with {variables}, by {how}", has(node), {**WHOLE, **expected})
        state = node.status()
        for name, value in variables.items():
            column = "_".join(part.capitalize() for part in name.split("_")).replace("_Db", "_DB")
            report.same(column, parts(state.get(column)), parts(value))


def do_db(chain):
    """replicate_do_db."""
    filtered(chain, {"replicate_do_db": "da"}, {"db.t1": None, "db.t_x": None})


def ignore_db(chain):
    """replicate_ignore_db."""
    filtered(chain, {"replicate_ignore_db": "da"}, {"da.t1": None, "da.t2": None})


def do_table(chain):
    """replicate_do_table."""
    filtered(chain, {"replicate_do_table": "da.t2,db.t1"}, {"da.t1": None, "db.t_x": None})


def ignore_table(chain):
    """replicate_ignore_table."""
    filtered(chain, {"replicate_ignore_table": "da.t1,db.t_x"}, {"da.t1": None, "db.t_x": None})


def wild_do_table(chain):
    """replicate_wild_do_table."""
    filtered(chain, {"replicate_wild_do_table": "da.%,db.t_x"}, {"db.t1": None}, made=["db"])


def wild_ignore_table(chain):
    """replicate_wild_ignore_table."""
    filtered(chain, {"replicate_wild_ignore_table": "d_.t2,db.%x"}, {"da.t2": None, "db.t_x": None})


def rewrite_db(chain):
    """replicate_rewrite_db renames the database of rows and of the default; names inside statements stay."""
    node, primary = chain.replica, chain.primary
    node.rows("SET GLOBAL replicate_rewrite_db='da->dx'", "SET sql_log_bin=0", "CREATE DATABASE dx")
    node.follow(primary)
    primary.rows("CREATE DATABASE db", "CREATE DATABASE da", "USE da", "CREATE TABLE t1 (a INT PRIMARY KEY)", "INSERT INTO t1 VALUES (1), (2)",
                 "CREATE TABLE db.t1 (a INT PRIMARY KEY)", "INSERT INTO db.t1 VALUES (7)", "DELETE FROM da.t1 WHERE a = 1", "ALTER TABLE t1 ADD b INT DEFAULT 4")
    chain.catch_up()
    report.same("rows of dx.t1", node.rows("SELECT * FROM dx.t1"), [(2, 4)])
    report.same("the other database", has(node, ["db.t1"]), {"db.t1": [7]})
    report.same("Replicate_Rewrite_DB", node.status()["Replicate_Rewrite_DB"], "da->dx")
    report.same("tables under the old name", node.rows("SELECT table_name FROM information_schema.tables WHERE table_schema='da'"), [])


def filters_together(chain):
    """Database rules come before table rules; rules of tables in their order."""
    filtered(chain, {"replicate_ignore_db": "da", "replicate_do_table": "da.t1,db.t1"}, {"da.t1": None, "da.t2": None, "db.t_x": None})
    filtered(chain, {"replicate_do_table": "da.t1", "replicate_ignore_table": "db.t1", "replicate_wild_do_table": "db.t%"},
             {"da.t2": None, "db.t1": None}, made=["da", "db"])


def filters_of_statements(chain):
    """Statements go by their tables or by the default database, drops and renames too."""
    node, primary = chain.replica, chain.primary
    node.rows("SET GLOBAL replicate_ignore_table='da.t1'")
    node.follow(primary)
    primary.rows("CREATE DATABASE da", "CREATE TABLE da.t1 (a INT)", "CREATE TABLE da.t2 (a INT)", "ALTER TABLE da.t1 ADD b INT", "INSERT INTO da.t1 VALUES (1, 1)",
                 "CREATE VIEW da.v AS SELECT 1", "CREATE PROCEDURE da.p() SELECT 1", "TRUNCATE da.t1", "DROP TABLE da.t1", "CREATE TABLE da.t1 SELECT 5 AS a",
                 "INSERT INTO da.t2 SELECT a FROM da.t1", "CREATE USER uf@h")
    chain.catch_up()
    report.same("tables", [row[0] for row in node.rows("SELECT table_name FROM information_schema.tables WHERE table_schema='da' ORDER BY 1")], ["t2", "v"])
    report.same("rows", node.rows("SELECT * FROM da.t2"), [(5,)])
    report.same("the routine", node.value("SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema='da'"), 1)
    report.same("the account", node.value("SELECT COUNT(*) FROM mysql.user WHERE user='uf'"), 1)


def ignore_server_ids(chain):
    """IGNORE_SERVER_IDS passes over groups of some servers."""
    node, primary = chain.replica, chain.primary
    node.follow(primary, more="IGNORE_SERVER_IDS=(77, 78)")
    primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "SET server_id=77", "INSERT INTO d.t VALUES (77)", "SET server_id=79",
                 "INSERT INTO d.t VALUES (79)", "SET server_id=78", "INSERT INTO d.t VALUES (78)", f"SET server_id={primary.number}", "INSERT INTO d.t VALUES (1)")
    chain.catch_up()
    report.same("rows", node.rows("SELECT a FROM d.t ORDER BY a"), [(1,), (79,)])
    report.same("Replicate_Ignore_Server_Ids", node.status()["Replicate_Ignore_Server_Ids"], "77, 78")
    node.rows("STOP SLAVE", "CHANGE MASTER TO IGNORE_SERVER_IDS=()", "START SLAVE")
    report.same("Replicate_Ignore_Server_Ids of none", node.status()["Replicate_Ignore_Server_Ids"], "")


def do_domain_ids(chain):
    """DO_DOMAIN_IDS and IGNORE_DOMAIN_IDS."""
    node, primary = chain.replica, chain.primary
    node.follow(primary, more="DO_DOMAIN_IDS=(0, 2)")
    primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "SET gtid_domain_id=1", "INSERT INTO d.t VALUES (1)", "SET gtid_domain_id=2",
                 "INSERT INTO d.t VALUES (2)", "SET gtid_domain_id=0", "INSERT INTO d.t VALUES (3)")
    wait_for(chain, node, 0)
    report.same("rows", node.rows("SELECT a FROM d.t ORDER BY a"), [(2,), (3,)])
    report.same("Replicate_Do_Domain_Ids", node.status()["Replicate_Do_Domain_Ids"], "0, 2")
    node.rows("STOP SLAVE", "CHANGE MASTER TO DO_DOMAIN_IDS=(), IGNORE_DOMAIN_IDS=(2)", "START SLAVE")
    primary.rows("SET gtid_domain_id=2", "INSERT INTO d.t VALUES (20)", "SET gtid_domain_id=0", "INSERT INTO d.t VALUES (30)")
    wait_for(chain, node, 0)
    report.same("rows", node.rows("SELECT a FROM d.t WHERE a > 9 ORDER BY a"), [(30,)])
    report.same("Replicate_Ignore_Domain_Ids", node.status()["Replicate_Ignore_Domain_Ids"], "2")


def wait_for(chain, node, domain):
    target = gtids(chain.primary.variable("gtid_binlog_pos"))[domain]
    until(lambda: gtids(node.variable("gtid_slave_pos")).get(domain) == target, f"{node} comes to {target} of domain {domain}")


def marked_for_skip(chain):
    """Groups marked by skip_replication, and replicate_events_marked_for_skip."""
    node, primary = chain.replica, chain.primary
    node.rows("SET GLOBAL replicate_events_marked_for_skip='FILTER_ON_SLAVE'")
    node.follow(primary)
    primary.rows("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "SET skip_replication=1", "INSERT INTO d.t VALUES (1)", "SET skip_replication=0",
                 "INSERT INTO d.t VALUES (2)")
    chain.catch_up()
    report.same("rows with FILTER_ON_SLAVE", node.rows("SELECT a FROM d.t ORDER BY a"), [(2,)])
    node.rows("STOP SLAVE", "SET GLOBAL replicate_events_marked_for_skip='FILTER_ON_MASTER'", "START SLAVE")
    running(node)
    primary.rows("SET skip_replication=1", "INSERT INTO d.t VALUES (3)", "SET skip_replication=0", "INSERT INTO d.t VALUES (4)")
    wait_for(chain, node, 0)
    report.same("rows with FILTER_ON_MASTER", node.rows("SELECT a FROM d.t ORDER BY a"), [(2,), (4,)])


def updates_of_joins(chain):
    """An UPDATE of several tables counts as one of those whose columns it sets, in the order of its FROM."""
    node, primary = chain.replica, chain.primary
    node.rows("SET GLOBAL replicate_do_table='d.t1,d.t2'", "SET GLOBAL replicate_ignore_table='d.t4'")
    node.follow(primary)
    primary.rows("SET GLOBAL binlog_format=STATEMENT", "CREATE DATABASE d")
    primary.rows("USE d", *(f"CREATE TABLE t{n} (id INT, c{n} INT)" for n in (1, 2, 4, 7)), *(f"INSERT INTO t{n} VALUES (1, 1), (2, 2)" for n in (1, 2, 4, 7)),
                 "UPDATE t7 LEFT JOIN t4 ON t4.id = t7.id SET c4 = 0, c7 = 0", "UPDATE t1 LEFT JOIN t4 ON t1.id = t4.id SET c4 = 3 WHERE t1.id = 1",
                 "UPDATE t1 LEFT JOIN t7 x ON t1.id = x.id SET x.c7 = 3", "UPDATE t4 LEFT JOIN (t1, t2) ON t1.id = t4.id SET c1 = 4, t2.c2 = 4, c4 = 4",
                 "UPDATE t1 a JOIN t2 ON a.id = t2.id SET c1 = c2 + 7, c2 = 9 WHERE a.id = 2")
    chain.catch_up()
    report.same("t1 and t2", node.rows("SELECT * FROM d.t1 JOIN d.t2 USING (id) ORDER BY 1"), [(1, 1, 1), (2, 9, 9)])


def accounts_left_out(chain):
    """Statements about accounts, also those that end with an error, are left out with the tables of mysql."""
    node, primary = chain.replica, chain.primary
    node.rows("SET GLOBAL replicate_wild_ignore_table='mysql.%'")
    node.follow(primary)
    primary.rows("CREATE USER one@localhost")
    report.same("REVOKE", primary.error("REVOKE ALL PRIVILEGES, GRANT OPTION FROM nobody@'%'"), 1269)
    report.same("DROP USER", primary.error("DROP USER one@localhost, nobody@'%'"), 1396)
    primary.rows("CREATE DATABASE d")
    chain.catch_up()


def filters_at_the_start(chain):
    """Filters among the options of the server."""
    node, primary = chain.replica, chain.primary
    node.restart(["--log-slave-updates=1", "--replicate-do-db=da", "--replicate-do-db=db", "--replicate-ignore-table=da.t2", "--replicate-wild-ignore-table=db.%x"])
    report.same("the variables", [node.variable(name) for name in ("replicate_do_db", "replicate_ignore_table", "replicate_wild_ignore_table")],
                ["da,db", "da.t2", "db.%x"])
    node.follow(primary)
    primary.rows(*use(LOAD))
    chain.catch_up()
    report.same("tables", has(node), {**WHOLE, "da.t2": None, "db.t_x": None})


def filters_of_the_primary(chain):
    """binlog_do_db and binlog_ignore_db on the primary."""
    primary = chain.primary
    primary.restart(["--log-slave-updates=1", "--binlog-ignore-db=db"])
    chain.follow()
    primary.rows(*use(LOAD))
    chain.catch_up()
    report.same("tables", has(chain.replica), {**WHOLE, "db.t1": None, "db.t_x": None})


def filtered_branch(chain):
    """The end of a branch whose tables are all filtered finds nothing, and is no error."""
    node = chain.replica
    chain.follow(start=False)
    node.rows("SET GLOBAL replicate_ignore_table='d.x'", "START SLAVE")
    chain.primary.rows("CREATE DATABASE d", "CREATE TABLE d.x (a INT PRIMARY KEY)", "CREATE TABLE d.t (a INT PRIMARY KEY)")
    for end in ("COMMIT", "ROLLBACK"):
        chain.primary.rows(f"XA START '{end}'", f"INSERT INTO d.x VALUES ({len(end)})", f"XA END '{end}'", f"XA PREPARE '{end}'", f"XA {end} '{end}'",
                           f"INSERT INTO d.t VALUES ({len(end)})")
    chain.catch_up()
    report.same("rows", node.value("SELECT COUNT(*) FROM d.t"), 2)
    report.same("branches", len(node.rows("XA RECOVER")), 0)
