"""loco-sim robust: verdicts, repairs, exit codes, bad input; `--model sc`."""

import json

SB = """\
name: sb
model: rdmawait
locations: {x: {node: 1}, y: {node: 1}}
threads:
  - {node: 1, code: "x = 1; a = y"}
  - {node: 1, code: "y = 1; b = x"}
outcomes: {allowed: [{a: 0, b: 0}]}
"""
MP = """\
---
name: mp
model: rdmawait
locations: {x: {node: 2}, y: {node: 2}}
threads:
  - {node: 1, code: "put(x, 1); put(y, 1)"}
  - {node: 2, code: "a = y; b = x"}
outcomes: {forbidden: [{a: 1, b: 0}]}
"""


def test_the_json_is_that_of_the_page(loco_sim, tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text(SB + MP)
    done = loco_sim("robust", path, "--repair", "--json")
    assert done.returncode == 1 and done.stderr == ""
    sb, mp = json.loads(done.stdout)
    assert {k: sb[k] for k in ("name", "model", "robust", "robust_outcomes", "outcome")} == {
        "name": "sb", "model": "rdmawait", "robust": False, "robust_outcomes": False, "outcome": {"a": 0, "b": 0}}
    assert [s["edge"] for s in sb["cycle"]].count("po") == 2 and len(sb["cycle"]) == 4
    assert sb["repair"] == {"size": 2, "sets": [[{"thread": 0, "before": 1, "insert": "mfence"},
                                                 {"thread": 1, "before": 1, "insert": "mfence"}]]}
    assert mp["robust"] is True and mp["robust_outcomes"] is True and mp["cycle"] == [] and mp["repair"] is None
    assert loco_sim("robust", path, "--test", "mp").returncode == 0


def test_the_text_tells_the_cycle_and_the_repair(loco_sim, tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text(SB)
    lines = loco_sim("robust", path, "--repair").stdout.splitlines()
    assert lines[:2] == ["Test sb Not robust", "Outcome a=0 b=0"]
    assert "  thread 0 `x = 1` [write x]" in lines and "    --rb-->" in lines
    assert lines[-1] == "  mfence before `a = y` (thread 0, statement 1); mfence before `b = x` (thread 1, statement 1)"


def test_rma_programs(loco_sim):
    weak = loco_sim("robust", "scenarios/verify/message_passing.rma", "--json")
    assert weak.returncode == 1
    [found] = json.loads(weak.stdout)
    assert found["robust"] is False and found["model"] == "unordered" and found["schedule"] and len(found["cycle"]) == 4
    strong = loco_sim("robust", "scenarios/verify/message_passing.rma", "--network", "verbs", "--json")
    assert strong.returncode == 0 and json.loads(strong.stdout)[0]["by"] == "graphs"


def test_sc_is_a_model(loco_sim, tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text(SB)
    [found] = json.loads(loco_sim("litmus", path, "--model", "sc", "--json").stdout)
    assert {"a": 0, "b": 0} not in found["outcomes"] and len(found["outcomes"]) == 3
    done = loco_sim("litmus", path, "--model", "sc", "--explain", "a=0 b=0")
    assert done.returncode == 0 and "--rb-->" in done.stdout


def test_limits_and_mistakes(loco_sim, tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text(SB)
    limited = json.loads(loco_sim("robust", path, "--repair", "--max-repair", 1, "--json").stdout)[0]
    assert limited["repair"] is None and limited["reason"] == "limit"
    core = tmp_path / "c.yaml"
    core.write_text(SB.replace("rdmawait", "corerma").replace("node: 1}, y: {node: 1}", "node: 1}, y: {node: 2}")
                    .replace("{node: 1, code: \"y", "{node: 2, code: \"y").replace("a = y", "a = x").replace("b = x", "b = y"))
    for arguments, words in [((tmp_path / "none.yaml",), "none.yaml"), ((path, "--test", "no"), "expected the name of a test"),
                             ((path, "--model", "corerma"), "--model"), ((core,), "expected a test of rdmatso, rdmawait or loco"),
                             ((path, "--max-repair", "-1"), "--max-repair")]:
        done = loco_sim("robust", *arguments)
        assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1, arguments
        assert words in done.stderr
    large = tmp_path / "large.yaml"
    threads = [f"  - {{node: 1, code: '{'; '.join(f'a{t}_{i} = x; x = {i}' for i in range(12))}'}}" for t in range(4)]
    large.write_text("name: large\nmodel: rdmawait\nlocations: {x: {node: 1}}\nthreads:\n" + "\n".join(threads) + "\n")
    done = loco_sim("robust", large, "--max-seconds", 1, "--json", "--times", timeout=20)
    [found] = json.loads(done.stdout)
    assert found["robust"] is not True or found["seconds"] < 2


def test_a_limit_of_memory(loco_sim, tmp_path):
    """Accesses that may change places lie on a cycle of the graphs, so that there is no proof; no run comes to them, so
    that all runs are searched. What the search keeps grows with them: far more than a MiB."""
    file = tmp_path / "many.rma"
    file.write_text(
        "process 1 { shared X = 0, W = 0; local a, b; if (a == 1) { put(Y, 2, X); load b = W; } }\n"
        "process 2 { shared Y = 0, V = 0; local c, d; if (c == 1) { put(W, 1, V); load d = Y; } }\n"
        + "".join(f"process {p} {{ shared S{p} = 0; local l{p}; " +
                  "".join(f"store S{p} = {i}; load l{p} = S{p}; " for i in range(8)) + "}\n" for p in range(3, 8))
        + "assert final (1);\n")
    done = loco_sim("robust", file, "--max-memory", 2)
    assert done.returncode == 1, done.stderr
    assert "the limit of memory was reached" in done.stdout
    assert loco_sim("robust", file, "--max-memory", 0).returncode == 2
