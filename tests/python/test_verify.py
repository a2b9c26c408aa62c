"""verify(): RMA programs from Python."""

import pytest

import loco_sim as ls

# The paper's Fig. 2 (Baumann et al., VMCAI 2018), with the flush that it needs.
SAFE = """process 1 { shared Y = 1; }
process 2 { shared R = 0, X = 2; local r; put(Y, 1, X); flush(1); store X = 3; R = get(Y, 1); load r = R; }
assert final (r != 3);
"""
UNSAFE = SAFE.replace("flush(1); ", "")


def test_a_proof(tmp_path):
    file = tmp_path / "safe.rma"
    file.write_text(SAFE)
    result = ls.verify(file, search_flushes=True)
    assert isinstance(result, ls.Verification)
    assert result.ok and result.verdict == "safe" and result.file == str(file)
    assert (result.given, result.needed, result.placements) == (1, 1, [[0]])
    assert result.trace is None and not result.shortest and len(result.to_pandas()) == 0
    assert result.why in result.text and str(result) == result.text
    assert result.seconds >= 0 and result.engine == "explicit" and result.network == "unordered"


def test_a_counterexample():
    result = ls.verify(UNSAFE, engine="explicit")
    assert result.verdict == "unsafe" and not result.ok and result.shortest
    table = result.to_pandas()
    assert list(table["action"][:2]) == ["put(Y, 1, X)", "store X = 3"] and len(table) == 8
    assert ls.verify(UNSAFE, network="sc").ok
    where = ls.verify(UNSAFE, where=True)
    assert (where.given, where.placements) == (2, [[0]])


def test_limits():
    endless = "process 1 { local u; while (1) { u = u + 1; assert (u > 0); } } assert always (1);"
    assert ls.verify(endless, engine="explicit", max_memory=1 << 16, pending=1).verdict == "unknown"
    assert "out of time" in ls.verify(endless, engine="explicit", max_seconds=1e-6).why


def test_mistakes():
    with pytest.raises(ls.InputError) as error:
        ls.verify("process 1 { flsh(1); } assert final (1);")
    assert str(error.value) == "<program>:1:13: expected a statement, found \"flsh\"; did you mean \"flush\"?"
    assert (error.value.line, error.value.column) == (1, 13)
    with pytest.raises(ls.InputError, match="network: expected one of unordered, verbs, in-order, sc, found .ring."):
        ls.verify(SAFE, network="ring")
    with pytest.raises(ls.InputError, match="engine: expected one of auto, explicit"):
        ls.verify(SAFE, engine="none")
    with pytest.raises(ls.InputError, match="pending"):
        ls.verify(SAFE, pending=0)
    with pytest.raises(FileNotFoundError):
        ls.verify("no-such-file.rma")


def test_replay_on():
    """A second WRITE is placed behind the first one, or, where packets are placed as they come, perhaps before it."""
    program = """process 1 { shared message = 7, one = 1; put(inbox, 2, message); put(full, 2, one); }
process 2 { shared inbox = 0, full = 0; local f, m; load f = full; load m = inbox; }
assert final (f == 0 || m == 7);
"""
    weak = {"base": "cx5-roce-25g", "nic": {"placement": "unordered"}}
    result = ls.verify(program, replay_on=["cx5-roce-25g", weak])
    assert [one.shows for one in result.replay_on] == ["forbidden", "seen"]
    assert all(isinstance(one, ls.OnHardware) and one.how == "explored" and one.states > 0 for one in result.replay_on)
    assert "on cx5-roce-25g: forbidden" in result.text
    assert ls.verify(program, replay_on="model-weak").replay_on[0].hardware == "model-weak"
    assert ls.verify(SAFE, replay_on="model-weak").replay_on == []
    with pytest.raises(ls.InputError, match="replay_on"):
        ls.verify(program, replay_on="cx9")


def test_liveness():
    waits = """process 1 { shared flag = 0; local a = 0; while (a == 0) { load a = flag; } }
process 2 { shared one = 1; %s }
assert ends;
"""
    [live] = ls.verify(waits % "put(flag, 1, one);").liveness
    assert isinstance(live, ls.Liveness) and live.verdict == "live" and live.property == "ends"
    stuck = ls.verify(waits % "")
    [live] = stuck.liveness
    assert not stuck.ok and live.verdict == "not live" and live.trace is not None and live.recurrent is None
