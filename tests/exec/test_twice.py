"""Each program twice, the second time beside a busy loop on each core: the same bytes, times and changes of control."""

import os
import subprocess
import sys

import pytest

from .conftest import needs_shim

pytestmark = [needs_shim, pytest.mark.long]

UCX = {"UCX_NET_DEVICES": "loco0:1", "UCX_TLS": "rc_v,ud_v"}


@pytest.fixture(scope="module")
def busy():
    """Starts a loop on each core; they end with the module."""
    started = []

    def start() -> None:
        if not started:
            started.extend(subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1))

    yield start
    for process in started:
        process.kill()
        process.wait()


PROGRAMS = [
    ("ibv_devinfo -v",), ("ibv_rc_pingpong -g 0",), ("ibv_rc_pingpong -g 0 -e -c -n 200",), ("ibv_uc_pingpong -g 0",),
    ("ibv_ud_pingpong -g 0 -s 1024 -c",), ("ibv_srq_pingpong -g 0 -n 100",), ("ibv_xsrq_pingpong -g 0 -n 100",),
    ("ibv_rc_pingpong -g 0 -j -n 100",), ("ibv_rc_pingpong -g 0 -t -n 100",),
    ("ib_write_lat -n 300",), ("ib_send_lat -n 300",), ("ib_read_lat -n 300",), ("ib_atomic_lat -n 300",),
    ("ib_send_lat -n 200 -c UD",), ("ib_send_lat -n 200 -c UC -e",), ("ib_send_lat -n 200 -c XRC",), ("ib_send_lat -n 200 -R",),
    ("ib_write_lat -n 200 -R",), ("ib_read_bw -n 200 -R",), ("ib_write_bw -n 1000 -s 64 -q 8",), ("ib_write_bw -n 1000 -s 8 -I 64",),
    ("ib_send_bw -n 256 -b",), ("ib_send_bw -n 256 -l 16 -s 64",), ("ib_send_bw -n 256 --use-srq -r 64 -q 4",), ("ib_atomic_bw -n 256",),
    ("ib_send_bw -n 10 -a -r 10 --report_gbits",), ("ib_write_bw -n 200 -c XRC",), ("ib_read_lat -D 1",),
    ("rping -s -C 10 -V -v", "rping -c -a node0 -C 10 -V -v"), ("ucmatose", "ucmatose -s node0"), ("udaddy", "udaddy -s node0"),
    ("rstream -S 1024 -I 50 -C 1", "rstream -s node0 -S 1024 -I 50 -C 1"),
    ("riostream -S 4096 -I 50 -C 2", "riostream -s node0 -S 4096 -I 50 -C 2"),
    ("rdma_server", "rdma_client -s node0"), ("rdma_xserver", "rdma_xclient -s node0"),
    ("ucx_perftest -d loco0:1 -x rc_verbs -t am_lat -n 100 -w 10",), ("ucx_perftest -d loco0:1 -x ud_verbs -t am_bw -D zcopy -s 1000 -n 200 -w 10",),
    ("ucx_perftest -d loco0:1 -x rc_verbs -t get -D zcopy -s 1024 -n 100 -w 10",), ("ucx_perftest -t tag_lat -n 100 -w 10",),
    ("ucx_perftest -t tag_bw -s 65536 -n 50 -w 10",), ("ucx_perftest -t tag_lat -D iov -s 64 -n 50 -w 10",),
    ("mckey -m 239.0.0.1 -b node0", "mckey -m 239.0.0.1 -s -b node1"), ("qperf", "qperf node0 -t 1 -cp 1 -mt 1024 rc_lat quit"),
    ("ucx_perftest -t stream_lat -n 100 -w 10",), ("ucx_perftest -t ucp_fadd -n 100 -w 10",), ("ucx_info -d",),
]  # fmt: skip


@pytest.mark.parametrize("programs", PROGRAMS, ids=lambda programs: programs[0])
def test_the_same_bytes(run, busy, programs):
    environment = UCX if programs[0].startswith("ucx") else {}
    first = run(*programs, environment=environment).ends_well()
    assert not first.report["not_deterministic"]
    busy()
    assert run(*programs, environment=environment, timeout=300).printed() == first.printed()
