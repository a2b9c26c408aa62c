"""loco-sim trace export --to perfetto, --to dot."""

import json
import re
import shutil
import subprocess
from collections import defaultdict

import pytest

PHASES = {"M", "X", "i", "b", "e", "s", "t", "f"}


def ps(event, key="ts"):
    """Microseconds as picoseconds: exact, since the text has six decimals."""
    return round(event[key] * 1_000_000)


@pytest.fixture(scope="module")
def recorded(program, root, tmp_path_factory):
    """(events, trace file) of a run with packets."""
    path = tmp_path_factory.mktemp("timeline") / "q.trace"
    done = subprocess.run([program, "run", "scenarios/quickstart.yaml", "--set", "workload.iterations=3", "--set",
                           "trace.level=packets", "--trace", path], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    out = subprocess.run([program, "trace", "export", path, "--to", "perfetto"], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout)["traceEvents"], path


def test_every_event_fits_the_format(recorded):
    """Trace Event Format: the fields that each phase must have."""
    events, _ = recorded
    for e in events:
        assert e["ph"] in PHASES and isinstance(e["name"], str) and isinstance(e["pid"], int)
        if e["ph"] == "M":
            assert e["name"] in {"process_name", "thread_name", "thread_sort_index"} and e["args"]
            continue
        assert isinstance(e["tid"], int) and e["ts"] >= 0 and e["cat"]
        if e["ph"] == "X":
            assert e["dur"] >= 0
        if e["ph"] in "best f":
            assert "id" in e or e["ph"] == " "
        if e["ph"] == "i":
            assert e["s"] == "t"
        if e["ph"] == "f":
            assert e["bp"] == "e"


def test_nodes_are_processes_and_tracks_have_names(recorded):
    events, _ = recorded
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert sorted(processes.values()) == ["node 0", "node 1", "node 2", "node 3"]
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in events if e["ph"] in "Xi"} <= set(tracks)
    for pid in processes:
        names = {name for (p, _), name in tracks.items() if p == pid}
        assert {"CPU main", "NIC payload reads", "NIC remote writes", "PCIe"} <= names
        assert any(name.startswith("link to node") for name in names)


