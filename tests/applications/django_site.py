"""Applications of Django: an environment of pinned packages for each, a project with its settings, and its commands."""

import contextlib
import os
import re
import subprocess
import venv

import web

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "selkie-tests", "applications")
# The driver without a compiler's work, under the name that Django asks for, and with the oldest version it accepts.
DRIVER = "import pymysql\npymysql.version_info = (2, 2, 1, 'final', 0)\npymysql.install_as_MySQLdb()\n"
FAULT = re.compile(r"Traceback|OperationalError|ProgrammingError|DatabaseError|IntegrityError|DataError|Server Error \(500\)")


def environment(requirements):
    """Makes the environment of a file of requirements if it is not there."""
    folder = os.path.join(CACHE, os.path.splitext(os.path.basename(requirements))[0])
    stamp = os.path.join(folder, "requirements")
    with open(requirements) as file:
        wanted = file.read()
    if os.path.exists(stamp) and open(stamp).read() == wanted:
        return
    venv.create(folder, clear=True, with_pip=True)
    subprocess.run([os.path.join(folder, "bin", "pip"), "install", "-q", "--no-deps", "--disable-pip-version-check",
                    "-r", requirements], check=True)
    with open(stamp, "w") as file:
        file.write(wanted)


class Project:
    """A project in a folder, whose package of settings is `site`."""

    def __init__(self, name, place, database):
        self.bin = os.path.join(CACHE, name, "bin")
        self.folder, self.log = os.path.join(place.folder, "project"), place.log
        self.settings = {"default": {
            "ENGINE": "django.db.backends.mysql", "NAME": database, "USER": "root", "PASSWORD": "", "HOST": "127.0.0.1",
            "PORT": str(place.port), "OPTIONS": {"charset": "utf8mb4"}}}
        os.makedirs(self.folder)

    def run(self, program, *arguments, script=None):
        """Runs a program of the environment, and returns its exit code and its output."""
        done = subprocess.run([os.path.join(self.bin, program), *arguments], cwd=self.folder, input=(script or "").encode(),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                              env={**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"})
        return done.returncode, done.stdout.decode(errors="replace")

    def begin(self, program, *arguments):
        """Makes the files of the project with a program of the environment."""
        code, told = self.run(program, *arguments, self.folder)
        if code:
            raise RuntimeError(told)
        self.write("mysite/__init__.py", DRIVER)

    def manage(self, *arguments, script=None):
        return self.run("python", "manage.py", *arguments, script=script)

    def must(self, *arguments, script=None):
        code, told = self.manage(*arguments, script=script)
        if code:
            raise RuntimeError(f"manage.py {arguments}: {told[-2000:]}")
        return told

    def write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a") as file:
            file.write(text)

    @contextlib.contextmanager
    def served(self):
        """Returns the address of the project's web server, which handles a request at a time."""
        port = web.free_port()
        command = [os.path.join(self.bin, "python"), "manage.py", "runserver", "--noreload", "--nothreading", f"127.0.0.1:{port}"]
        with web.listening(command, port, self.folder, self.log, {}) as address:
            yield address


class Visitor(web.Browser):
    """A browser that sends forms with Django's token, and knows the words of its faults."""

    def get(self, path, want=None, what=None, fault=FAULT):
        return super().get(path, want, what, fault)

    def post(self, path, fields, want=None, what=None, fault=FAULT):
        return super().post(path, {**fields, "csrfmiddlewaretoken": self.cookie("csrftoken")}, want, what, fault)

    def upload(self, path, fields, name, file, content, want=None, what=None, fault=FAULT):
        return super().upload(path, {**fields, "csrfmiddlewaretoken": self.cookie("csrftoken")}, name, file, content, want, what,
                              fault)

    def login(self, path, user, password, want):
        self.get(path, 'name="password"')
        self.post(path, {"username": user, "password": password}, want, f"login {user}")

    def take(self, others):
        """Counts the checks of other visitors as its own."""
        self.checks += sum(other.checks for other in others)
        self.failed += [failed for other in others for failed in other.failed]

    def commands(self, project, commands):
        """Runs commands of manage.py and notes those that fail."""
        for command in commands:
            code, told = project.manage(*command)
            self.note(" ".join(command)[:80], code == 0 and not FAULT.search(told), told)

    def script(self, project, text):
        """Runs a script inside the project that prints ok and a result in a line for each of its checks."""
        code, told = project.manage("shell", "-v", "0", "-c", text)
        self.note("script", code == 0, told[-1500:])
        self.checks += sum(line.startswith("ok ") for line in told.splitlines())
