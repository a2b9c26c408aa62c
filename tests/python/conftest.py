"""Scenarios that the tests share: as mappings, so that no test depends on a file that is tuned for something else."""

import copy
import faulthandler
import signal

import pytest

# Arbitrary round costs: enough for times to differ from zero, no claim about any hardware.
HARDWARE = {
    "cpu": {"load": "1ns", "store": "1ns", "fence": "10ns", "poll_empty": "10ns", "poll_cqe": "20ns",
            "post_wqe": "30ns", "doorbell": "50ns"},
    "pcie": {"upstream": "150ns", "downstream": "150ns"},
    "nic": {"wqe_start": "50ns"},
    "link": {"ideal": False, "rate": "25Gbps", "delay": "50ns"},
}

BARRIER = {"name": "barrier", "hardware": HARDWARE, "topology": {"kind": "star", "nodes": 3},
           "workload": {"kind": "barrier", "iterations": 20}}


@pytest.fixture(autouse=True)
def bounded_and_interruptible():
    """No test hangs, and Ctrl-C means KeyboardInterrupt: a shell starts background jobs with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.dump_traceback_later(240, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def barrier():
    return copy.deepcopy(BARRIER)


@pytest.fixture
def endless():
    """A run that takes far longer than any test."""
    return {**BARRIER, "workload": {"kind": "barrier", "iterations": 10_000_000}, "check": [],
            "trace": {"level": "none"}}


@pytest.fixture
def broken():
    """A machine whose NIC may read a word before earlier stores to it: random scheduling soon breaks rdmawait."""
    return {"name": "broken", "hardware": {}, "topology": {"nodes": 3}, "schedule": "random",
            "workload": {"kind": "pattern", "pattern": "store_put"}, "faults": ["doorbell_before_stores"]}
