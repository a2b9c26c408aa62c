"""exec(): other people's verbs programs from Python. tests/exec has the programs themselves."""

import shutil
from pathlib import Path

import pytest

import loco_sim as ls
from loco_sim.programs import _command

SHIM = Path(_command()).resolve().parent.parent / "lib/loco-sim/exec/libibverbs.so.1"
pytestmark = [
    pytest.mark.skipif(not SHIM.exists(), reason="built without libibverbs-dev and librdmacm-dev"),
    pytest.mark.skipif(not shutil.which("ibv_rc_pingpong"), reason="no ibverbs-utils"),
]


def test_a_program_on_two_hosts():
    result: ls.Exec = ls.exec(["ibv_rc_pingpong", "-g", "0", "-n", "20"], timeout=60)
    first: ls.ExecProgram = result.programs[0]
    assert [p.host for p in result.programs] == [0, 1] and result.programs[1].command[-1] == "node0"
    assert "20 iters" in first.stdout and first.stderr == "" and (first.status, first.signal) == (0, 0)
    assert result.counters["packets_sent"] > 40 and result.simulated > first.ended_us * 1e6 - 1e9
    assert result.not_supported == [] and result.not_deterministic == []
    again = ls.exec(["ibv_rc_pingpong", "-g", "0", "-n", "20"], ["ibv_rc_pingpong", "-g", "0", "-n", "20", "node0"])
    assert again.fingerprint == result.fingerprint == result.report["fingerprint"]


def test_hardware_and_scenarios():
    slow = ls.exec(["ibv_rc_pingpong", "-g", "0", "-n", "20"], overrides={"link.delay": "100us"})
    assert slow.programs[0].ended_us > 20 * 2 * 100
    found = ls.exec("scenarios/exec/pingpong.yaml" if Path("scenarios").exists() else "pingpong")
    assert "5.22 usec/iter" in found.programs[0].stdout


def test_every_packet():
    words = [["ib_write_lat", "-s", "1048576", "-n", "5"], ["ib_write_lat", "-s", "1048576", "-n", "5", "node0"]]
    short, whole = ls.exec(*words), ls.exec(*words, every_packet=True)
    assert short.report["packets_left_out"] > 0 == whole.report["packets_left_out"]
    assert short.fingerprint == whole.fingerprint


def test_failures():
    with pytest.raises(ls.InputError, match="found none of that name in PATH"):
        ls.exec(["no-such-program"])
    with pytest.raises(ls.RunError, match="status 1"):
        ls.exec(["false"], hosts=1)
    assert ls.exec(["false"], hosts=1, check=False).programs[0].status == 1
