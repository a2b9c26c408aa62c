#!/usr/bin/env bash
# Compiles every file of the program by itself, without the unity files and the precompiled headers of other builds, so
# that each names what it includes. Exit codes: 0 all compile, 1 one does not.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
readonly dir=$root/build/apart
mkdir -p "$dir"
if (cd "$root" && cmake --preset apart && ninja -C "$dir" -k 0) >"$dir/log.txt" 2>&1; then
  echo "ok      every file by itself: $(find "$dir" -name '*.o' | wc -l) objects"
else
  grep -E "^FAILED|error:" "$dir/log.txt" | head -n 30
  exit 1
fi
