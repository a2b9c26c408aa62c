"""loco_sim.corerma and loco_sim.fit."""

import pytest

import loco_sim as ls


def test_fit_takes_a_mapping_and_a_routing():
    unordered = {"base": "model-weak", "nic": {"placement": "unordered"}}
    many = ls.fit(unordered, routing="adaptive", tests=10)
    assert isinstance(many, ls.Fit) and isinstance(many.strongest[0], ls.RuleSetFit)
    assert str(many) == "corerma-unordered plus PTA, SO, SF, FA"
    as_they_come = {"base": "model-weak", "nic": {"placement": "unordered", "atomic_placement": "as_they_come"}}
    assert str(ls.fit(as_they_come, routing="adaptive", tests=10)) == "corerma-unordered plus SF, FA"
    one = ls.fit(unordered, routing="ecmp", tests=10)
    assert "PP" in one.strongest[0].plus
    ruled_out = many.strongest[0].ruled_out
    assert {why["rule"] for why in ruled_out} >= {"PP", "GG", "PTG", "GTP"}
    document = ruled_out[0]["document"]
    assert ls.litmus(document, engine="declarative").ok


def test_results_are_pandas_frames():
    pandas = pytest.importorskip("pandas")
    fit = ls.fit("verbs-vpi-like", tests=5)
    assert list(fit.to_pandas().columns) == ["set", "rule", "test", "outcome", "cycle", "document"]
    campaign = ls.corerma(size="small", jobs=2)
    assert isinstance(campaign, ls.Campaign)
    frame = campaign.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == 24 * 4
    aries = frame[(frame.network == "aries-deterministic") & (frame.rule == "IR")]
    assert aries.errors.sum() > 0
    assert set(campaign.errors().network) >= {"aries-deterministic", "portals"}
    assert list(campaign.unobserved().columns) == ["network", "explained_by", "outcomes", "test", "outcome"]


@pytest.mark.parametrize("call, error", [
    (lambda: ls.fit("nosuch"), ls.InputError),
    (lambda: ls.fit("model-weak", routing="sideways"), ValueError),
    (lambda: ls.fit("model-weak", tests=0), ValueError),
    (lambda: ls.corerma(size="huge"), ValueError),
    (lambda: ls.corerma(jobs=0), ValueError),
])
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call()
