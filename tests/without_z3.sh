#!/usr/bin/env bash
# The tree without Z3: builds loco-sim with LOCO_SIM_Z3=OFF in build/without-z3, then has verify do what needs no Z3 and
# say what is missing for the rest. Exit codes: 0 all as it should be, 1 something is not.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
readonly dir=$root/build/without-z3
readonly programs=$root/scenarios/verify
launcher=()
command -v ccache >/dev/null &&
  launcher=("-DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache")
mkdir -p "$dir"
(cd "$root" && cmake --preset release -B "$dir" "${launcher[@]}" -DLOCO_SIM_Z3=OFF && ninja -C "$dir" loco-sim) \
  >"$dir/log.txt" 2>&1 || {
  tail -n 30 "$dir/log.txt"
  exit 1
}
readonly program=$dir/bin/loco-sim
! ldd "$program" | grep -q libz3 || { echo "without_z3.sh: the program has Z3 in it"; exit 1; }

failed=0
# expect CODE STDERR ARGUMENT... : the exit code of verify, and a word of what it says on stderr (empty: nothing)
expect() {
  local code=$1 words=$2 said status=0
  shift 2
  said=$("$program" verify "$@" 2>&1 >/dev/null) || status=$?
  if [[ $status == "$code" && $said == *"$words"* && ( -n $words || -z $said ) && $(wc -l <<<"$said") == 1 ]]; then
    printf 'ok      verify %s\n' "$*"
  else
    printf 'FAILED  verify %s: expected exit code %s, found %s: %s\n' "$*" "$code" "$status" "$said"
    failed=1
  fi
}

certificate=$(mktemp)
trap 'rm -f "$certificate"' EXIT
expect 0 "" "$programs/peterson.rma" --search-flushes
expect 0 "" "$programs/queue.rma" --engine predicates --certificate "$certificate"
expect 1 "" "$programs/put_then_store.rma" --engine explicit --replay-on model-weak
expect 2 "apt-get install libz3-dev" "$programs/peterson.rma" --engine extrapolate
expect 2 "apt-get install libz3-dev" "$programs/peterson.rma" --dump bp
expect 2 "apt-get install libz3-dev" "$programs/queue.rma" --check-certificate "$certificate"
exit "$failed"
