#!/usr/bin/env bash
# Connector/J test; must be compiled before. usage: run.sh PORT
cd "$(dirname "$0")" && exec mvn -q -B exec:java -Dexec.args="$1"
