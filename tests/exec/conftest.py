"""Running programs of other people's packages under `loco-sim exec`."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCO_SIM = os.environ.get("LOCO_SIM", str(ROOT / "build/release/bin/loco-sim"))
SHIM = Path(LOCO_SIM).resolve().parent.parent / "lib/loco-sim/exec/libibverbs.so.1"

needs_shim = pytest.mark.skipif(not SHIM.exists(), reason="built without libibverbs-dev and librdmacm-dev")


class Run:
    """What a run gave: `out[host]`, `err[host]`, `status[host]`, and the report."""

    def __init__(self, done: subprocess.CompletedProcess) -> None:
        self.returncode, self.stderr = done.returncode, done.stderr
        self.report = json.loads(done.stdout) if done.stdout else {}
        programs = self.report.get("programs", [])
        self.out = {p["host"]: p["stdout"] for p in programs}
        self.err = {p["host"]: p["stderr"] for p in programs}
        self.status = {p["host"]: p["status"] for p in programs}

    def ends_well(self) -> "Run":
        assert self.returncode == 0, (self.stderr, self.err, self.report.get("failure"))
        return self

    def printed(self) -> tuple:
        """All that may not depend on when and where it ran."""
        return self.out, self.err, self.report["simulated_ps"], self.report["fingerprint"]


def start(*programs: str, options: tuple = (), environment: dict = {}, timeout: float = 120) -> Run:
    """`programs`: one a host, or one for two hosts, as a shell would split it."""
    words = " , ".join(programs).split()
    if not shutil.which(words[0]):
        pytest.skip(f"no {words[0]}: its Debian package is not installed")
    done = subprocess.run([LOCO_SIM, "exec", "--json", *options, "--", *words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=timeout, env={**os.environ, **environment})
    return Run(done)


@pytest.fixture
def run():
    return start


@pytest.fixture
def compiled(tmp_path):
    """Compiles a C program of a test against libibverbs; its path."""

    def compile_it(source: str, *flags: str) -> str:
        file, program = tmp_path / "program.c", tmp_path / "program"
        file.write_text(source)
        subprocess.run(["gcc", "-O1", "-o", program, file, *(flags or ("-libverbs",))], check=True)
        return str(program)

    return compile_it
