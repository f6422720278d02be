"""Real applications from Debian's packages and of Django, unmodified, driven through a proxy that compares with a MariaDB.

usage: run.py BINARY [--show] [APPLICATION ...]

Each application is set up and used on a fresh server (mirror.py sends its statements to both servers). The run fails if a
page or a tool of it fails, or if an answer differs from MariaDB's and is not in differs.tsv (application or *, kind,
pattern over "statement ## difference", reason). An entry that matches nothing also fails the run, if all applications
ran. --show prints every difference and fails for none. Needs Debian and root; installs the applications' packages.
Takes 8 minutes.

Applications look for updates and for devices of a network by themselves. Therefore everything, also the servers, runs in
a network namespace with loopback only. Without such a namespace nothing runs.
"""

import fnmatch
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import cacti  # noqa: E402
import django_site  # noqa: E402
import mediawiki  # noqa: E402
import phpmyadmin  # noqa: E402
import spirit  # noqa: E402
import wagtail  # noqa: E402
import wiki  # noqa: E402
import wordpress  # noqa: E402
from beside_mariadb import MariaDb  # noqa: E402
from mirror import Mirror  # noqa: E402
from selkie import Server  # noqa: E402

APPLICATIONS = {"wordpress": wordpress, "phpmyadmin": phpmyadmin, "cacti": cacti, "mediawiki": mediawiki, "spirit": spirit,
                "wagtail": wagtail, "wiki": wiki}
DIFFERS = os.path.join(HERE, "differs.tsv")
SHOWN = 30
# Environment variable of the process inside the network namespace.
APART = "SELKIE_APPLICATIONS_APART"
# A process namespace too: processes that an application leaves end with the run.
UNSHARE = ("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
# Packages that would set up a database of their own.
ASKING = ("phpmyadmin", "cacti")


class Place:
    """A folder and a database server for an application."""

    def __init__(self, folder, port):
        self.folder, self.port, self.log = folder, port, os.path.join(folder, "pages.log")

    def client(self, script, *arguments):
        """Runs a script with the command line client."""
        done = subprocess.run(["mariadb", "--no-defaults", "--skip-ssl", "-h127.0.0.1", f"-P{self.port}", "-uroot", *arguments],
                              input=script.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise RuntimeError(f"client: {done.stdout.decode(errors='replace')[-500:]}")

    def sql(self, statement):
        self.client(statement)

    @staticmethod
    def copy(source, target):
        """Copies a folder with the targets of its links. Links of packages to files that are not installed are left out."""
        subprocess.run(["cp", "-rL", source, target], stderr=subprocess.DEVNULL)


def packages(applications):
    """Installs missing Debian packages without starting services or creating databases."""
    wanted = sorted({"iproute2", *(name for application in applications for name in application.PACKAGES)})
    have = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Abbrev}\n", *wanted], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    for application in applications:
        if hasattr(application, "REQUIREMENTS"):
            django_site.environment(os.path.join(HERE, "requirements", application.REQUIREMENTS))
    missing = [name for name in wanted if f"{name} ii" not in have]
    if not missing:
        return
    answers = "".join(f"{name} {name}/dbconfig-install boolean false\n" for name in ASKING)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    subprocess.run(["debconf-set-selections"], input=answers.encode(), check=True)
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *missing]):
        subprocess.run(["apt-get", *command], check=True, env=environment, stdout=subprocess.DEVNULL)


def apart():
    """Continues in namespaces with loopback only: an application can reach no other machine, and none of its processes stays."""
    if os.environ.get(APART) != "1":
        os.execvpe("unshare", [*UNSHARE, sys.executable, *sys.argv], {**os.environ, APART: "1"})
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    interfaces = [name for _, name in socket.if_nameindex()]
    if interfaces != ["lo"]:
        sys.exit(f"applications: not apart from the network: {interfaces}")


def known():
    with open(DIFFERS) as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    return [(application, kind, re.compile(pattern, re.IGNORECASE | re.DOTALL)) for application, kind, pattern, _ in rows]


def shortened(statement):
    """Returns the begin of a statement, and its end: what it orders by."""
    return statement if len(statement) < 700 else f"{statement[:400]} ... {statement[-300:]}"


def judge(name, found, entries, used):
    """Returns the differences that no entry explains, as lines."""
    left = []
    for (kind, _), differences in found.items():
        for difference in differences:
            text = f"{difference.statement} ## {difference.detail}"
            matching = [n for n, (application, of_kind, pattern) in enumerate(entries)
                        if fnmatch.fnmatch(name, application) and fnmatch.fnmatch(kind, of_kind) and pattern.search(text)]
            used.update(matching)
            if not matching:
                left.append(f"{name}: {kind} x{len(differences)}: {shortened(difference.statement)}\n    {difference.detail[:600]}")
                break
    return left


def drive(name, binary, entries, used):
    """Runs one application and returns its faults, as lines."""
    server, reference, folder = Server(binary), MariaDb(), tempfile.mkdtemp(prefix="application-")
    try:
        server.start()
        reference.start()
        mirror = Mirror(server.port, reference.port)
        place = Place(folder, mirror.port)
        started = time.monotonic()
        browser = APPLICATIONS[name].drive(place)
        found, statements = mirror.taken()
        mirror.close()
        print(f"{name}: {browser.checks - len(browser.failed)} of {browser.checks} checks, {statements} statements, "
              f"{len(found)} shapes differ, {time.monotonic() - started:.0f} s", flush=True)
        return [f"{name}: {failed}" for failed in browser.failed] + judge(name, found, entries, used)
    finally:
        server.remove()
        reference.remove()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--show"]
    binary, *names = arguments
    names, show = names or list(APPLICATIONS), "--show" in sys.argv
    if os.environ.get(APART) != "1":
        packages([APPLICATIONS[name] for name in names])
    apart()
    entries, used = [] if show else known(), set()
    faults = [fault for name in names for fault in drive(name, binary, entries, used)]
    if len(names) == len(APPLICATIONS):
        faults += [f"differs.tsv: nothing matches {entries[n][2].pattern}" for n in range(len(entries)) if n not in used]
    print("\n".join(faults if show else faults[:SHOWN]))
    print(f"applications: {len(faults)} faults")
    sys.exit(bool(faults) and not show)


if __name__ == "__main__":
    main()
