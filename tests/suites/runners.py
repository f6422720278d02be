"""Runs each suite against a server and names its tests as left_out.tsv does.

A runner takes the port of a server and yields (name of the test, outcome): "passed", "failed" or "skipped". It changes
nothing in a suite but the address of the server.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import sources

# Seconds after which a suite is stopped; tests without a result then are missing, so the suite fails.
LONGEST = 900
HERE = os.path.dirname(os.path.abspath(__file__))
DJANGO = """
    backends introspection inspectdb schema migrations constraints indexes model_fields model_indexes queries
    aggregation aggregation_regress annotations expressions expressions_case expressions_window lookup ordering
    bulk_create get_or_create update delete transactions transaction_hooks select_for_update select_related
    datetimes dates db_functions generic_relations m2m_through many_to_many distinct_on_fields raw_query
    custom_columns custom_pk datatypes defer filtered_relation force_insert_update foreign_object
    from_db_value known_related_objects null_queries or_lookups xor_lookups prefetch_related timezones composite_pk
""".split()


def output(command, **options):
    """Returns a command's output. Its exit code is ignored, because the outcomes are more exact."""
    environment = {**os.environ, **options.pop("environment", {})}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          text=True, errors="replace", env=environment, timeout=LONGEST, **options)
    return done.stdout


def junit(path):
    """Returns the outcomes of a JUnit report."""
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        # SQLAlchemy appends the dialect and the server's version to a class name.
        kind = re.sub(r"_mariadb\+.*", "", case.get("classname").split(".")[-1])
        name = f"{kind}.{case.get('name')}"
        kinds = {child.tag for child in case}
        bad = kinds & {"failure", "error"}
        yield name, "failed" if bad else "skipped" if "skipped" in kinds else "passed"


