"""Inputs without an end, or too long: refused in one line, bounded in time and memory."""

import resource
import subprocess

import pytest

LITMUS = "tests/litmus/loco-paper.yaml"
READERS = {
    "check": ["check", "FILE"],
    "export": ["trace", "export", "FILE", "--to", "csv"],
    "litmus": ["litmus", "FILE"],
    "litmus-hardware": ["litmus", LITMUS, "--engine", "explore", "--hardware", "FILE"],
    "run": ["run", "FILE"],
    "run-hardware": ["run", "scenarios/barrier.yaml", "--set", "hardware=FILE"],
    "validate": ["validate", "FILE"],
    "list": ["list", "hardware", "FILE"],
    "perf-hardware": ["perf", "write_lat", "--hardware", "FILE"],
    "perf-rows": ["perf", "validate", "--rows", "FILE"],
}


def bounded(program, root, arguments, stdin=None):
    """With 600 MiB of memory for all that it holds, which a reader that goes on until it has no more would need."""
    limit = 600 << 20
    return subprocess.run([program, *arguments], cwd=root, stdin=stdin, capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("file", ["/dev/zero", "/dev/urandom"])
def test_a_device_without_end_is_refused(program, root, reader, file):
    done = bounded(program, root, [file if word == "FILE" else word.replace("=FILE", f"={file}") for word in READERS[reader]])
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and done.stderr.startswith(f"{file}:"), done.stderr


def test_a_trace_that_goes_on_after_its_end_is_refused_at_its_end(program, loco_sim, root, tmp_path):
    trace = tmp_path / "q.trace"
    assert loco_sim("run", "scenarios/quickstart.yaml", "--trace", trace, "--quiet").returncode == 0
    for damage, told in ((f"cat {trace} /dev/zero", f"offset {trace.stat().st_size}: the file goes on after its end block"),
                         (f"head -c 100 {trace}; cat /dev/zero", "does not match its checksum")):
        with subprocess.Popen(["bash", "-c", damage], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as source:
            done = bounded(program, root, ["check", "/dev/stdin"], stdin=source.stdout)
            source.stdout.close()
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and told in done.stderr, done.stderr
    with subprocess.Popen(["cat", trace], stdout=subprocess.PIPE) as source:
        assert bounded(program, root, ["check", "/dev/stdin"], stdin=source.stdout).returncode == 0


def test_a_block_that_says_it_is_longer_than_memory_is_refused_at_its_length(loco_sim, tmp_path):
    trace = tmp_path / "long.trace"
    trace.write_bytes(b"LOCOTRC\n\x02\0\0\0\x01" + b"\xff" * 8 + b"\x7f")
    done = loco_sim("check", trace)
    assert done.returncode == 2 and done.stderr.startswith(f"{trace}: offset 13: a block's length asks for ")


@pytest.mark.parametrize("command", ["run", "validate"])
@pytest.mark.parametrize("topology", ["{kind: fat_tree, k: 64}", "{kind: torus, dims: [256, 256]}",
                                      "{kind: leaf_spine, leaves: 1024, spines: 64, hosts_per_leaf: 64}"])
def test_more_hosts_than_a_workload_has_are_refused_before_they_are_built(program, root, command, topology):
    done = bounded(program, root, [command, "quickstart", "--set", f"topology={topology}"])
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "topology.nodes: expected 2 to 1024 nodes for the workload quickstart, found 65536" in done.stderr


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full"])
def test_a_sweep_into_a_device_is_refused(program, root, tmp_path, device):
    out = tmp_path / "rows.csv"
    out.symlink_to(device)
    done = bounded(program, root, ["sweep", "scenarios/barrier.yaml", "--set", "workload.iterations=1", "--out", out, "-q"])
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == f"{out}: expected a file, which rows can be added to, found a device or a pipe\n"
