#!/usr/bin/env bash
# The README's two commands on a Debian that has nothing but its smallest base system and a clone of this tree.
#   tests/bare_system.sh bookworm|trixie [--first] [--run FILE] [--cache DIR] [--keep DIR]
# --first: only the first command. --run: a scenario or an RMA program for it, in place of scenarios/quickstart.yaml. --cache: a folder for the compiler's cache, kept for the next time. --keep: the system is
# made in DIR and stays there. Needs root, debootstrap (installed when missing) and Debian's mirror; what is not committed is
# not tried. With LOCO_SIM_WERROR=ON warnings are errors there, too. All of it is over after 30 minutes. Exit codes: 0 both worked, 1 one did not, 2 no system could be made.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
readonly minutes_max=30

say() { printf 'bare_system.sh: %s\n' "$*" >&2; }
die() {
  say "$*"
  exit 2
}

system=${1:-}
case $system in
  bookworm | trixie) shift ;;
  *) die "expected bookworm or trixie, found '$system'" ;;
esac
first='' cache='' place='' runs=scenarios/quickstart.yaml
while (($#)); do
  case $1 in
    --first) first=1 ;;
    --run) runs=${2:?--run: a file of the tree}; shift ;;
    --cache) cache=${2:?--cache: a folder}; shift ;;
    --keep) place=${2:?--keep: a folder}; shift ;;
    *) die "unknown argument $1" ;;
  esac
  shift
done

((EUID == 0)) && unshare --mount --pid --fork true || die "needs root, and its right to mount: a system is made in a folder"
command -v debootstrap >/dev/null || {
  apt-get -q update >&2 && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends debootstrap >&2
} || die "no debootstrap"

if [[ -z $place ]]; then
  place=$(mktemp -d "${TMPDIR:-/tmp}/bare-$system.XXXXXX")
  trap 'for _ in 1 2 3 4 5; do rm -rf --one-file-system "$place" && break; sleep 2; done' EXIT  # what was stopped takes a while
fi
[[ -e $place/usr/bin/dpkg ]] || debootstrap --variant=minbase "$system" "$place" >"$place.log" 2>&1 || {
  tail -n 20 "$place.log" >&2
  die "debootstrap could not make $system"
}
rm -f "$place.log"
echo force-unsafe-io >"$place/etc/dpkg/dpkg.cfg.d/unsafe"  # a system of minutes is not worth waiting for the disk
[[ -d $place/root/loco-sim ]] || git clone -q "$root" "$place/root/loco-sim"

# inside COMMAND... : in the system, at the tree. Mounts and processes are gone with it, whatever happens.
inside() {
  unshare --mount --pid --fork --kill-child /bin/bash -c '
    place=$1 cache=$2
    shift 2
    mount -t proc proc "$place/proc"
    mkdir -p "$place/dev/shm" "$place/root/.cache/ccache"
    mount -t tmpfs tmpfs "$place/dev/shm"
    [[ -z $cache ]] || mount --bind "$cache" "$place/root/.cache/ccache"
    exec env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      ${LOCO_SIM_WERROR:+LOCO_SIM_WERROR=$LOCO_SIM_WERROR} CCACHE_BASEDIR=/root \
      chroot "$place" /bin/bash -c "cd /root/loco-sim && \"\$@\"" bash "$@"
  ' bash "$place" "$cache" "$@" </dev/null
}

# try COMMAND... : runs it within the time that is left, and says how long it took
failed=0
try() {
  local start=$SECONDS status=0 left=$((60 * minutes_max - SECONDS))
  export -f inside
  export place cache
  timeout --kill-after=10 "$left" /bin/bash -c 'inside "$@"' bash "$@" || status=$?
  ((status != 124)) || say "stopped: $minutes_max minutes are over"
  printf '%s: %s: %s in %d s\n' "$system" "$*" "$( ((status == 0)) && printf worked || printf 'exit %d' "$status")" \
    $((SECONDS - start))
  ((status == 0)) || failed=1
}

[[ -z $cache ]] || mkdir -p "$cache"
try ./dev run "$runs"
[[ -n $first ]] || try ./dev test
exit "$failed"
