#!/usr/bin/env bash
# sysbench's OLTP scripts against a server, prepared and as text; any error but a deadlock fails.
# usage: run.sh PORT SECONDS ROWS [THREADS]
set -euo pipefail
port=$1 seconds=$2 rows=$3 threads=${4:-16}
scripts="oltp_point_select oltp_read_only oltp_read_write oltp_write_only oltp_insert oltp_delete
oltp_update_index oltp_update_non_index select_random_points select_random_ranges bulk_insert"
connect=(--db-driver=mysql --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user=root
  --mysql-db=sbtest --tables=4 --table-size="$rows")
sql() { mariadb --no-defaults -h127.0.0.1 -P"$port" -uroot -N -e "$1"; }

run() { # script mode
  local out
  out=$(sysbench "$1" "${connect[@]}" --threads="$threads" --time="$seconds" --db-ps-mode="$2" run 2>&1) ||
    { echo "$out" | tail -20; echo "sysbench: $1 ($2) failed"; exit 1; }
  local rate errors
  rate=$(sed -n 's/^ *queries: *[0-9]* *(\(.*\) per sec.)/\1/p' <<<"$out")
  [ -n "$rate" ] || rate=$(sed -n 's/.*events\/s (eps): *//p' <<<"$out")
  errors=$(sed -n 's/^ *ignored errors: *\([0-9]*\).*/\1/p' <<<"$out")
  printf '%-24s %-8s %12s queries/s, %s deadlocks\n' "$1" "$2" "$rate" "${errors:-0}"
}

sql "DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest"
sysbench oltp_read_write "${connect[@]}" --threads=4 prepare >/dev/null
for script in $scripts; do
  for mode in auto disable; do
    if [ "$script" = bulk_insert ]; then
      sql "DROP DATABASE sbtest; CREATE DATABASE sbtest"
      sysbench bulk_insert "${connect[@]}" --threads="$threads" prepare >/dev/null
    fi
    run "$script" "$mode"
  done
done
sql "DROP DATABASE sbtest"
echo "sysbench: ok"