def test_slices_of_a_track_nest(recorded):
    """Two slices of one track are apart, or one lies in the other; on tracks of NICs and links they are apart."""
    events, _ = recorded
    tracks = defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            tracks[e["pid"], e["tid"]].append((ps(e), ps(e) + ps(e, "dur"), e["cat"]))
    assert len(tracks) > 12
    for slices in tracks.values():
        open_ends = []
        for start, end, category in sorted(slices, key=lambda s: (s[0], -s[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or (category == "call" and end <= open_ends[-1])
            open_ends.append(end)


def test_operations_begin_and_end_and_cover_their_accesses(recorded):
    events, _ = recorded
    begins = {e["id"]: e for e in events if e["ph"] == "b"}
    ends = {e["id"]: e for e in events if e["ph"] == "e"}
    assert begins and set(begins) == set(ends)
    for e in events:
        if e["ph"] == "X" and e["cat"] == "nic":
            begin, end = begins[e["args"]["call"]], ends[e["args"]["call"]]
            assert ps(begin) <= e["args"]["start_ps"] and e["args"]["finish_ps"] <= ps(end)


def test_arrows_start_in_their_call_and_end_in_accesses(recorded):
    events, _ = recorded
    slices = {(e["pid"], e["tid"], ps(e)): e for e in events if e["ph"] == "X" and e["cat"] == "nic"}
    calls = {e["args"]["call"]: e for e in events if e["ph"] == "X" and e["cat"] == "call"}
    arrows = defaultdict(list)
    for e in events:
        if e["ph"] in "stf":
            arrows[e["id"]].append(e)
    assert arrows
    for call, chain in arrows.items():
        assert [e["ph"] for e in chain] == ["s", *["t"] * (len(chain) - 2), "f"]
        assert [ps(e) for e in chain] == sorted(ps(e) for e in chain)
        assert (chain[0]["pid"], chain[0]["tid"], ps(chain[0])) == (calls[call]["pid"], calls[call]["tid"], ps(calls[call]))
        for e in chain[1:]:
            assert slices[e["pid"], e["tid"], ps(e)]["args"]["call"] == call


def test_times_are_the_trace_s_own(recorded, loco_sim):
    """Every access in the trace is there, at its picosecond."""
    events, path = recorded
    rows = [line.split(",") for line in loco_sim("trace", "export", path, "--to", "csv").stdout.splitlines()]
    stamp, start, at_call = rows[0].index("stamp"), rows[0].index("start_ps"), rows[0].index("call")
    nic = {"aNLR", "aNRW", "aNRR", "aNAR", "aNLW"}
    cpu = sorted((row[stamp], int(row[start])) for row in rows[1:] if row[stamp] not in nic)
    assert cpu == sorted((e["name"], ps(e)) for e in events if e["ph"] == "i" and e["cat"] == "access")
    first = {}
    for row in rows[1:]:
        if row[stamp] in nic:
            key = (int(row[at_call]), row[stamp])
            first[key] = min(first.get(key, 1 << 62), int(row[start]))
    drawn = {}
    for e in events:
        if e["ph"] == "X" and e["cat"] == "nic":
            key = (e["args"]["call"], e["name"].split()[0])
            drawn[key] = min(drawn.get(key, 1 << 62), e["args"]["start_ps"])
            assert ps(e) == e["args"]["start_ps"]
    assert drawn == first


def test_packets_and_tlps_are_there_when_asked_for(recorded, loco_sim, tmp_path):
    events, _ = recorded
    result = json.loads(loco_sim("run", "scenarios/quickstart.yaml", "--set", "workload.iterations=3", "--json").stdout)
    packets = [e for e in events if e["ph"] == "X" and e["cat"] == "packet"]
    assert len(packets) == result["counters"]["packets_sent"], "none was lost"
    assert sum(e["args"]["bytes"] for e in packets) == result["counters"]["wire_bytes_sent"]
    assert all(e["args"]["finish_ps"] > e["args"]["start_ps"] for e in packets)
    kinds = {e["name"] for e in events if e["ph"] == "i" and e["cat"] == "pcie"}
    assert {"tlp_write", "tlp_read", "completion", "doorbell", "cqe"} >= kinds and {"doorbell", "cqe"} <= kinds
    plain = tmp_path / "plain.trace"
    loco_sim("run", "scenarios/quickstart.yaml", "--set", "workload.iterations=3", "--trace", plain)
    without = json.loads(loco_sim("trace", "export", plain, "--to", "perfetto").stdout)["traceEvents"]
    assert not [e for e in without if e.get("cat") in ("packet", "pcie")]
    assert [e for e in without if e.get("cat") == "call"] == [e for e in events if e.get("cat") == "call"]


def run_with_packets(loco_sim, path, scenario, *settings):
    """(counters, events) of a run of which packets are recorded."""
    words = [word for setting in ("trace.level=packets", *settings) for word in ("--set", setting)]
    done = loco_sim("run", scenario, "--json", "--trace", path, *words)
    assert done.returncode == 0, done.stderr
    events = json.loads(loco_sim("trace", "export", path, "--to", "perfetto").stdout)["traceEvents"]
    return json.loads(done.stdout)["counters"], events


def test_packets_that_did_not_arrive_have_a_track(loco_sim, tmp_path):
    counters, events = run_with_packets(loco_sim, tmp_path / "lossy.trace", "scenarios/quickstart.yaml",
                                        "workload.iterations=3", "fabric.loss=20000")
    assert counters["packets_lost"] > 3
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    missing = [e for e in events if e["ph"] == "i" and e["cat"] == "packet"]
    assert {tracks[e["pid"], e["tid"]] for e in missing} == {"did not arrive"}
    assert all(re.fullmatch(r"(WRITE|READ request|READ response|ACK|NAK) to node [0-3]", e["name"]) for e in missing)
    assert all(e["args"]["psn"] >= 0 for e in missing)
    arrived = [e for e in events if e["ph"] == "X" and e["cat"] == "packet"]
    assert len(arrived) + len(missing) == counters["packets_sent"]
    assert len(missing) == counters["packets_lost"], "all others had arrived when the run ended"


def test_a_packet_that_is_sent_again_does_not_take_the_place_of_the_first(loco_sim, tmp_path):
    """The timers are shorter than the queue at the receiver's port: nothing is lost, and both copies arrive. None in
    less time than its own bytes need on a link of 25 Gb/s."""
    counters, events = run_with_packets(
        loco_sim, tmp_path / "again.trace", "scenarios/fabric/incast.yaml", "workload.size=64KiB",
        "fabric.flow_control=drop_tail", "fabric.buffer.size=1GB", "fabric.buffer.alpha=100000",
        "hardware.nic.ack_timeout=8us")
    assert counters["packets_lost"] == 0 and counters["timeouts"] > 0
    arrived = [e["args"] for e in events if e["ph"] == "X" and e["cat"] == "packet"]
    assert len({(a["qp"], a["psn"]) for a in arrived if a["bytes"] > 4096}) < sum(a["bytes"] > 4096 for a in arrived)
    for a in arrived:
        assert a["finish_ps"] - a["start_ps"] > a["bytes"] * 8 * 40


def test_watching_packets_does_not_change_the_run(loco_sim):
    plain = loco_sim("run", "scenarios/quickstart.yaml", "--json").stdout
    assert loco_sim("run", "scenarios/quickstart.yaml", "--json", "--set", "trace.level=packets").stdout == plain
    assert loco_sim("run", "scenarios/quickstart.yaml", "--json", "--set", "series.interval=100ns").stdout == plain


def test_an_old_trace_without_times_of_calls_is_refused(loco_sim, root):
    old = [p for p in sorted((root / "tests/fuzz/trace-corpus").iterdir())
           if loco_sim("trace", "export", p, "--to", "csv").stdout.count("\n") > 1]
    assert old
    for p in old:
        done = loco_sim("trace", "export", p, "--to", "perfetto")
        assert done.returncode == 2 and "please record it again" in done.stderr


def test_calls_that_all_return_at_time_0_have_times_too(loco_sim, tmp_path):
    """Posting costs nothing here, and a thread of traffic does nothing else before its completions."""
    path = tmp_path / "q.trace"
    scenario = tmp_path / "q.yaml"
    scenario.write_text("hardware: {base: cx5-roce-25g, cpu: {post_wqe: 0ns}}\ntopology: {nodes: 2}\n"
                        "workload: {kind: traffic, size: 64B}\n")
    assert loco_sim("run", scenario, "--trace", path).returncode == 0
    done = loco_sim("trace", "export", path, "--to", "perfetto")
    assert done.returncode == 0, done.stderr
    calls = [e for e in json.loads(done.stdout)["traceEvents"] if e["ph"] == "X" and e["cat"] == "call"]
    assert calls and all(ps(e) == ps(e, "dur") == 0 for e in calls)


def test_dot(recorded, loco_sim, tmp_path):
    _, path = recorded
    done = loco_sim("trace", "export", path, "--to", "dot", "--limit", "40")
    assert done.returncode == 0 and "the first 40 of" in done.stderr
    text = done.stdout
    assert text.startswith("digraph execution {") and text.count("label=rf") > 0
    assert len(re.findall(r"^    s\d+ \[label", text, re.MULTILINE)) == 40
    assert all(int(n) <= 40 for n in re.findall(r"\bs(\d+)\b", text))
    if shutil.which("dot"):
        drawn = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True)
        assert drawn.returncode == 0 and "<svg" in drawn.stdout
