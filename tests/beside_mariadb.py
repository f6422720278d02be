"""Runs a command with the ports of a fresh server and of a private MariaDB, and stops both in every case.

The ports, MariaDB's second, are inserted after the command's first word that is a script.
MariaDB listens on loopback; its private data directory has only root, without a password.

usage: beside_mariadb.py BINARY COMMAND [ARGUMENT ...]
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

import pymysql

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from selkie import Server, free_port, run_beside  # noqa: E402

# Debian installs the server in a directory that is in root's path only.
PATH = os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"


class MariaDb:
    """A MariaDB server process. `options` are passed to it unchanged. It may be started again after its end."""

    def __init__(self, options=()):
        self.options = list(options)
        self.root = tempfile.mkdtemp(prefix="mariadb-test-")
        self.datadir = os.path.join(self.root, "data")
        self.port, self.process = free_port(), None

    def install(self, options=()):
        """Makes the data directory."""
        user = ["--user=root"] if os.geteuid() == 0 else []
        done = subprocess.run([tool("mariadb-install-db"), "--no-defaults", *user, f"--datadir={self.datadir}", "--skip-test-db",
                               "--auth-root-authentication-method=normal", *options], text=True, env=self.environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise RuntimeError(f"mariadb-install-db failed:\n{done.stdout}")

    def environment(self):
        """A MariaDB that starts removes the temporary tables in its directory for them, also those of others."""
        temporary = os.path.join(self.root, "tmp")
        os.makedirs(temporary, exist_ok=True)
        return {**os.environ, "TMPDIR": temporary}

    def start(self, seconds=120):
        user = ["--user=root"] if os.geteuid() == 0 else []
        if not os.path.exists(self.datadir):
            self.install()
        with open(os.path.join(self.root, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [tool("mariadbd"), "--no-defaults", *user, f"--datadir={self.datadir}", f"--port={self.port}",
                 "--bind-address=127.0.0.1", f"--socket={self.root}/s.sock", f"--pid-file={self.root}/pid",
                 "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci",
                 "--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=2",
                 *self.options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment())
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(pymysql.MySQLError, OSError):
                pymysql.connect(host="127.0.0.1", port=self.port, user="root", connect_timeout=10).close()
                return self
            time.sleep(0.1)
        raise RuntimeError(f"MariaDB did not answer in {seconds} s:\n{self.log()}")

    def log(self):
        with open(os.path.join(self.root, "log"), errors="replace") as log:
            return "".join(log.readlines()[-20:])

    def connect(self, **options):
        options = {"user": "root", "charset": "utf8mb4", "autocommit": True, **options}
        return pymysql.connect(host="127.0.0.1", port=self.port, connect_timeout=10, **options)

    def kill(self):
        """kill -9, without a clean shutdown."""
        self.process.kill()
        self.process.wait()

    def stop(self, seconds=60):
        """A clean shutdown."""
        self.process.terminate()
        self.process.wait(seconds)

    def remove(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.root, ignore_errors=True)


def tool(name):
    found = shutil.which(name, path=PATH)
    if not found:
        raise SystemExit(f"beside_mariadb: no {name}; tests/run.sh install installs it")
    return found


def main():
    binary, *command = sys.argv[1:]
    script = next(at for at, word in enumerate(command) if word.endswith((".py", ".sh")))
    reference, server = MariaDb(), Server(binary)
    try:
        reference.start()
        server.start()
        command[script + 1:script + 1] = [str(server.port), str(reference.port)]
        run_beside(server, command)
    finally:
        server.remove()
        reference.remove()


if __name__ == "__main__":
    main()
