#!/usr/bin/env bash
# A network is a function of its seed: not of the compiler, nor of its optimisation. Builds the random networks of
# tests/nic_model/random_network.hpp with g++ and clang++ at -O0 and -O3, runs COUNT of them from FIRST on with each,
# and compares a hash of each one's trace.
#   tests/same_networks.sh [COUNT [FIRST]]      1,000 and 1; 10,000 take an hour of two processors
# Compilers and builds: same_builds.sh. Exit codes: 0 all are the same, 1 one is not (the first, and how to look at it).
set -euo pipefail

# shellcheck source=tests/same_builds.sh
source "$(dirname "${BASH_SOURCE[0]}")/same_builds.sh"
count=${1:-1000}
first=${2:-1}
build_all network_traces tests/nic_model/network_traces -DLOCO_SIM_TESTS=ON

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Networks in lots, so that a difference shows early.
readonly lot=250
for ((from = first; from < first + count; from += lot)); do
  some=$((first + count - from < lot ? first + count - from : lot))
  running=()
  for i in "${!programs[@]}"; do
    "${programs[i]}" "$from" "$some" >"$scratch/$i.$from" &
    running+=($!)
  done
  for job in "${running[@]}"; do wait "$job" || { echo "same_networks.sh: a network does not run" >&2; exit 1; }; done
  for i in "${!programs[@]}"; do
    cmp -s "$scratch/0.$from" "$scratch/$i.$from" && continue
    seed=$(diff "$scratch/0.$from" "$scratch/$i.$from" | sed -n 's/^< \([0-9]*\) .*/\1/p' | head -n 1)
    echo "DIFFERENT: seed $seed: $(printf 'diff <(%s --print %s)' "${programs[0]}" "$seed")" \
      "$(printf '<(%s --print %s)' "${programs[i]}" "$seed")"
    exit 1
  done
done
[[ $(cat "$scratch"/0.* | wc -l) == "$count" ]] || { echo "same_networks.sh: networks are missing" >&2; exit 1; }
echo "$count networks from seed $first, ${#programs[@]} programs: same traces ($(cat "$scratch"/0.* | sha256sum | cut -c 1-16))"
