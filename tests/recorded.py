"""Compares a script's lines with the result file that `--record` writes from a MariaDB 10.11."""

import difflib
import sys


def compare(name, result, lines):
    """Ends the script with 1 if the lines differ; with --record writes them instead. `result` is a Path."""
    if "--record" in sys.argv:
        result.write_text("\n".join(lines) + "\n")
        return
    difference = list(difflib.unified_diff(result.read_text().splitlines(), lines, "MariaDB", "here", lineterm="", n=1))
    print("\n".join(difference) or f"{name}: ok")
    sys.exit(bool(difference))
