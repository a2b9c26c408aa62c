#!/usr/bin/env bash
# Runs the verbs programs of another Debian release under this build: debian.sh SUITE FOLDER (as root; needs debootstrap).
#   tests/exec/debian.sh trixie /var/tmp/trixie
# FOLDER becomes a system of that release with the packages' programs, loco-sim and the libraries that it needs beside its
# own. Prints a line for each command: its status and its last figures. Ends with 1 when a command fails.
set -euo pipefail
suite=$1 folder=$2
build=$(cd "$(dirname "$0")/../.." && pwd)/build/release
tools=$folder/opt/loco-sim

[[ -x $folder/usr/bin/ib_send_lat && -x $folder/usr/bin/ucx_perftest ]] ||
  debootstrap --variant=minbase --include=ibverbs-utils,perftest,rdmacm-utils,ucx-utils "$suite" "$folder" >&2
rm -rf "$tools"
mkdir -p "$tools/bin" "$tools/lib/loco-sim" "$tools/share/loco-sim" "$tools/libraries"
cp "$build/bin/loco-sim" "$tools/bin/"
cp -r "$build/lib/loco-sim/exec" "$tools/lib/loco-sim/"
cp -r "$(dirname "$build")/../hardware" "$tools/share/loco-sim/"
# libraries of this release that the other one may have in other versions; the C library is the other's
ldd "$build/bin/loco-sim" | awk '$2 == "=>" {print $3}' | grep -vE '/(libc|libm|libpthread|libdl|ld-linux[^/]*)\.so' |
  xargs -I{} cp -L {} "$tools/libraries/"
for part in proc dev sys; do
  mountpoint -q "$folder/$part" || mount --bind "/$part" "$folder/$part"
done
trap 'for part in proc dev sys; do umount "$folder/$part" || true; done' EXIT

failed=0
while read -r command; do
  status=0
  chroot "$folder" env LD_LIBRARY_PATH=/opt/loco-sim/libraries timeout 120 /opt/loco-sim/bin/loco-sim exec -q --terminal --output /tmp -- \
    $command >/dev/null 2>&1 </dev/null || status=$?
  printf '%d  %-50s %s\n' "$status" "$command" \
    "$(grep -E '^ *[0-9]+ +[0-9]+ |^Final:|usec/iter|return status|ping data' "$folder/tmp/out.1" | tail -1 | tr -s ' \t')"
  ((status == 0)) || failed=1
done <<'END'
ibv_devinfo -v
ibv_rc_pingpong -g 0
ibv_uc_pingpong -g 0
ibv_ud_pingpong -g 0 -s 1024
ibv_srq_pingpong -g 0 -n 100
ibv_xsrq_pingpong -g 0 -n 100
ib_write_lat -n 300
ib_send_lat -n 300
ib_read_lat -n 300
ib_atomic_lat -n 300
ib_write_bw -n 500
ib_send_bw -n 500
ib_read_bw -n 500
ib_atomic_bw -n 500
ib_send_lat -n 100 -c UD
ib_send_lat -n 100 -c XRC
ib_send_lat -n 100 -R
ib_write_bw -n 500 -s 64 -q 8
ib_send_bw -n 256 -e
ib_send_bw -n 256 --use-srq -r 64 -q 4
rping -s -C 10 -V -v , rping -c -a node0 -C 10 -V -v
ucmatose , ucmatose -s node0
ucx_info -d
ucx_perftest -d loco0:1 -x rc_verbs -t am_lat -s 8 -n 200 -w 10
ucx_perftest -d loco0:1 -x rc_verbs -t put_lat -s 8 -n 200 -w 10
env UCX_NET_DEVICES=loco0:1 UCX_TLS=rc_v,ud_v ucx_perftest -t tag_lat -s 8 -n 200 -w 10
END
exit "$failed"
