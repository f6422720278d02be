"""selkie bench: small runs of every command, and its behaviour after errors.

usage: bench.py BINARY
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pymysql

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../pages"))
import library  # noqa: E402
from selkie import Server, free_port  # noqa: E402

SMALL = ["--tables", "2", "--rows", "1000", "--pool", "64M", "--log", "64M"]


class Bench:
    def __init__(self, binary):
        self.binary = binary
        self.folder = tempfile.mkdtemp(prefix="selkie-bench-test-")

    def out(self, name):
        return os.path.join(self.folder, name)

    def start(self, *arguments):
        command = [self.binary, "bench", *arguments, *self.data(arguments[0])]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def data(self, command):
        return [] if command in ("compare", "floor", "record") else ["--data", self.folder]

    def run(self, *arguments, code=0):
        process = self.start(*arguments)
        text, _ = process.communicate(timeout=300)
        assert process.returncode == code, f"{arguments}: exit {process.returncode}\n{text}"
        self.nothing_left()
        return text

    def nothing_left(self):
        left = [name for name in os.listdir(self.folder) if name.startswith("selkie-bench-")]
        assert not left, f"left behind: {left}"

    def report(self, name):
        with open(os.path.join(self.out(name), "report.json")) as file:
            return json.load(file)


def commands(bench):
    bench.run("oltp", *SMALL, "--seconds", "1", "--warmup", "0", "--out", bench.out("oltp"))
    run = bench.report("oltp")["runs"][0]["measured"]
    assert run["tps"] > 0 and not run["errors"].keys() - {"1213"} and run["server_us"] > 0, run
    bench.run("sweep", *SMALL, "--mixes", "point-select,insert", "--connections", "1,4", "--seconds", "0.5",
              "--warmup", "0.1", "--repeat", "2", "--out", bench.out("sweep"))
    report = bench.report("sweep")
    assert len(report["runs"]) == 8 and report["incomplete"] is None
    files = os.listdir(bench.out("sweep"))
    assert sum(name.endswith(".png") for name in files) == 6 == sum(name.endswith(".svg") for name in files)
    with open(os.path.join(bench.out("sweep"), "report.html")) as page:
        text = page.read()
    assert text.count("<svg") == 6 and not re.search(r'(src|href)="http', text)
    bench.run("stalls", *SMALL, "--seconds", "2", "--warmup", "0", "--crash", "--out", bench.out("stalls"))
    bench.run("micro", *SMALL, "--seconds", "0.1", "--warmup", "0", "--insert-benchmark", "--out", bench.out("micro"))
    assert len(bench.report("micro")["runs"]) == 32
    answers = os.path.join(os.path.dirname(__file__), "../dbt3/answers")
    bench.run("dbt3", "--sf", "0.01", "--runs", "1", "--answers", answers, "--out", bench.out("dbt3"))
    assert len(bench.report("dbt3")["measures"]) == 22


def open_loop(bench):
    text = bench.run("oltp", *SMALL, "--mix", "point-select", "--seconds", "2", "--warmup", "0", "--rate", "200",
                     "--text")
    rate = float(re.search(r"([\d.]+) t/s", text).group(1))
    assert 150 <= rate <= 205, text


def comparison(bench):
    bench.run("compare", bench.out("sweep"), bench.out("sweep"))
    path = os.path.join(bench.out("sweep"), "report.json")
    report = bench.report("sweep")
    for measure in report["measures"]:
        measure["value"] *= 0.5 if measure["better"] == "Higher" else 2
    worse = os.path.join(bench.folder, "worse.json")
    with open(worse, "w") as file:
        json.dump(report, file)
    assert "WORSE" in bench.run("compare", path, worse, code=1)
    bench.run("compare", worse, path)


def floor(bench):
    port = free_port()
    server = bench.start("floor", "--port", str(port))
    try:
        server.stdout.readline()
        text = bench.run("oltp", *SMALL, "--servers", f"floor=127.0.0.1:{port}", "--mix", "point-select",
                         "--seconds", "1", "--warmup", "0")
        assert float(re.search(r"([\d.]+) t/s", text).group(1)) > 0, text
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(10) == 130


def recordings(bench):
    """What an application sends through the recorder is in the recording, and is played."""
    folder = os.path.join(os.path.dirname(__file__), "../pages")
    setup = os.path.join(folder, "library.sql")
    server = Server(bench.binary).start()
    try:
        small = ["--servers", f"a=127.0.0.1:{server.port},b=127.0.0.1:{server.port}", "--repeat", "1", "--warmup", "0"]
        bench.run("replay", os.path.join(folder, "page-a.txt"), *small, "--setup", setup, "--seconds", "0.1",
                  "--class-seconds", "0")
        for page, pages in (("a", 8), ("b", 4)):
            recorded = record(bench, server, lambda port, page=page, pages=pages: library.drive(port, page, pages))
            with open(os.path.join(folder, f"page-{page}.txt")) as file:
                assert file.read() == recorded, f"page-{page}.txt is not what library.py sends"
        recorded = record(bench, server, prepared)
        assert "\nprepare SELECT v FROM conf WHERE k = ?\nexecute 1 " in recorded and "\nuse library\n" in recorded, recorded
        assert recorded.count("\nconnect\n") == 1, recorded
        path = os.path.join(bench.folder, "recording")
        for keep in ([], ["--keep"]):
            text = bench.run("replay", path, *small, "--clients", "1,2", "--seconds", "0.2", "--class-seconds", "0.1", *keep,
                             "--out", bench.out("replay"))
            assert "execute: SELECT v FROM conf WHERE k = ?" in text and "a 1146: " in text, text
        assert {m["name"] for m in bench.report("replay")["measures"]} >= {"replay/pages/2/a", "replay/class/connect and leave/b"}
    finally:
        server.kill()
        server.remove()
    assert "first line" in bench.run("replay", setup, "--servers", "a=127.0.0.1:1", code=1)


def record(bench, server, drive):
    port, path = free_port(), os.path.join(bench.folder, "recording")
    recorder = bench.start("record", path, "--port", str(port), "--server", f"127.0.0.1:{server.port}")
    try:
        assert "listening" in recorder.stdout.readline()
        drive(port)
    finally:
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(10) == 130
    with open(path) as file:
        return file.read()


def prepared(port):
    """Prepared statements, an error, and a text that is not ASCII, as bytes of the protocol."""
    client = Server.connect(type("At", (), {"port": port}))
    client.select_db("library")
    for payload in (b"\x16SELECT v FROM conf WHERE k = ?",):
        client._execute_command(payload[0], payload[1:])
        answer = [client._read_packet() for _ in range(5)][0]
        number = answer.get_all_data()[1:5]
    for key in (b"key_1", b"key_2"):
        client._execute_command(0x17, number + b"\0\1\0\0\0" + b"\0\1\xfd\0" + bytes([len(key)]) + key)
        for _ in range(5):
            client._read_packet()
    client._execute_command(0x19, number)
    with client.cursor() as cursor:
        cursor.execute("SELECT '\u00e9\n\\\\'")
        try:
            cursor.execute("SELECT 1 FROM nowhere")
        except pymysql.MySQLError as error:
            assert error.args[0] == 1146, error
    client.close()


def what_goes_wrong(bench):
    assert "cannot connect" in bench.run("oltp", "--servers", f"x=127.0.0.1:{free_port()}", code=1)
    assert "neither selkie" in bench.run("oltp", "--servers", "oracle", code=1)
    assert "no mix" in bench.run("oltp", "--mix", "nothing", code=1)
    bench.run("oltp", "--nonsense", code=2)
    # Ctrl-C: partial results are kept, and the started server is stopped.
    process = bench.start("sweep", *SMALL, "--connections", "1,2", "--seconds", "3", "--out", bench.out("interrupted"))
    time.sleep(9)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == 130, text
    bench.nothing_left()
    assert bench.report("interrupted")["incomplete"] == "interrupted"
    # A server that dies in the middle.
    server = Server(bench.binary).start()
    process = bench.start("sweep", *SMALL, "--servers", f"x=127.0.0.1:{server.port}", "--seconds", "30",
                          "--out", bench.out("died"))
    time.sleep(4)
    server.kill()
    text, _ = process.communicate(timeout=60)
    server.remove()
    assert process.returncode == 1 and "connections lost" in text, text
    assert "lost" in bench.report("died")["incomplete"]
    # A report that cannot be written.
    text = bench.run("oltp", *SMALL, "--seconds", "0.2", "--warmup", "0", "--out", "/proc/nowhere", code=1)
    assert "/proc/nowhere" in text, text


def main():
    bench = Bench(os.path.abspath(sys.argv[1]))
    try:
        for test in (commands, open_loop, comparison, floor, recordings, what_goes_wrong):
            test(bench)
            print(f"bench: {test.__name__} ok", flush=True)
    finally:
        shutil.rmtree(bench.folder, ignore_errors=True)


main()
