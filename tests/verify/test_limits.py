"""Limits of `loco-sim verify` hold whatever the program, and what cannot be written takes no verdict with it."""

import os
import pathlib
import resource
import subprocess

import pytest


@pytest.fixture(scope="module")
def tool():
    program = os.environ.get("LOCO_SIM")
    if not program or not os.path.exists(program):
        pytest.skip("LOCO_SIM does not name the command line")
    return program


def fifty_processes():
    """A ring of puts: no two processes are independent of each other, and nothing is in a loop."""
    text = ""
    for p in range(50):
        q = (p + 1) % 50
        text += f"process {p} {{ shared X{p} = 0; local a{p}; put(X{q}, {q}, X{p}); load a{p} = X{p}; }}\n"
    return text + "assert final (X0 == 0);\n"


# Folded, the stores of constants say nothing that a predicate would have to keep.
TICKET = """process 0 {
  shared next = 0, serving = 0, one0 = 1, f0 = 0;
  local m, a;
  while (*) { store one0 = 1; f0 = rga(next, 0, one0); flush(0); load m = f0; a = m - 1;
    while (a != m) { load a = serving; } cs: skip; store serving = m + 1; }
}
process 1 {
  shared g1 = 0, s1 = 0, one1 = 1, f1 = 0;
  local m, a;
  while (*) { store one1 = 1; f1 = rga(next, 0, one1); flush(0); load m = f1; a = m - 1;
    while (a != m) { g1 = get(serving, 0); flush(0); load a = g1; } cs: skip; store s1 = m + 1; put(serving, 0, s1); flush(0); }
}
assert always (!(at(0, cs) && at(1, cs)));
"""


def run(tool, *options):
    return subprocess.run([tool, "verify", *map(str, options)], capture_output=True, text=True)


@pytest.mark.parametrize("seconds", [0.25, 0.5])
def test_processor_time_is_bounded(tool, tmp_path, seconds):
    path = tmp_path / "fifty.rma"
    path.write_text(fifty_processes())
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(tool, path, "--max-cpu-seconds", seconds)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    start = 0.05  # of the program itself
    assert done.returncode == 3 and "out of time" in done.stdout
    assert taken < 1.1 * seconds + start


@pytest.mark.parametrize("network", ["unordered", "verbs", "in-order", "sc"])
def test_stores_of_constants_change_nothing(tool, tmp_path, network):
    path = tmp_path / "ticket.rma"
    path.write_text(TICKET)
    done = run(tool, path, "--network", network, "--max-cpu-seconds", "20")
    assert done.returncode == 0, done.stdout
    assert run(tool, path, "--network", network).stdout == done.stdout  # the same words, whatever the limit


def test_a_verdict_is_told_before_what_cannot_be_written(tool, tmp_path):
    path = tmp_path / "one.rma"
    path.write_text("process 1 { shared X = 0; } assert final (X == 0);\n")
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    done = run(tool, path, "-o", "/dev/full")
    assert done.returncode == 4 and "safe" in done.stdout and done.stderr.count("\n") == 1, done


def test_a_check_of_a_certificate_keeps_to_the_limit(tool, tmp_path):
    path = pathlib.Path(__file__).parents[2] / "scenarios" / "verify" / "queue.rma"
    certificate = tmp_path / "queue.cert"
    made = run(tool, path, "--certificate", certificate)
    assert made.returncode == 0, made.stderr
    done = run(tool, path, "--check-certificate", certificate, "--max-cpu-seconds", "0.000001")
    if done.returncode == 2 and "Z3" in done.stderr:
        pytest.skip("this build has no Z3")
    assert done.returncode == 3 and "out of time after" in done.stdout, done.stdout
    assert run(tool, path, "--check-certificate", certificate).returncode == 0


def sense_barrier(processes):
    """A sense-reversing barrier that is met again and again. No process is more than a round ahead of another."""
    home, text = processes + 1, ""
    for i in range(1, home):
        body = (f"got{i} = rga(count, {home}, one{i}); flush({home}); load c = got{i}; "
                f"if (c == {processes - 1}) {{ put(count, {home}, zero{i}); flush({home}); "
                f"if (n == 0) put(sense, {home}, one{i}); else put(sense, {home}, zero{i}); flush({home}); }} "
                f"else {{ s = n; while (s == n) {{ seen{i} = get(sense, {home}); flush({home}); load s = seen{i}; }} }}")
        text += (f"process {i} {{ shared one{i} = 1, zero{i} = 0, got{i} = 0, seen{i} = 0; local c, s, n, r;\n"
                 f"  while (*) {{ {body} n = 1 - n; r = r + 1; }} }}\n")
    pairs = [(i, j) for i in range(1, home) for j in range(1, home) if i != j]
    return (text + f"process {home} {{ shared count = 0, sense = 0; }}\n"
            + "assert always (" + " && ".join(f"r@{i} <= r@{j} + 1" for i, j in pairs) + ");\n")


@pytest.mark.long
@pytest.mark.parametrize("network", ["unordered", "verbs", "in-order"])
def test_rounds_of_a_barrier_may_be_counted_for_ever(tool, tmp_path, network):
    path = tmp_path / "barrier.rma"
    path.write_text(sense_barrier(3))
    done = run(tool, path, "--network", network, "--max-cpu-seconds", 120)
    assert done.returncode == 0 and "no network matters" in done.stdout, done.stdout
    # The first to come goes on, again and again.
    path.write_text(sense_barrier(2).replace("c == 1", "c == 0"))
    assert run(tool, path, "--max-cpu-seconds", 60).returncode == 1
