"""Debian's verbs programs, unmodified, on two simulated hosts behind a switch (cx5-roce-100g).

Expected figures are those of `loco-sim perf`, which measures the same exchange on the same hardware from inside, or a
sum of stages beside the test. perftest's own output is read as people read it.
"""

import json
import os
import re
import shutil
import subprocess

import pytest

from .conftest import LOCO_SIM, needs_shim

pytestmark = needs_shim


def perf(test: str, *options: str) -> dict:
    out = subprocess.run([LOCO_SIM, "perf", test, "--hardware", "cx5-roce-100g", "--topology", "star", "--json", *options],
                         capture_output=True, text=True, check=True).stdout
    return json.loads(out)["results"][0]


def last_row(text: str) -> list[float]:
    """The last line of figures of a perftest table."""
    rows = re.findall(r"^ ?(\d+ +\d+ +[\d.]+ .*?)-*$", text, re.MULTILINE)
    return [float(word) for word in rows[-1].split()]


def per_iteration(text: str) -> float:
    return float(re.search(r"= ([\d.]+) usec/iter", text)[1])


def test_devices(run):
    out = run("ibv_devices", options=("--hosts", "1")).ends_well().out[0]
    assert "loco0" in out and "020000fffe000001" in out


def test_devinfo(run):
    out = run("ibv_devinfo -v", options=("--hosts", "1")).ends_well().out[0]
    for words in ("PORT_ACTIVE", "active_mtu:\t\t1024", "Ethernet", "GID[  0]:\t\t::ffff:10.0.0.1"):
        assert words in out


@pytest.mark.parametrize("program, usec", [
    ("ibv_rc_pingpong -g 0", 5.22),
    ("ibv_rc_pingpong -g 0 -s 64", 3.22),
    ("ibv_uc_pingpong -g 0 -s 1024", 4.68),
    ("ibv_ud_pingpong -g 0 -s 1024", 4.69),
])
def test_pingpong(run, program, usec):
    r = run(program).ends_well()
    for host in (0, 1):
        assert per_iteration(r.out[host]) == pytest.approx(usec, rel=0.005)
    assert not r.report["not_deterministic"]


def test_pingpong_is_the_exchange_that_perf_measures(run):
    half = perf("send_lat", "-s", "64")["t_typical_us"]
    # beside what perf's side does, it signals each send, takes its completion, and posts a receive
    assert 0 <= per_iteration(run("ibv_rc_pingpong -g 0 -s 64").out[0]) / 2 - half < 0.1


def test_events_cost_an_interrupt_and_a_wakeup(run):
    polled = per_iteration(run("ibv_rc_pingpong -g 0").out[0])
    slept = per_iteration(run("ibv_rc_pingpong -g 0 -e").ends_well().out[0])
    assert slept > polled + 2 * (2.0 + 0.5) - 0.1  # once on each side


@pytest.mark.parametrize("program", ["ibv_srq_pingpong -g 0 -s 1024", "ibv_rc_pingpong -g 0 -c", "ibv_uc_pingpong -g 0 -c"])
def test_pingpong_ends(run, program):
    r = run(program).ends_well()
    assert "invalid data" not in r.out[0] + r.out[1] + r.err[0] + r.err[1]


def test_a_message_that_is_too_long(run):
    r = run("ibv_rc_pingpong -g 0 -s 64", "ibv_rc_pingpong -g 0 -s 128 node0")
    assert r.returncode == 1 and r.status == {0: 1, 1: 1}
    assert "Failed status remote invalid request error (9)" in r.err[1]


@pytest.mark.parametrize("test, options", [
    ("write_lat", "-d loco0"),
    pytest.param("send_lat", "", marks=pytest.mark.long),
    ("read_lat", ""),
    pytest.param("atomic_lat", "", marks=pytest.mark.long),
])
def test_latency(run, test, options):
    r = run(f"ib_{test} {options}").ends_well()
    assert last_row(r.out[1])[4] == pytest.approx(perf(test)["t_typical_us"], rel=0.02)
    assert not r.report["not_deterministic"]


@pytest.mark.parametrize("test", [pytest.param("send_bw", marks=pytest.mark.long), "read_bw",
                                  pytest.param("atomic_bw", marks=pytest.mark.long)])
def test_bandwidth(run, test):
    r = run(f"ib_{test} -n 1000").ends_well()
    ours = perf(test, "-n", "1000")["bw_average_mib_s"]
    assert last_row(r.out[1])[3] == pytest.approx(ours, rel=0.01)


def test_small_writes(run):
    # 64 bytes: limited by posting, post_wqe and doorbell
    assert last_row(run("ib_write_bw -s 64 -n 5000").ends_well().out[1])[3] == pytest.approx(239, rel=0.01)


