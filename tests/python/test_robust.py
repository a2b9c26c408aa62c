"""ls.robust: what `loco-sim robust --json` says, as objects."""

import pytest

import loco_sim as ls

SB = """
name: sb
model: rdmawait
locations: {x: {node: 1}, y: {node: 1}}
threads:
  - {node: 1, code: "x = 1; a = y"}
  - {node: 1, code: "y = 1; b = x"}
"""


def test_a_test_and_its_repair():
    [found] = ls.robust(SB, repair=True)
    assert isinstance(found, ls.Robustness)
    assert not found and found.robust is False and found.outcome == {"a": 0, "b": 0}
    assert found.repair == {"size": 2, "sets": [[{"thread": 0, "before": 1, "insert": "mfence"},
                                                 {"thread": 1, "before": 1, "insert": "mfence"}]]}
    assert "Not robust" in str(found) and found.reason is None
    [limited] = ls.robust(SB, repair=True, max_repair=1)
    assert limited.repair is None and limited.reason == "limit"


def test_rma_programs():
    [found] = ls.robust("scenarios/verify/message_passing.rma")
    assert found.robust is False and found.schedule
    assert ls.robust("scenarios/verify/message_passing.rma", network="in-order")[0]


def test_mistakes():
    with pytest.raises(ls.InputError):
        ls.robust("none.rma")
    with pytest.raises(ValueError, match="model: expected"):
        ls.robust(SB, model="corerma")
    with pytest.raises(ValueError, match="max_seconds"):
        ls.robust(SB, max_seconds=-1)
    with pytest.raises(ValueError):
        ls.robust("scenarios/verify/message_passing.rma", network="fast")
