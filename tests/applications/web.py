"""A small browser for tests: cookies, forms, and checks of page contents."""

import contextlib
import html
import http.cookiejar
import os
import re
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

# Text that a page of a PHP application shows when one of its statements fails.
FAULT = re.compile(r"Fatal error|SQLSTATE|Uncaught|mysqli_sql_exception|database error|MySQL said|DB Exec|"
                   r"<b>Warning</b>|FATAL:|#1\d\d\d - ", re.IGNORECASE)
PHP = {"display_errors": "1", "error_reporting": "E_ALL & ~E_DEPRECATED & ~E_NOTICE & ~E_STRICT", "memory_limit": "512M",
       "max_execution_time": "120", "date.timezone": "UTC"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def php_options():
    return [word for name, value in PHP.items() for word in ("-d", f"{name}={value}")]


def php(script, *arguments, folder, seconds=600):
    """Runs a PHP script, and returns its exit code and its output."""
    done = subprocess.run(["php", *php_options(), script, *arguments], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
    return done.returncode, done.stdout.decode(errors="replace")


def served(folder, log):
    """Returns the address of PHP's own web server for a folder, as a context."""
    port = free_port()
    return listening(["php", *php_options(), "-S", f"127.0.0.1:{port}"], port, folder, log, {"PHP_CLI_SERVER_WORKERS": "1"})


@contextlib.contextmanager
def listening(command, port, folder, log, environment):
    """Runs a web server, and returns its address when it listens."""
    with open(log, "ab") as out:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                   env={**os.environ, **environment})
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


class Browser:
    """Loads pages and records failed checks."""

    def __init__(self, base):
        self.base, self.text, self.status, self.url = base, "", 0, ""
        self.checks, self.failed = 0, []
        self.jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def get(self, path, want=None, what=None, fault=FAULT):
        self.ask(path, None)
        return self.check(what or path, want, fault)

    def post(self, path, fields, want=None, what=None, fault=FAULT):
        self.ask(path, urllib.parse.urlencode(fields, doseq=True).encode())
        return self.check(what or f"POST {path}", want, fault)

    def upload(self, path, fields, name, file, content, want=None, what=None, fault=FAULT):
        """Sends a form with a file."""
        line = "----------------a-line-between"
        parts = [f'--{line}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
                 for field, value in fields.items()]
        parts.append(f'--{line}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\n'
                     "Content-Type: application/octet-stream\r\n\r\n")
        body = "".join(parts).encode() + content + f"\r\n--{line}--\r\n".encode()
        self.ask(path, body, {"Content-Type": f"multipart/form-data; boundary={line}"})
        return self.check(what or f"upload {path}", want, fault)

    def ask(self, path, data, headers=()):
        request = urllib.request.Request(self.base + path, data=data, headers={"User-Agent": "Mozilla/5.0", **dict(headers)})
        try:
            with self.opener.open(request, timeout=120) as answer:
                self.status, self.url, body = answer.status, answer.geturl(), answer.read()
        except urllib.error.HTTPError as error:
            self.status, self.url, body = error.code, error.url, error.read()
        self.text = body.decode(errors="replace")

    def check(self, what, want, fault=FAULT):
        """Records whether the page loaded, shows `want` (a pattern) and has no fault."""
        self.checks += 1
        shown = fault.search(self.text) if fault else None
        if self.status == 200 and not shown and (not want or re.search(want, self.text)):
            return True
        at = max(0, shown.start() - 100) if shown else 0
        self.failed.append(f"{what}: {self.status} {self.text[at:at + 300]!r}")
        return False

    def note(self, what, passed, told=""):
        self.checks += 1
        if not passed:
            shown = FAULT.search(told)
            at = max(0, shown.start() - 100) if shown else max(0, len(told) - 300)
            self.failed.append(f"{what}: {told[at:at + 400]!r}")

    def cookie(self, name):
        return next((cookie.value for cookie in self.jar if cookie.name == name), "")

    def find(self, pattern):
        found = re.search(pattern, self.text)
        return html.unescape(found.group(1)) if found else ""

    def form(self, pattern):
        """Returns the fields of the first form that contains the pattern, as a browser would send them."""
        form = next((form for form in re.findall(r"(?s)<form\b.*?</form>", self.text) if re.search(pattern, form)), "")
        fields = {}
        for tag in re.findall(r"<input\b[^>]*>", form):
            attributes = {name.lower(): html.unescape(a or b)
                          for name, a, b in re.findall(r"""([\w-]+)=(?:"([^"]*)"|'([^']*)')""", tag)}
            kind = attributes.get("type", "text")
            unset = kind in ("checkbox", "radio") and not re.search(r"\bchecked\b", tag)
            if "name" in attributes and kind not in ("submit", "button", "image", "file", "reset") and not unset:
                fields[attributes["name"]] = attributes.get("value", "on" if kind == "checkbox" else "")
        for name, text in re.findall(r"""(?s)<textarea\b[^>]*name=["']([^"']*)["'][^>]*>(.*?)</textarea>""", form):
            fields[name] = html.unescape(text)
        for name, options in re.findall(r"""(?s)<select\b[^>]*name=["']([^"']*)["'][^>]*>(.*?)</select>""", form):
            chosen = re.search(r"<option\b[^>]*selected[^>]*>", options) or re.search(r"<option\b[^>]*>", options)
            value = chosen and re.search(r"""value=["']([^"']*)["']""", chosen.group(0))
            fields[name] = html.unescape(value.group(1)) if value else ""
        return fields
