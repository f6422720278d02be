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

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
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
        return [] if command in ("compare", "floor") else ["--data", self.folder]

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
        for test in (commands, open_loop, comparison, floor, what_goes_wrong):
            test(bench)
            print(f"bench: {test.__name__} ok", flush=True)
    finally:
        shutil.rmtree(bench.folder, ignore_errors=True)


main()
