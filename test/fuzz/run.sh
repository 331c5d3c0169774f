#!/usr/bin/env bash
# Runs every fuzz target of the module for a time each and prints one line per target: executions, or the finding.
#
#   test/fuzz/run.sh 5m              # all of them, five minutes each
#   test/fuzz/run.sh 1m ./oauth      # those of one folder
set -u
cd "$(dirname "$0")/../.."
span=${1:-1m} only=${2:-}
status=0
while IFS=: read -r file target; do
  folder=./$(dirname "$file")
  case "$only" in "" | "$folder") ;; *) continue ;; esac
  out=$(go test "$folder" -run '^$' -fuzz "^$target\$" -fuzztime "$span" -parallel "${FUZZ_PARALLEL:-2}" 2>&1)
  if [ $? -eq 0 ]; then
    printf '%s %s ok, %s executions\n' "$folder" "$target" "$(printf '%s' "$out" | sed -n 's/.*execs: \([0-9]*\).*/\1/p' | tail -1)"
  else
    status=1
    printf '%s %s FAILED\n%s\n' "$folder" "$target" "$out"
  fi
done < <(git grep -oE '^func Fuzz[A-Za-z0-9]+' -- '*_test.go' | sed 's/:func /:/')
exit $status
