"""Timelines and graphs of traces made by hand, so that what they must show is written beside."""

import json
import re

import numpy as np
import pytest

import loco_sim as ls
from loco_sim import _core

NEVER = 2**64 - 1


def trace_of(threads, calls, events):
    """calls and events: fields by name, methods and stamps by their names; ids are places in the lists, from 1."""
    call_array, event_array = np.zeros(len(calls), ls.call_dtype()), np.zeros(len(events), ls.subevent_dtype())
    for array, rows, field, names in ((call_array, calls, "method", _core.METHODS), (event_array, events, "stamp", _core.STAMPS)):
        for i, row in enumerate(rows):
            for name, value in row.items():
                array[name][i] = names.index(value) if name == field else value
    return ls.Trace.from_arrays(threads=threads, calls=call_array, subevents=event_array, nodes=2)


def access(call, stamp, node, start_ps, finish_ps, **more):
    return {"call": call, "stamp": stamp, "node": node, "peer": 1 - node, "start_ps": start_ps, "finish_ps": finish_ps, **more}


def timeline(put_ends):
    """A put of two words, whose write never finishes; a get that never returns; a store before the run's begin; two more
    puts, whose reads overlap the first one's and follow it at once."""
    trace = trace_of([(0, "t"), (1, "u")], [
        {"method": "put", "returned": True, "begin_ps": 1000, "end_ps": put_ends},
        {"method": "get", "begin_ps": 3000},
        {"method": "write", "thread": 1, "returned": True, "begin_ps": -1_500_000, "end_ps": 500},
        {"method": "put", "returned": True, "begin_ps": 1100, "end_ps": 1200},
        {"method": "put", "returned": True, "begin_ps": 1100, "end_ps": 1200},
    ], [
        access(1, "aNLR", 0, 1500, 4000, address=72),
        access(1, "aNLR", 0, 1200, 1300, address=64),
        access(1, "aNRW", 1, 5000, 6000, finish=NEVER),
        access(2, "aNRR", 1, 7000, 7200),
        access(2, "aNLW", 0, 9000, 9500),
        access(3, "aCW", 1, 100, 0, finish=NEVER),
        access(4, "aNLR", 0, 1300, 1400),
        access(5, "aNLR", 0, 4000, 5500),
    ])
    return json.loads(trace.to_perfetto(), parse_float=lambda us: round(float(us) * 1e6))["traceEvents"]


@pytest.mark.parametrize("put_ends, last", [(2000, 9500), (11_000, 11_000)])  # of an access, of a call
def test_calls_of_a_timeline(put_ends, last):
    put, get, write, *_ = [e for e in timeline(put_ends) if e.get("cat") == "call"]
    assert (put["ts"], put["dur"], put["args"]["end_ps"]) == (1000, put_ends - 1000, put_ends)
    assert (get["ts"], get["dur"], get["args"]["end_ps"]) == (3000, last - 3000, None), "until the last that is known"
    assert (write["ts"], write["dur"]) == (-1_500_000, 1_500_500)
    [store] = [e for e in timeline(put_ends) if e.get("cat") == "access"]
    assert store["args"]["finish_ps"] is None and store["pid"] == 2


@pytest.mark.parametrize("put_ends, put_done", [(2000, 5000), (11_000, 11_000)])  # the write's start, the call's return
def test_operations_of_a_timeline(put_ends, put_done):
    ends = {e["id"]: e["ts"] for e in timeline(put_ends) if e["ph"] == "e"}
    assert (ends[1], ends[2]) == (put_done, 9500)


def test_accesses_of_a_timeline():
    events = timeline(2000)
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    reads, writes, remote, response = [], [], [], []
    for e in events:
        if e.get("cat") == "nic":
            {"aNLR": reads, "aNRW": writes, "aNRR": remote, "aNLW": response}[e["name"].split()[0]].append(e)
    first, second, third = reads  # the words of a call as one; one track for what overlaps, one for all else
    assert (first["ts"], first["dur"]) == (1200, 4000 - 1200)
    assert (first["args"]["words"], first["args"]["address"], first["args"]["finish_ps"]) == (2, "0x40", 4000)
    assert [tracks[e["pid"], e["tid"]] for e in reads] == ["NIC payload reads", "NIC payload reads (2)", "NIC payload reads"]
    assert (second["args"]["call"], third["args"]["call"]) == (4, 5)
    [write], [remote_read], [local_write] = writes, remote, response
    assert (write["ts"], write["dur"], write["args"]["finish_ps"], write["pid"]) == (5000, 1000, None, 2)
    assert (remote_read["dur"], remote_read["pid"]) == (1000, 2), "shorter than 1 ns nobody would see it"
    assert (local_write["pid"], tracks[1, local_write["tid"]]) == (1, "NIC response writes")


def test_graph():
    trace = trace_of([(0, 't"q'), (1, "u")], [
        {"method": "put"}, {"method": "write"}, {"method": "gf", "thread": 1}, {"method": "wait", "thread": 1},
    ], [
        access(2, "aCW", 0, 0, 0, address=64, value=1),
        access(1, "aNLR", 0, 0, 0, address=64, value=7, source=6),
        access(1, "aNRW", 1, 0, 0, address=64, value=7, overwrote=1),
        access(1, "aNLW", 0, 0, 0, address=64, value=7),
        access(3, "aGF", 1, 0, 0),
        access(4, "aWT", 1, 0, 0),
    ])
    text = trace.to_dot()
    assert r'label="t\"q@0"' in text and 'label="u@1"' in text
    labels = dict(re.findall(r's(\d) \[label="(.*)"', text))
    assert labels == {"1": r"write\naCW 0:0x40 = 1", "2": r"put\naNLR 0:0x40 = 7", "3": r"put\naNRW 1:0x40 = 7",
                      "4": r"put\naNLW 0:0x40 = 7", "5": r"gf\naGF", "6": r"wait\naWT"}, "fences have no address"
    assert re.findall(r"s(\d) .*dashed", text) == ["2", "3", "4"], "by the NIC"
    assert re.findall(r"s(\d -> s\d) \[color=gray60", text) == ["2 -> s3", "3 -> s4", "4 -> s1", "5 -> s6"], "call by call"
    assert re.findall(r"s(\d -> s\d) \[label=(\w+)", text) == [("6 -> s2", "rf"), ("1 -> s3", "mo")]
    assert "rf" not in trace.to_dot(limit=5) and "s6" not in trace.to_dot(limit=5)


def test_what_leads_to_itself_or_nowhere():
    with pytest.raises(ValueError, match="call 1: parent: expected a number below 1, found 1"):
        trace_of([(0, "t")], [{"parent": 1}], []).to_dot()
    with pytest.raises(ValueError, match="thread 1: node: expected a number below 2, found 5"):
        trace_of([(5, "t")], [], []).to_dot()
