"""Runs MariaDB's own tests against fresh servers and reports which pass.

A test passes if the real test client succeeds and its output equals the expected result byte for
byte. Needs Debian's mariadb-test, mariadb-test-data, mariadb-client and patch.

usage: run.py BINARY [--jobs N] [--timeout SECONDS] [--keep DIRECTORY] [--must-pass]
              [--budget SECONDS] [--seed N] [CATEGORY | TEST | FILE ...]
"""

import argparse
import collections
import glob
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from scratch import Scratch
from suite import ROOT, Case

HERE = os.path.dirname(os.path.abspath(__file__))
SHARE = "/usr/share/mysql"
PLUGINS = "/usr/lib/mysql/plugin"
TOOLS = {"MYSQL": "mariadb", "MYSQL_CHECK": "mariadb-check", "MYSQL_IMPORT": "mariadb-import",
         "MYSQL_DUMP": "mariadb-dump", "MYSQL_SHOW": "mariadb-show", "MYSQLADMIN": "mariadb-admin",
         "MYSQL_SLAP": "mariadb-slap", "MYSQL_BINLOG": "mariadb-binlog",
         "MYSQL_UPGRADE": "mariadb-upgrade"}


def categories():
    """Returns {test: category} of the known tests."""
    with open(f"{HERE}/tests.tsv") as file:
        return dict(line.rstrip("\n").split("\t") for line in file)


def chosen(words, known):
    tests = []
    for word in words or sorted(set(known.values())):
        if os.path.isfile(word):
            with open(word) as file:
                tests += [line.split()[0] for line in file if line.strip() and line[0] != "#"]
        elif "." in word:
            tests.append(word)
        else:
            found = [test for test, category in known.items() if category == word]
            tests += found or sys.exit(f"no category {word}")
    return tests


class Runner:
    """One job: a server and the client that runs against it."""

    def __init__(self, arguments, root):
        self.arguments, self.root = arguments, root
        self.scratch = Scratch(arguments.binary, root)
        self.config = f"{root}/client.cnf"
        self.write_config()

    def write_config(self):
        port = self.scratch.server.port
        client = (f"host=127.0.0.1\nport={port}\nprotocol=tcp\nuser=root\npassword=\n"
                  f"socket={self.scratch.var}/tmp/mysqld.1.sock\n"
                  f"character-sets-dir={SHARE}/charsets\nplugin-dir={PLUGINS}\n")
        with open(self.config, "w") as file:
            file.write(f"[client]\n{client}[client.1]\n{client}[mysqld.1]\nport={port}\n")
            for name in ("mysql", "mysqlshow", "mysqlimport", "mysqlcheck", "mysql_upgrade"):
                file.write(f"[{name}]\ndefault-character-set=latin1\n")
            data = f"{ROOT}/std_data"
            file.write(f"[mysqltest]\nssl-ca={data}/cacert.pem\nssl-cert={data}/client-cert.pem\n"
                       f"ssl-key={data}/client-key.pem\nloose-skip-ssl\n[mysqlslap]\nloose-skip-ssl\n")

    def environment(self, case):
        var = self.scratch.var
        tools = {name: f"{tool} --defaults-file={self.config}" for name, tool in TOOLS.items()}
        files = {os.path.basename(so)[:-3].upper() + "_SO": os.path.basename(so)
                 for so in glob.glob(f"{PLUGINS}/*.so")}
        variants = {f"MTR_COMBINATION_{c.upper()}": "1" for c in case.combinations}
        return dict(
            os.environ, **tools, **files, **variants, LC_ALL="C", USE_RUNNING_SERVER="0", USER="root",
            MYSQL_TEST_DIR=ROOT, MYSQLTEST_VARDIR=var, MYSQLTEST_REAL_VARDIR=var,
            MYSQL_TMP_DIR=f"{var}/tmp", MYSQL_BINDIR="/usr", MYSQL_SHAREDIR=SHARE,
            MYSQL_CHARSETSDIR=f"{SHARE}/charsets", SECURE_LOAD_PATH=f"{ROOT}/std_data",
            MASTER_MYPORT=str(self.scratch.server.port), DEFAULT_MASTER_PORT="3306",
            MASTER_MYSOCK=f"{var}/tmp/mysqld.1.sock", SLAVE_MYPORT="0", BIG_TEST="", STAGING_RUN="0",
            MTR_LOG_ERROR=f"{var}/log/mysqld.1.err", VALGRIND_TEST="0", MYSQL_EMBEDDED="",
            MARIADB_DATADIR=f"{var}/mysqld.1/data", MTR_TEST_NAME=case.name,
            MTR_SUITE_DIR=case.include, MTR_COMBINATIONS=",".join(case.combinations),
            MYSQL_TEST_ROOT="1" if os.geteuid() == 0 else "0", ENGINE="InnoDB")

    def run(self, name):
        """Returns (passed, seconds, reason of the failure)."""
        begun = time.monotonic()
        case = Case(name)
        expected = case.expected()
        if not self.scratch.alive():
            self.scratch.start()
        self.scratch.clean()
        self.scratch.apply(case.options)
        code, output, messages = self.client(case)
        passed = code == 0 and output == expected
        why = "" if passed else self.difference(expected or b"", output, code, messages)
        panics = self.scratch.server.panics()
        if panics:
            passed, why = False, f"THE SERVER PANICKED {panics[0].strip()[:200]} {why}"
        if not passed:
            self.keep(name, expected or b"", output)
            if not self.scratch.alive():
                why = "THE SERVER DIED " + why
            self.scratch.start()
        return passed, time.monotonic() - begun, why

    def client(self, case):
        result, log = f"{self.root}/out.result", f"{self.root}/out.log"
        for path in (result, log):
            if os.path.exists(path):
                os.unlink(path)
        command = ["mariadb-test", f"--defaults-file={self.config}", "--silent", "--protocol=tcp",
                   f"--tmpdir={self.scratch.var}/tmp", f"--character-sets-dir={SHARE}/charsets",
                   f"--logdir={self.root}", "--database=test", f"--timer-file={self.root}/timer",
                   f"--suite-dir={case.include}/", "--max-connect-retries=20",
                   "--connect-timeout=20", "--tail-lines=0"]
        environment = self.environment(case)
        environment["MYSQL_TEST"] = " ".join(command)
        command += ["--record", f"--result-file={result}", f"--test-file={case.path}"]
        with open(f"{self.root}/messages", "w+b") as messages:
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=messages,
                                       stderr=messages, stdin=subprocess.DEVNULL,
                                       start_new_session=True)
            try:
                code = process.wait(self.arguments.timeout)
            except subprocess.TimeoutExpired:
                code = "no answer"
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            messages.seek(0)
            text = messages.read().decode("utf-8", "replace").strip()
        for path in (result, log):
            if os.path.exists(path) and os.path.getsize(path):
                with open(path, "rb") as file:
                    return code, file.read(), text
        return code, b"", text

    @staticmethod
    def difference(expected, output, code, messages):
        wanted, got = expected.split(b"\n"), output.split(b"\n")
        at = next((i for i, (w, g) in enumerate(zip(wanted, got)) if w != g),
                  min(len(wanted), len(got)))
        show = lambda lines: lines[at].decode("utf-8", "replace")[:200] if at < len(lines) else "end"
        note = "" if code == 0 else f" [{code}: {messages[-200:]}]"
        return f"line {at + 1}: expected {show(wanted)!r}, got {show(got)!r}{note}".replace("\n", " ")

    def keep(self, name, expected, output):
        if self.arguments.keep:
            base = os.path.join(self.arguments.keep, name.replace("/", "-"))
            for suffix, content in ((".expected", expected), (".actual", output)):
                with open(base + suffix, "wb") as file:
                    file.write(content)


