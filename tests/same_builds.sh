# Builds of four compilers, for scripts that compare what they do: sourced by same_trace.sh and same_networks.sh.
# g++ and clang++ at -O0 and -O3, in build/same/. Compilers: $CXX_GNU (g++) and $CXX_CLANG (clang++-14 or clang++).
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
readonly builds=$root/build/same

# build NAME COMPILER LEVEL TARGET PROGRAM [CMAKE_OPTION]... : the program's path, in programs[]
programs=()
build() {
  local dir=$builds/$1 compiler=$2 level=$3 target=$4 program=$5 launcher=()
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  cmake -S "$root" -B "$dir" -G Ninja "${launcher[@]}" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Same \
    "-DCMAKE_CXX_FLAGS_SAME=$level" -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=6 \
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON "${@:6}" >"$dir.log" 2>&1 &&
    ninja -C "$dir" "$target" >>"$dir.log" 2>&1 || { cat "$dir.log"; return 1; }
  programs+=("$dir/$program")
}

# build_all TARGET PROGRAM [CMAKE_OPTION]...
build_all() {
  local gnu=${CXX_GNU:-g++} clang=${CXX_CLANG:-$(command -v clang++-14 || command -v clang++ || true)}
  [[ -n $clang ]] || { echo "${0##*/}: there is no clang++" >&2; exit 2; }
  mkdir -p "$builds"
  build gnu-O3 "$gnu" "-O3" "$@"
  build gnu-O0 "$gnu" "-O0" "$@"
  build clang-O3 "$clang" "-O3" "$@"
  build clang-O0 "$clang" "-O0" "$@"
}
