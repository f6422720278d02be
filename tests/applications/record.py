"""Records an application's page views for `selkie bench replay`.

usage: record.py BINARY APPLICATION OUT

The application of run.py is set up and filled on a fresh server, then its pages are viewed through `selkie bench record`.
OUT gets a recording KIND.txt for each kind of page, and setup.sql, which creates the application's database as it was when
the recordings began. Replay one with

    selkie bench replay OUT/KIND.txt --setup OUT/setup.sql --servers selkie,mariadb

A page of a replay is a connection: an application that opens two for each view has two pages for it. Views write too, in
some applications: sessions, counters, times of last visits. A view played again writes the same again.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import run
from selkie import Server, free_port

# Views of each page that fill the application's caches before the recording.
UNRECORDED = 2


class Recorder:
    """The port between an application and its server: records what passes into a file at a time."""

    def __init__(self, binary, server):
        self.binary, self.server, self.port = binary, server, free_port()

    @contextlib.contextmanager
    def into(self, path):
        process = subprocess.Popen([self.binary, "bench", "record", path, f"--port={self.port}",
                                    f"--server=127.0.0.1:{self.server}"], stdout=subprocess.DEVNULL)
        try:
            self.wait(process)
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()

    def wait(self, process):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            time.sleep(0.05)
        raise RuntimeError("the recorder did not start")


def dump(port, databases, path):
    """Writes the statements of databases. Each ends with ; and the end of a line, and all are printable text."""
    with open(path, "wb") as out:
        subprocess.run(["mariadb-dump", "--no-defaults", "--skip-ssl", "-h127.0.0.1", f"-P{port}", "-uroot", "--skip-comments",
                        "--hex-blob", "--skip-triggers", "--skip-tz-utc", "--databases", *databases], stdout=out, check=True)


def log_into(database, path):
    """Names the database at the logins of a recording too: a replay sends statements of one kind on connections of their own."""
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(re.sub(r"(?m)^connect$", f"connect {database}", text))


def view(browser, paths):
    for path in paths:
        browser.get(path)


def record(application, binary, out, folder, server):
    recorder = Recorder(binary, server.port)
    place = run.Place(folder, recorder.port)
    with contextlib.ExitStack() as stack:
        with recorder.into(os.path.join(folder, "unrecorded")):
            owner = stack.enter_context(application.running(place))
            kinds = application.pages(owner, place)
            for browser, paths in list(kinds.values()) * UNRECORDED:
                view(browser, paths)
        dump(server.port, getattr(application, "DATABASES", [application.DATABASE]), os.path.join(out, "setup.sql"))
        for kind, (browser, paths) in kinds.items():
            path = os.path.join(out, f"{kind}.txt")
            with recorder.into(path):
                view(browser, paths)
            log_into(application.DATABASE, path)
            print(f"{kind}: {len(paths)} pages", flush=True)
        browsers = {id(browser): browser for browser in [owner, *(browser for browser, _ in kinds.values())]}
        return [failed for browser in browsers.values() for failed in browser.failed]


def main():
    binary, name, out = sys.argv[1:]
    application = run.APPLICATIONS[name]
    if os.environ.get(run.APART) != "1":
        run.packages([application])
    run.apart()
    os.makedirs(out, exist_ok=True)
    server, folder = Server(binary), tempfile.mkdtemp(prefix="application-")
    try:
        server.start()
        failed = record(application, binary, out, folder, server)
    finally:
        server.remove()
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(failed) or f"recorded {name}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
