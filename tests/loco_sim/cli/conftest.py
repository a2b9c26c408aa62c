"""Runs the loco-sim executable: $LOCO_SIM, else the one in build/release."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
LOCO_SIM = os.environ.get("LOCO_SIM", str(ROOT / "build/release/bin/loco-sim"))


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def program():
    """Path of the executable."""
    return LOCO_SIM


@pytest.fixture
def loco_sim():
    """loco_sim(*arguments) -> CompletedProcess with text stdout and stderr."""

    def call(*arguments, timeout=60, cwd=ROOT):
        return subprocess.run(
            [LOCO_SIM, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, cwd=cwd, check=False
        )

    return call
