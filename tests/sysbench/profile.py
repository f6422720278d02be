"""The CPU time of one statement by part: a perf profile of a running server under one of sysbench's mixes.

usage: profile.py PORT [--script oltp_point_select] [--mode auto|disable] [--seconds 6] [--top 0]

The tables must exist (tests/sysbench/cpu.py or run.sh create them). A sample counts for the system
call it happened in, or for the crate (or library) of the running function. The time is the CPU time of the
server's process in the run, divided by the number of sysbench's queries. --top also prints the hottest
functions. Needs perf.
"""

import argparse
import collections
import os
import re
import subprocess
import tempfile
import time

from cpu import Server

CALLS = [("sendto", "send: system call"), ("recvfrom", "receive: system call"), ("epoll", "wait for connections"),
         ("futex", "wake and wait for threads"), ("pwritev2", "log: system call"), ("fdatasync", "sync"),
         ("pwrite", "write pages"), ("pread", "read pages")]
CRATES = re.compile(r"selkie_(\w+?)::")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("port", type=int)
    parser.add_argument("--script", default="oltp_point_select")
    parser.add_argument("--mode", default="auto")
    for name, value in (("seconds", 6), ("threads", 8), ("tables", 4), ("rows", 100000), ("top", 0),
                        ("server-core", 0), ("client-core", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    return parser.parse_args()


def samples(path):
    """Returns for each sample the functions on the stack, innermost first."""
    text = subprocess.run(["perf", "script", "-i", path, "-F", "ip,sym,dso"], capture_output=True, text=True,
                          check=True, errors="replace").stdout
    for block in text.split("\n\n"):
        lines = [line.strip().partition(" ")[2] for line in block.splitlines() if line.strip()]
        if lines:
            yield lines


def component(stack):
    leaf = stack[0]
    if "[kernel" in leaf or "[vdso]" in leaf:
        for word, name in CALLS:
            if any(word in frame for frame in stack if "sys_" in frame):
                return name
        return "clock" if "clock" in leaf else "kernel: scheduling, interrupts"
    crate = CRATES.search(leaf)
    if crate:
        return f"crate {crate.group(1)}"
    return "allocator" if "mi_" in leaf else "library functions, drop glue"


def main():
    options = arguments()
    server = Server(f"server={options.port}")
    subprocess.run(["taskset", "-acp", str(options.server_core), str(server.pid)], stdout=subprocess.DEVNULL,
                   check=True)
    load = subprocess.Popen(
        ["taskset", "-c", str(options.client_core), "sysbench", options.script, "--db-driver=mysql",
         "--mysql-host=127.0.0.1", f"--mysql-port={options.port}", "--mysql-user=root", "--mysql-db=sbtest",
         f"--tables={options.tables}", f"--table-size={options.rows}", f"--threads={options.threads}",
         f"--time={options.seconds}", f"--db-ps-mode={options.mode}", "run"], stdout=subprocess.PIPE, text=True)
    before = server.cpu()
    time.sleep(1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "perf.data")
        subprocess.run(["perf", "record", "-q", "-F", "2000", "-g", "-p", str(server.pid), "-o", path, "--",
                        "sleep", str(options.seconds - 2)], check=True, stderr=subprocess.DEVNULL)
        output = load.communicate()[0]
        queries = int(re.search(r"queries:\s+(\d+)", output).group(1))
        each = (server.cpu() - before) / queries * 1e6
        found = list(samples(path))
    print(f"{options.script} {options.mode}: {each:.2f} us of server CPU per query, {queries} queries")
    counts = collections.Counter(component(stack) for stack in found)
    for name, count in counts.most_common():
        print(f"{name:32} {100 * count / len(found):5.1f} %  {each * count / len(found):6.2f} us")
    for name, count in collections.Counter(stack[0] for stack in found).most_common(options.top):
        print(f"  {100 * count / len(found):5.1f} %  {name}")


if __name__ == "__main__":
    main()