def pymysql(port):
    path = sources.debian("trixie", "python-pymysql", "1.1.1-2")
    python = sources.python("pymysql-python", "pytest==8.4.2", "cryptography==46.0.3")
    databases = [{"host": "127.0.0.1", "port": port, "user": "root", "passwd": "", "database": name,
                  "use_unicode": True, "local_infile": True} for name in ("suite", "suite2")]
    with open(os.path.join(path, "pymysql/tests/databases.json"), "w") as file:
        json.dump(databases, file)
    report = os.path.join(path, "report.xml")
    output([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", "pymysql/tests"], cwd=path)
    yield from junit(report)


def sqlalchemy(port):
    path = sources.pypi("sqlalchemy", "2.0.44")
    python = sources.python("sqlalchemy-python", "pytest==8.4.2", "pymysql==1.1.2", "typing-extensions", "greenlet")
    report = os.path.join(path, "report.xml")
    address = f"mysql+pymysql://root@127.0.0.1:{port}/suite?charset=utf8mb4"
    output([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--dburi", address, f"--junitxml={report}",
            "test/dialect/mysql", "test/dialect/test_suite.py"], cwd=path, environment={"PYTHONPATH": "lib"})
    yield from junit(report)


def django(port):
    path = sources.pypi("django", "5.2.8")
    python = sources.python("django-python", "mysqlclient==2.2.7", "asgiref", "sqlparse", "tzdata", "jinja2", "pyyaml")
    with open(os.path.join(path, "tests/suite_settings.py"), "w") as file:
        options = f"dict(ENGINE='django.db.backends.mysql', HOST='127.0.0.1', PORT={port}, USER='root', " \
            "TEST=dict(CHARSET='utf8mb4', NAME='{}'))"
        file.write(f"DATABASES = {{'default': {options.format('suite')}, 'other': {options.format('suite2')}}}\n"
                   "SECRET_KEY = 'x'\nDEFAULT_AUTO_FIELD = 'django.db.models.AutoField'\nUSE_TZ = False\n"
                   "PASSWORD_HASHERS = ['django.contrib.auth.hashers.MD5PasswordHasher']\n")
    text = output([python, "runtests.py", "--settings=suite_settings", "--noinput", "--parallel=1", "-v2", *DJANGO],
                  cwd=os.path.join(path, "tests"), environment={"PYTHONPATH": path})
    seen = re.compile(r"^(\w+) \((?:[\w.]+?\.)?(\w+(?:\.\w+)?)\)(?:\n.*?)?? \.\.\. ", re.M)
    results = re.compile(r"^(ERROR|FAIL): (\w+) \((?:[\w.]+\.)?(\w+)\.\w+\)", re.M)
    failed = {f"{kind}.{name}" for _, name, kind in results.findall(text)}
    for name, kind in seen.findall(text):
        test = f"{kind.split('.')[0]}.{name}"
        if test not in failed:
            yield test, "passed"
    for test in failed:
        yield test, "failed"
    # If the setup of a class or module fails, the list has none of its tests.
    for where in re.findall(r"^ERROR: (?:setUpClass|tearDownClass) \((.*?)\)", text, re.M):
        yield f"setup of {where}", "failed"
    if not re.search(r"^Ran \d+ tests", text, re.M):
        print(text[-3000:], file=sys.stderr)
        yield "end of the run", "failed"


def go_sql_driver(port):
    path = sources.go("github.com/go-sql-driver/mysql", "v1.9.3")
    # The test that is left out connects to an address outside this machine.
    command = ["go", "test", "-json", "-count=1", "-timeout=300s", "-skip=TestConnectorReturnsTimeout", "./..."]
    text = output(command, cwd=path, environment={
        "MYSQL_TEST_USER": "root", "MYSQL_TEST_PASS": "", "MYSQL_TEST_PROT": "tcp",
        "MYSQL_TEST_ADDR": f"127.0.0.1:{port}", "MYSQL_TEST_DBNAME": "suite"})
    outcomes = {"pass": "passed", "fail": "failed", "skip": "skipped"}
    for line in text.splitlines():
        event = json.loads(line) if line.startswith("{") else {}
        if "Test" in event and event.get("Action") in outcomes:
            yield event["Test"], outcomes[event["Action"]]


def dbd_mariadb(port):
    path = sources.debian("bookworm", "libdbd-mariadb-perl", "1.22-1")
    if not os.path.exists(os.path.join(path, "blib/arch/auto/DBD/MariaDB/MariaDB.so")):
        sources.run("perl", "Makefile.PL", "--testhost=127.0.0.1", f"--testport={port}", "--testuser=root",
                    "--testdb=suite", "--testsocket=", cwd=path)
        sources.run("make", cwd=path)
    environment = {"DBD_MARIADB_TESTHOST": "127.0.0.1", "DBD_MARIADB_TESTPORT": str(port),
                   "DBD_MARIADB_TESTUSER": "root", "DBD_MARIADB_TESTDB": "suite"}
    settings = os.path.join(path, "t/MariaDB.mtest")
    with open(settings) as file:
        text = re.sub(r"('testport' => )'?\d+'?", rf"\g<1>'{port}'", file.read())
    with open(settings, "w") as file:
        file.write(text)
    for name in sorted(os.listdir(os.path.join(path, "t"))):
        if name.endswith(".t"):
            yield from tap(name, output(["perl", "-Mblib", f"t/{name}"], cwd=path, environment=environment))


def tap(name, text):
    """Returns the outcomes of one file in the Test Anything Protocol: numbered points, all those of its plan."""
    points = re.findall(r"^(not ok|ok) (\d+)(.*)$", text, re.M)
    for outcome, number, rest in points:
        todo = re.search(r"# *(todo|skip)", rest, re.I)
        yield f"{name}#{number}", "skipped" if todo else "passed" if outcome == "ok" else "failed"
    plan = re.search(r"^1\.\.(\d+)(.*)$", text, re.M)
    if not plan or int(plan[1]) != len(points):
        yield f"{name}#end", "failed"


def connector_j(port):
    path = sources.debian("bookworm", "mariadb-connector-java", "2.7.6-1")
    reports = os.path.join(path, "target/surefire-reports")
    shutil.rmtree(reports, ignore_errors=True)
    address = f"jdbc:mariadb://127.0.0.1:{port}/testj?user=root"
    output(["mvn", "-q", "-B", "-Djacoco.skip=true", "-DskipFormat=true", f"-DdbUrl={address}", "test"], cwd=path)
    for name in os.listdir(reports):
        if name.startswith("TEST-"):
            yield from junit(os.path.join(reports, name))


SUITES = {
    "pymysql": pymysql,
    "sqlalchemy": sqlalchemy,
    "django": django,
    "go-sql-driver": go_sql_driver,
    "dbd-mariadb": dbd_mariadb,
    "connector-j": connector_j,
}
