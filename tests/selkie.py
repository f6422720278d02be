"""Starts and stops a server for tests: a private data directory, loopback, a free port."""

import contextlib
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pymysql


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server process. `options` are passed to `serve` unchanged; `files` limits its open files."""

    def __init__(self, binary, datadir=None, options=(), log=None, files=None):
        self.binary = binary
        self.root = tempfile.mkdtemp(prefix="selkie-test-")
        self.datadir = datadir or os.path.join(self.root, "data")
        self.socket = os.path.join(self.root, "s.sock")
        self.port = free_port()
        self.options = list(options)
        # The log that an option names, instead of the default file.
        self.own_log = log
        self.files = files
        self.process = None

    def start(self, seconds=60):
        log = open(os.path.join(self.root, "server.log"), "ab")
        arguments = [self.binary, "serve", "--no-defaults", f"--datadir={self.datadir}", f"--port={self.port}",
                     f"--socket={self.socket}", "--bind-address=127.0.0.1", *self.options]
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (self.files,) * 2)) if self.files else None
        self.process = subprocess.Popen(arguments, stdout=log, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=limit)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"server ended with {self.process.returncode}:\n{self.log()}")
            with contextlib.suppress(pymysql.MySQLError, OSError):
                self.connect().close()
                return self
            time.sleep(0.05)
        self.kill()
        raise RuntimeError(f"server did not answer in {seconds} s:\n{self.log()}")

    def connect(self, **options):
        options = {"user": "root", "charset": "utf8mb4", "autocommit": True, **options}
        return pymysql.connect(host="127.0.0.1", port=self.port, connect_timeout=10, **options)

    def kill(self):
        """kill -9, without a clean shutdown."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self, seconds=60):
        """A clean shutdown, which must end with exit code 0."""
        self.process.terminate()
        code = self.process.wait(seconds)
        if code != 0:
            raise RuntimeError(f"server ended with {code}:\n{self.log()}")
        self.check_panics()

    def panics(self):
        """Returns lines of the log about a panic or a broken thread."""
        told = ("panicked at", "has overflowed its stack", "panic ended statement")
        found = []
        for path in (os.path.join(self.root, "server.log"), self.own_log):
            if path and os.path.exists(path):
                with open(path, errors="replace") as log:
                    found += [line for line in log if any(word in line for word in told)]
        return found

    def check_panics(self):
        """Fails if a statement ended in a panic, whatever its client was told."""
        panics = self.panics()
        if panics:
            raise RuntimeError("the server panicked:\n" + "".join(panics[:20]))

    def log(self):
        with open(os.path.join(self.root, "server.log"), errors="replace") as log:
            return "".join(log.readlines()[-40:])

    def remove(self, panics_fail=True):
        if self.process and self.process.poll() is None:
            self.kill()
        panics = self.panics() if panics_fail else []
        shutil.rmtree(self.root, ignore_errors=True)
        # Another error in progress is more important.
        if panics and sys.exc_info()[0] is None:
            raise RuntimeError("the server panicked:\n" + "".join(panics[:20]))


def run_beside(server, command):
    """Runs the command, then stops the server; if the command fails, exits with its code."""
    code = subprocess.call(command)
    if code:
        print(server.log(), file=sys.stderr)
        raise SystemExit(code)
    server.stop()
