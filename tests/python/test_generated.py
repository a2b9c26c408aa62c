"""ls.generate: generated coreRMA tests."""

import pickle

import loco_sim as ls
import pytest


def test_tests_are_litmus_tests():
    found = ls.generate("R1", 6)
    tests = list(found)
    assert isinstance(found, ls.GeneratedTests) and isinstance(tests[0], ls.GeneratedTest)
    assert len(tests) == 67 and [t.name for t in tests][0] == "R1-1x4-wa.ra.ra"
    results = ls.litmus("---\n".join(t.document for t in tests))
    assert results.ok
    for test, result in zip(tests, results):
        assert (test.name, list(test.outcomes)) == (result.name, list(result.outcomes))
        assert test.forbidden is None or test.forbidden not in result.outcomes
    assert any(t.forbidden for t in tests)
    assert pickle.loads(pickle.dumps(tests[0])) == tests[0]


def test_counts_limits_samples_and_going_on():
    tests = ls.generate("R2", 6, processes=2)
    assert tests.counts() == {3: 0, 4: 2, 5: 29, 6: 240}
    names = [t.name for t in tests]
    assert len(names) == 271 == len(set(names))
    assert [t.name for t in tests] == names  # a second time
    assert [t.name for t in ls.generate("R2", 6, processes=2, limit=150)] == names[:150]
    assert [t.name for t in ls.generate("R2", 6, processes=2, after=names[120])] == names[121:]
    assert [t.name for t in ls.generate("R2", 6, processes=2, sample=136)] == names[::2]


def test_statements_and_rules_are_lists_or_text():
    names = [t.name for t in ls.generate("LO", 5, statements=["read", "write"], rules=["R1", "R2", "LO", "WS"])]
    assert names == [t.name for t in ls.generate("LO", 5, statements="read,write", rules="R1,R2,LO,WS")] != []
    assert all("f" not in name and "g" not in name for name in names)


def test_as_a_frame():
    pytest.importorskip("pandas")
    frame = ls.generate("LO", 4).to_pandas()
    assert list(frame["size"]) == [3, 4, 4, 4, 4, 4]
    assert frame["name"].is_unique


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pivot": "R9", "size": 4}, "pivot: expected a rule .*found .R9."),
        ({"pivot": "R1", "size": 2}, "size: expected an integer from 3 to 24, found 2"),
        ({"pivot": "R1", "size": 20, "processes": 2}, "size: expected a bound within reach, or limit or anyway=True, found 20"),
        ({"pivot": "IR", "size": 5, "rules": "corerma-verbs"}, "pivot: expected one of the rules .*found .IR."),
        ({"pivot": "R1", "size": 5, "statements": "reed"}, "statements: expected some of"),
        ({"pivot": "R1", "size": 5, "reads": "two"}, "reads: expected any or one, found 'two'"),
        ({"pivot": "R1", "size": 5, "after": "x"}, "after: expected the name of a test"),
    ],
)
def test_what_cannot_be_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ls.generate(**arguments)


def test_types():
    with pytest.raises(TypeError, match="size: expected an integer from 3 to 24, found 'x'"):
        ls.generate("R1", "x")
    with pytest.raises(TypeError, match="rules: expected text, found 7"):
        ls.generate("R1", 4, rules=7)


def test_generated_tests_pickle_and_show_themselves():
    tests = ls.generate("R1", 5, limit=3)
    assert [t.name for t in pickle.loads(pickle.dumps(tests))] == [t.name for t in tests]
    assert repr(tests) == "GeneratedTests('R1', size=5, processes=1, rules='corerma', reads='any', limit=3)"
