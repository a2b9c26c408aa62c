#!/usr/bin/env bash
# A run is a function of (scenario, seed): not of the compiler, nor of its optimisation. Builds loco-sim with g++ and
# clang++ at -O0 and -O3, runs scenarios with each, and compares traces and results byte for byte.
#   tests/same_trace.sh [LOCO_SIM]...      programs that are there already take part, too
# Compilers and builds: same_builds.sh.
set -euo pipefail

# shellcheck source=tests/same_builds.sh
source "$(dirname "${BASH_SOURCE[0]}")/same_builds.sh"

# One run a line: a name, the scenario, further arguments of `loco-sim run`.
runs() {
  cat <<'END_OF_RUNS'
quickstart            scenarios/quickstart.yaml
quickstart, seed 7    scenarios/quickstart.yaml --seed 7
packets and TLPs      scenarios/quickstart.yaml --set trace.level=packets
random schedule       scenarios/quickstart.yaml --set schedule=random
adversarial schedule  scenarios/quickstart.yaml --set schedule=adversarial
loss, link down       scenarios/fabric/link_failure.yaml --set fabric.loss=10000 --set workload.count=1 --set trace.level=packets
weak machine, random  scenarios/loco/lock.yaml --set hardware=model-weak --set schedule=random --set workload.iterations=20
paths, any order      scenarios/quickstart.yaml --set hardware=efa-srd-like --set fabric.routing=spray --set topology.kind=leaf_spine --set topology.nodes=16
DCQCN                 scenarios/fabric/incast_dcqcn.yaml --set workload.size=64KiB --set trace.level=packets
key-value store       scenarios/loco/kvstore.yaml --set workload.iterations=60 --set workload.keys=zipfian
key-value, random     scenarios/loco/kvstore.yaml --set workload.iterations=20 --set schedule=random
transactions          scenarios/quickstart.yaml --set workload={"kind":transactions,"iterations":20}
broadcast, ring       scenarios/loco/broadcast_ring.yaml --set workload.iterations=20
torn values           scenarios/loco/mixed_size_guards.yaml --set workload.iterations=20
controller            scenarios/loco/dcdc.yaml --set workload.duration_us=1000
lookups               scenarios/lookup.yaml --set workload.iterations=50
patterns              scenarios/quickstart.yaml --set workload={"kind":pattern,"pattern":put_put_twice}
END_OF_RUNS
}

build_all loco-sim bin/loco-sim
programs=("$@" "${programs[@]}")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
compared=0
while IFS= read -r line; do
  name=${line:0:22}
  read -r -a arguments <<<"${line:22}"
  first=""
  for i in "${!programs[@]}"; do
    trace=$scratch/$i.trace
    (cd "$root" && timeout 300 "${programs[i]}" run "${arguments[@]}" --json --trace "$trace" >"$scratch/$i.json") || {
      echo "$name: ${programs[i]} failed: ${arguments[*]}"
      exit 1
    }
    hash=$(sha256sum <"$trace")
    : "${first:=$hash}"
    if [[ $hash != "$first" ]] || ! cmp -s "$scratch/0.trace" "$trace" || ! cmp -s "$scratch/0.json" "$scratch/$i.json"; then
      echo "DIFFERENT: $name: ${programs[i]} and ${programs[0]}: ${arguments[*]}"
      status=1
    fi
  done
  printf '%s %s  %s bytes\n' "$name" "${first:0:16}" "$(stat -c %s "$scratch/0.trace")"
  compared=$((compared + 1))
done < <(runs)
echo "$compared scenarios, ${#programs[@]} programs: $( ((status == 0)) && echo same traces || echo DIFFERENT TRACES)"
exit "$status"
