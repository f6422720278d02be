#!/usr/bin/env bash
# MariaDB's own tests, as Debian's mariadb-test installs them, against fresh servers.
# usage: tests/conformance/run.sh [CATEGORY | TEST | FILE ...]    without any: all categories
# Prints a line per test with its first difference, then the passed tests by category. $SELKIE names
# the binary; more options: run.py --help.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
venv=${XDG_CACHE_HOME:-$HOME/.cache}/selkie-tests
python=python3
[ ! -x "$venv/bin/python" ] || python=$venv/bin/python
binary=${SELKIE:-${CARGO_TARGET_DIR:-$root/target}/release/selkie}
exec "$python" "$here/run.py" "$binary" "$@"