@pytest.mark.long
@pytest.mark.parametrize("options", ["-s 64 -q 4 -n 200", "-s 8 -I 64 -n 500"])
def test_more_writes(run, options):
    run(f"ib_write_bw {options}").ends_well()


@pytest.mark.long
@pytest.mark.parametrize("options", ["-s 64 -l 16", "-s 1024 -e", "-s 512 -b", "--use-srq -r 64 -q 4 -s 256", "-c UD -s 512"])
def test_more_sends(run, options):
    run(f"ib_send_bw -n 512 {options}").ends_well()


@pytest.mark.long
@pytest.mark.parametrize("connection", ["UC", "UD"])
def test_unreliable_latency(run, connection):
    out = run(f"ib_send_lat -c {connection} -n 300").ends_well().out[1]
    assert last_row(out)[4] == pytest.approx(1.53, abs=0.01)


@pytest.mark.long
@pytest.mark.parametrize("test, usec", [("send_lat", 1.53), ("write_lat", 1.49)])
def test_connection_manager(run, test, usec):
    assert last_row(run(f"ib_{test} -R -n 200").ends_well().out[1])[4] == pytest.approx(usec, rel=0.01)


def test_ucmatose(run):
    r = run("ucmatose", "ucmatose -s node0").ends_well()
    for host in (0, 1):
        assert "test complete" in r.out[host] and "return status 0" in r.out[host]


def test_rping(run):
    r = run("rping -s -C 10 -V -v", "rping -c -a node0 -C 10 -V -v").ends_well()
    assert r.out[1].count("ping data: rdma-ping-") == 10


@pytest.mark.long
@pytest.mark.parametrize("server, client, words", [
    ("udaddy", "udaddy -s node0", "return status 0"),
    ("rdma_server", "rdma_client -s node0", "end 0"),
    ("rdma_xserver", "rdma_xclient -s node0", "end 0"),
    ("ucmatose -c 4 -C 20 -S 5000", "ucmatose -s node0 -c 4 -C 20 -S 5000", "return status 0"),
])
def test_other_programs_of_connection_managers(run, server, client, words):
    assert words in run(server, client).ends_well().out[1]


def test_a_server_that_does_not_end(run):
    # the client is done, and nothing is left to happen; one thread waits for what another one starts
    r = run("cmtime -c 10", "cmtime -s node0 -c 10")
    assert r.status[1] == 0 and "disconnect" in r.out[1]
    assert r.returncode == 1 and "host 0 (cmtime) waits for a socket" in r.report["failure"]


@pytest.mark.long
@pytest.mark.parametrize("program", ["ibv_xsrq_pingpong -g 0", "ib_send_lat -c XRC -n 200", "ib_send_bw -c XRC -n 200 -q 2"])
def test_extended_reliable_connections(run, program):
    run(program).ends_well()


@pytest.mark.parametrize("test", ["write_lat", "read_lat"])
def test_one_sided_requests_on_xrc_take_what_they_take_on_rc(run, test):
    rc, xrc = (last_row(run(f"ib_{test} -n 100 -c {kind}").ends_well().out[1])[4] for kind in ("RC", "XRC"))
    assert xrc == pytest.approx(rc, abs=0.01)


@pytest.mark.parametrize("test, usec", [
    ("am_lat -s 8", 1.54),
    ("put_lat -s 8", 1.50),
    pytest.param("get -D zcopy -s 1024", 3.1, marks=pytest.mark.long),
    pytest.param("add_lat", 1.96, marks=pytest.mark.long),
])
def test_ucx_transport(run, test, usec):
    r = run(f"ucx_perftest -d loco0:1 -x rc_verbs -t {test} -n 200 -w 10").ends_well()
    final = re.search(r"^Final: +\d+ +([\d.]+) +([\d.]+)", r.out[1] + r.out[0], re.MULTILINE)
    assert float(final[1]) == pytest.approx(usec, rel=0.02) and float(final[2]) == pytest.approx(usec, rel=0.02)


@pytest.mark.long
@pytest.mark.parametrize("test, usec", [("tag_lat", 1.555), ("ucp_put_lat", 1.50), ("ucp_get", 2.71)])
def test_ucx_protocols(run, test, usec):
    r = run(f"ucx_perftest -t {test} -s 8 -n 200 -w 10",
            environment={"UCX_NET_DEVICES": "loco0:1", "UCX_TLS": "rc_v,ud_v"}).ends_well()
    final = re.search(r"^Final: +\d+ +([\d.]+)", r.out[1] + r.out[0], re.MULTILINE)
    assert float(final[1]) == pytest.approx(usec, rel=0.02)
    assert r.report["counters"]["packets_sent"] > 400


