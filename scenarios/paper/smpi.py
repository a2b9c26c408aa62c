"""Barriers of an MPI program under SimGrid's SMPI: an independent check of how those of `baselines` grow with the nodes.

SMPI runs the program, with the algorithms of Open MPI, on a platform that knows one thing of ours: what a message takes from node to
node. It knows nothing of NICs and PCIe, so only the shape can be compared: how many messages follow each other.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import tempfile
from typing import Iterable, Mapping

PROGRAM = pathlib.Path(__file__).with_name("smpi_barrier.c")

ALGORITHMS: Mapping[str, str] = {"dissemination": "ompi_bruck", "recursive_doubling": "ompi_recursivedoubling"}
"""Ours, and Open MPI's names for them."""

OPTIONS = ["network/model:CM02",             # latency and bandwidth as the platform has them, without factors
           "network/crosstraffic:0", "network/TCP-gamma:0",
           "smpi/simulate-computation:no",   # the machine that runs this is not what is simulated
           "smpi/async-small-thresh:65536",  # eager: a message does not wait for its receive
           "surf/precision:1e-12"]


def available() -> bool:
    return bool(shutil.which("smpicc") and shutil.which("smpirun"))


def platform(nodes: int, latency_us: float) -> str:
    """A cluster whose messages cross two links of half the latency."""
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="n" suffix="" radical="0-{nodes - 1}" speed="1Gf" bw="25Gbps" lat="{latency_us / 2:.6f}us"/>
</platform>
"""


def barriers_us(algorithm: str, nodes: Iterable[int], latency_us: float) -> dict[int, float]:
    """What a barrier takes, by number of nodes. Precondition: available()."""
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        program, hosts, network = here / "barrier", here / "hosts", here / "platform.xml"
        subprocess.run(["smpicc", "-O2", PROGRAM, "-o", program], check=True, capture_output=True, timeout=60)
        result = {}
        for n in nodes:
            hosts.write_text("".join(f"n{i}\n" for i in range(n)))
            network.write_text(platform(n, latency_us))
            done = subprocess.run(
                ["smpirun", "-np", str(n), "-platform", network, "-hostfile", hosts, "--log=root.thres:critical",
                 f"--cfg=smpi/barrier:{ALGORITHMS[algorithm]}", *(f"--cfg={o}" for o in OPTIONS), program],
                check=True, capture_output=True, text=True, timeout=60)
            result[n] = float(done.stdout.split()[-1])
        return result
