#!/usr/bin/env bash
# knows_no_simulator.sh NM ARCHIVE... : the names that these archives want and do not have are none of the simulator's.
# Exit codes: 0 none is, 1 some are.
set -euo pipefail

nm=$1
shift
wanted=$("$nm" -C --undefined-only "$@")
grep -q ' loco::' <<<"$wanted" || { echo "nothing of ours is wanted at all: are these the archives?"; exit 1; }
bad=$(grep -E ' loco::(sim|fabric|nic|hosts|model|verify|scenario|workloads|trace|yaml|options|text)::' <<<"$wanted" || true)
[[ -z $bad ]] && exit 0
echo "$bad" | sort -u
exit 1
