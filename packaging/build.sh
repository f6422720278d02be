#!/usr/bin/env bash
# Builds the binary to ship: like `cargo build --release`, but with the profile of a training run.
# docs/decisions/0011-shipped-builds-are-trained.md lists the gain.
# usage: packaging/build.sh    leaves target/shipped/release/selkie
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
profiles=$root/target/training/profiles
python=${XDG_CACHE_HOME:-$HOME/.cache}/selkie-tests/bin/python

# A server that is stopped writes its profile; a killed one writes none.
train() {
  export CARGO_TARGET_DIR=$root/target/training RUSTFLAGS="-Cprofile-generate=$profiles"
  tests/run.sh install build
  rm -rf "$profiles"
  "$python" tests/with_server.py "$CARGO_TARGET_DIR/release/selkie" --port-first tests/sysbench/run.sh 3 20000 8
  tests/run.sh compat dbt3
}

merge() {
  rustup component add llvm-tools
  local tools
  tools=$(rustc --print target-libdir)/../bin
  "$tools/llvm-profdata" merge -o "$profiles/all.profdata" "$profiles"
}

ship() {
  export CARGO_TARGET_DIR=$root/target/shipped RUSTFLAGS="-Cprofile-use=$profiles/all.profdata"
  cargo build --release -p selkie
  ls -l "$CARGO_TARGET_DIR/release/selkie"
}

(train)
merge
(ship)
