"""LOCO programs on real networks: as processes under `loco-sim exec`, and over libfabric on loopback."""

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCO_SIM = Path(os.environ.get("LOCO_SIM", str(ROOT / "build/release/bin/loco-sim")))
EXAMPLES = LOCO_SIM.resolve().parent.parent / "examples"
SHIM = LOCO_SIM.resolve().parent.parent / "lib/loco-sim/exec/libibverbs.so.1"


def example(name: str) -> str:
    path = EXAMPLES / f"example_{name}"
    if not path.exists():
        pytest.skip(f"{path.name} is not built")
    return str(path)


def knows(program: str, transport: str) -> bool:
    done = subprocess.run([program, "--transport", transport], capture_output=True, text=True, timeout=60)
    return "this build has" not in done.stderr


def answers(text: str) -> list[str]:
    """What nodes print that no clock has to do with, in the order of nodes' lines."""
    lines = [re.sub(r" after \d+ [nu]s$", "", line) for line in text.splitlines()]
    return sorted(line for line in lines if line and not line.startswith("consistent") and " ns a round" not in line)


def nanoseconds(text: str) -> dict[str, float]:
    """How long a round took, by object."""
    return {what: float(ns) for what, ns in re.findall(r"^node 0: (\w+): (\d+) ns a round$", text, re.MULTILINE)}


def simulated(name: str, nodes: int, *options: str, hardware: str = "cx5-roce-25g") -> str:
    done = subprocess.run([example(name), "--nodes", str(nodes), "--hardware", hardware, *options], capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "\nconsistent: " in "\n" + done.stdout
    return done.stdout


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Cluster:
    """Processes on loopback, one a node."""

    def __init__(self, program: str, nodes: int, *options: str) -> None:
        hosts = ",".join(f"127.0.0.1:{port}" for port in free_ports(nodes))
        self.processes = [
            subprocess.Popen([program, *options, "--hosts", hosts, "--rank", str(rank)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL) for rank in range(nodes)
        ]

    def end(self, timeout: float = 120) -> list[tuple[int, str, str]]:
        """Status, stdout and stderr of each."""
        try:
            told = [p.communicate(timeout=timeout) for p in self.processes]
        finally:
            for p in self.processes:
                p.kill()
        return [(p.returncode, out, err) for p, (out, err) in zip(self.processes, told)]


needs_shim = pytest.mark.skipif(not SHIM.exists(), reason="built without libibverbs-dev and librdmacm-dev")
needs_libfabric = pytest.mark.skipif(not shutil.which("fi_info"), reason="no libfabric-bin")