@pytest.mark.long
@pytest.mark.parametrize("scheme, bounded_by", [("get_zcopy", "read_bw"), ("put_zcopy", "write_bw")])
def test_ucx_rendezvous_is_as_fast_as_the_operation_it_is_made_of(run, scheme, bounded_by):
    r = run("ucx_perftest -t tag_bw -s 1048576 -n 30 -w 2",
            environment={"UCX_NET_DEVICES": "loco0:1", "UCX_TLS": "rc_v,ud_v", "UCX_RNDV_SCHEME": scheme}).ends_well()
    found = float(re.search(r"^Final: +\d+ +[\d.]+ +[\d.]+ +[\d.]+ +([\d.]+)", r.out[1] + r.out[0], re.MULTILINE)[1])
    # messages go one after the other, each behind an exchange of its own of a few microseconds
    assert found == pytest.approx(perf(bounded_by, "-n", "200")["bw_average_mib_s"], rel=0.01)


def test_ucx_sees_the_device(run):
    out = run("ucx_info -d", options=("--hosts", "1")).ends_well().out[0]
    assert "Transport: rc_verbs" in out and "Transport: ud_verbs" in out and "Device: loco0:1" in out


def test_four_programs_in_two_pairs_are_as_if_alone(run):
    alone = run("ibv_rc_pingpong -g 0", "ibv_rc_pingpong -g 0 node0").ends_well()
    four = run("ibv_rc_pingpong -g 0", "ibv_rc_pingpong -g 0 node0", "ibv_rc_pingpong -g 0",
               "ibv_rc_pingpong -g 0 node2").ends_well()
    # gettimeofday has microseconds: of 1000 iterations, one or two in the last digit
    assert {per_iteration(four.out[host]) for host in range(4)} <= {x + per_iteration(alone.out[0]) for x in (0, -0.01, 0.01)}


@pytest.mark.long
def test_libfabric(tmp_path):
    # its libraries' constructors sleep for 200 ms, so that a client that starts later finds the server
    if not shutil.which("fi_pingpong"):
        pytest.skip("no fi_pingpong: libfabric-bin is not installed")
    (tmp_path / "fabric.yaml").write_text("""
        hardware: cx5-roce-100g
        topology: {kind: star, nodes: 2}
        workload:
          kind: programs
          hosts: {0: [fi_pingpong, -p, verbs, -e, msg], 1: {after: 3s, run: [fi_pingpong, -p, verbs, -e, msg, node0]}}""")
    reports = [subprocess.run([LOCO_SIM, "exec", "--output", str(tmp_path), str(tmp_path / "fabric.yaml")], check=True, timeout=120,
                              capture_output=True, text=True).stderr for _ in range(2)]
    first, second = (re.search("fingerprint: .*", report)[0] for report in reports)
    assert first == second and "not deterministic" not in reports[0]
    rows = [line.split() for line in (tmp_path / "out.1").read_text().splitlines() if line.startswith(("64 ", "1m "))]
    assert len(rows) == 2 and float(rows[0][6]) < 10 and float(rows[1][5]) > 10_000  # us a transfer; MB/s


GO = """
package main

/*
#cgo LDFLAGS: -libverbs
#include <infiniband/verbs.h>
*/
import "C"
import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
	"unsafe"
)

func main() {
	var n C.int
	list := C.ibv_get_device_list(&n)
	fmt.Println(int(n), C.GoString(C.ibv_get_device_name(*(**C.struct_ibv_device)(unsafe.Pointer(list)))))
	begin := time.Now()
	if len(os.Args) > 1 {
		c, err := net.Dial("tcp", "127.1.0.1:7000")
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(c, "hello")
		c.Close()
	} else {
		l, _ := net.Listen("tcp", "0.0.0.0:7000")
		c, _ := l.Accept()
		b, _ := io.ReadAll(c)
		fmt.Println(string(b))
	}
	var all sync.WaitGroup
	for i := 1; i <= 4; i++ {
		all.Add(1)
		go func() { defer all.Done(); time.Sleep(time.Duration(i) * time.Second) }()
	}
	all.Wait()
	fmt.Println(time.Since(begin).Round(time.Millisecond), time.Now().Year())
}
"""


@pytest.mark.long
def test_a_go_program(run, tmp_path):
    if not shutil.which("go"):
        pytest.skip("no go: golang-go is not installed")
    (tmp_path / "p.go").write_text(GO)
    environment = {**os.environ, "CGO_ENABLED": "1", "GOFLAGS": "-mod=mod"}
    subprocess.run(["go", "build", "-o", tmp_path / "p", tmp_path / "p.go"], check=True, env=environment, cwd=tmp_path)
    first, second = (run(str(tmp_path / "p")).ends_well() for _ in range(2))
    assert first.out == second.out and not first.report["not_deterministic"]
    assert first.out[0] == "1 loco0\nhello\n4.001s 2023\n" and first.out[1] == "1 loco0\n4s 2023\n"
    assert first.report["fingerprint"] == second.report["fingerprint"]
