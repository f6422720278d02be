"""Runs a command against a fresh server and stops the server in every case.

The port is appended to the command. With --port-first it follows the command's first word that is an
existing file (a script run by an interpreter), so that options may come after it. SELKIE_OPTIONS in the
environment holds options of the server.

usage: with_server.py BINARY [--port-first] COMMAND [ARGUMENT ...]
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from selkie import Server, run_beside  # noqa: E402


def place_port(command, port):
    scripts = [at for at, word in enumerate(command) if word.endswith((".sh", ".py", ".js"))]
    at = scripts[0] + 1 if scripts else 1
    return command[:at] + [str(port)] + command[at:]


def main():
    binary, *command = sys.argv[1:]
    first = command[0] == "--port-first"
    if first:
        command = command[1:]
    server = Server(binary, options=os.environ.get("SELKIE_OPTIONS", "").split()).start()
    try:
        command = place_port(command, server.port) if first else command + [str(server.port)]
        run_beside(server, command)
    finally:
        server.remove()


if __name__ == "__main__":
    main()
