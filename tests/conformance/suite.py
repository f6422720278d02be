"""Finds MariaDB's own tests as Debian's mariadb-test-data installs them: the file of a test, the
server options it asks for, its expected result.

Only reads. This project stores nothing of those files except their names.
"""

import os
import re
import shlex
import subprocess
import tempfile

ROOT = "/usr/share/mysql/mysql-test"
# Of a test's variants, the one for a server that is started once with default settings.
VARIANTS = {"nm", "unix", "64bit", "release", "binlogoff", "16k", "lcase_def", "dynamic", "orig",
            "innodb", "clear", "covering", "1tpc", "timestamp"}


def read(path):
    try:
        with open(path, encoding="latin-1") as file:
            return file.read()
    except OSError:
        return ""


def suite_directory(suite):
    if suite == "main":
        return f"{ROOT}/main"
    for path in [f"{ROOT}/suite/{suite}"] + [
            f"{ROOT}/plugin/{p}/{suite}" for p in sorted(os.listdir(f"{ROOT}/plugin"))]:
        if os.path.isdir(path):
            return path
    raise SystemExit(f"no suite {suite}")


def combination_groups(path):
    """Returns {name: options} of a file of variants."""
    groups, name = {}, None
    for line in map(str.strip, read(path).splitlines()):
        if line.startswith("["):
            name = line.strip("[]")
            groups[name] = []
        elif name and line and not line.startswith("#"):
            groups[name].append("--" + line.lstrip("-"))
    return groups


# Options that a suite expects its runner to set for this server's transactional engine.
ENGINE_OPTIONS = {"storage_engine/trx": ["--innodb-lock-wait-timeout=1"]}


class Case:
    """One test: its file, the files around it, its options."""

    def __init__(self, name):
        self.name = name
        suite, _, self.short = name.partition(".")
        self.directory = suite_directory(suite)
        sub = lambda kind: next((d for d in (f"{self.directory}/{kind}", self.directory)
                                 if os.path.isdir(d)))
        self.tests, self.results = sub("t"), sub("r")
        self.include = ROOT if suite == "main" else self.directory
        self.path = f"{self.tests}/{self.short}.test"
        if not os.path.isfile(self.path):
            raise SystemExit(f"no test {name}")
        self.options, self.combinations = list(ENGINE_OPTIONS.get(suite, ())), []
        self.add_config(f"{self.directory}/my.cnf")
        self.add_options(f"{self.directory}/suite.opt")
        self.scan(self.path, set())
        self.add_combination(f"{self.directory}/combinations")

    def scan(self, path, seen):
        """Follows the files that a test includes; each may add options and variants."""
        seen.add(path)
        for line in read(path).splitlines():
            found = re.match(r"\s*(?:--)?\s*source\s+([^;\s]+)", line)
            if not found:
                continue
            for base in (os.path.dirname(path), self.include, self.directory, ROOT):
                file = os.path.normpath(f"{base}/{found.group(1)}")
                if os.path.isfile(file):
                    if file not in seen:
                        self.scan(file, seen)
                    break
        stem = os.path.splitext(path)[0]
        self.add_options(stem + ".opt")
        self.add_options(stem + "-master.opt")
        self.add_combination(stem + ".combinations")

    def add_config(self, path):
        """Adds server settings from a suite's option file."""
        server = False
        for line in map(str.strip, read(path).splitlines()):
            if line.startswith("["):
                server = line.startswith(("[mysqld", "[server"))
            elif server and re.match(r"[\w-]+\s*=", line):
                self.options.append("--" + re.sub(r"\s*=\s*", "=", line, count=1))

    def add_options(self, path):
        try:
            words = shlex.split(read(path), comments=False)
        except ValueError:
            words = read(path).split()
        self.options += [word for word in words if word.startswith("--")]

    def add_combination(self, path):
        groups = combination_groups(path)
        if groups:
            empty = next((g for g in groups if not groups[g]), next(iter(groups)))
            picked = next((g for g in groups if g in VARIANTS), empty)
            self.combinations.append(picked)
            self.options = groups[picked] + self.options

    def expected(self):
        """Returns the bytes of the expected result, or None."""
        plain, best = None, None
        for file in sorted(os.listdir(self.results)):
            found = re.fullmatch(re.escape(self.short) + r"((?:,[-\w.+]+)*)\.(rdiff|result)", file)
            if not found:
                continue
            wanted = [c for c in found.group(1).split(",") if c]
            if all(c in self.combinations for c in wanted):
                rank = (-len(wanted), found.group(2) == "rdiff")
                best = min(best or (rank, file), (rank, file))
                if found.group(2) == "result":
                    plain = min(plain or (rank, file), (rank, file))
        if best is None or plain is None:
            return None
        return self.patched(plain[1], best[1])

    def patched(self, base, file):
        if file.endswith(".result"):
            with open(f"{self.results}/{file}", "rb") as result:
                return result.read()
        with tempfile.NamedTemporaryFile(suffix=".result") as out:
            code = subprocess.call(["patch", "-s", "-f", "-o", out.name, f"{self.results}/{base}",
                                    f"{self.results}/{file}"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return out.read() if code == 0 else None