def within(tests, arguments):
    """Returns as many tests as fit into the time, in an order that depends on the seed."""
    if arguments.budget:
        random.Random(arguments.seed).shuffle(tests)
    return tests


def work(runner, todo, results, arguments, begun):
    while not (arguments.budget and time.monotonic() - begun > arguments.budget):
        try:
            name = todo.get_nowait()
        except queue.Empty:
            return
        try:
            results[name] = runner.run(name)
        except Exception as error:  # a failing harness fails the test, not the others
            results[name] = (False, 0.0, f"harness: {error!r}")
        passed, seconds, why = results[name]
        if not passed or not arguments.must_pass:
            print(f"{'pass' if passed else 'FAIL'} {seconds:6.2f} {name}  {why}", flush=True)


def report(results, known):
    table = collections.defaultdict(lambda: [0, 0])
    for name, (passed, _, _) in results.items():
        row = table[known.get(name, "other")]
        row[0] += passed
        row[1] += 1
    for category, (passed, count) in sorted(table.items()):
        print(f"{category:30} {passed:4} of {count:4}")
    print(f"{'all':30} {sum(r[0] for r in table.values()):4} of {len(results):4}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("what", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--budget", type=float, default=0, help="start no test after so long")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", help="where output of failed tests goes")
    parser.add_argument("--passed", help="where names of passed tests go")
    parser.add_argument("--must-pass", action="store_true", help="any failure is an error")
    arguments = parser.parse_intermixed_args()
    for tool in ("mariadb-test", "mariadb", "patch"):
        shutil.which(tool) or sys.exit(f"{tool} is missing")
    if arguments.keep:
        os.makedirs(arguments.keep, exist_ok=True)
    known = categories()
    tests = within(chosen(arguments.what, known), arguments)
    todo, results, begun = queue.Queue(), {}, time.monotonic()
    for name in tests:
        todo.put(name)
    with tempfile.TemporaryDirectory(prefix="selkie-conformance-") as root:
        runners = [Runner(arguments, f"{root}/{job}") for job in range(arguments.jobs)]
        threads = [threading.Thread(target=work, args=(r, todo, results, arguments, begun))
                   for r in runners]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for runner in runners:
            runner.scratch.stop()
    if arguments.passed:
        with open(arguments.passed, "w") as file:
            file.writelines(f"{name}\n" for name in sorted(n for n, r in results.items() if r[0]))
    report(results, known)
    print(f"{len(results)} of {len(tests)} tests run, seed {arguments.seed}")
    failed = [name for name, result in results.items() if not result[0]]
    sys.exit(1 if failed and arguments.must_pass else 0)


if __name__ == "__main__":
    main()
