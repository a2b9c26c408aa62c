"""loco-sim soundness: the libraries hold, the mistakes of the LOCO paper's Appendix D are found with a small client."""

import json
import re

import pytest


@pytest.mark.parametrize("library", ["sv", "bal", "rbl", "msw"])
def test_libraries_as_they_are_are_sound(loco_sim, library):
    done = loco_sim("soundness", "--library", library, "--threads", 2, "--calls", 2, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert result["sound"] and result["complete"]
    assert result["clients"] > 30
    assert result["outcomes"] == []


def test_a_barrier_without_a_fence_is_found(loco_sim):
    done = loco_sim("soundness", "--library", "bal", "--bug", "barrier_without_fence")
    assert done.returncode == 1
    assert "unsound" in done.stdout
    # Appendix D: a put to oneself, the barrier, a read that misses it; the other thread only takes part.
    assert "barrier(z); r0 = x" in done.stdout
    assert "forbidden, but shown: r0=0" in done.stdout


def test_guards_read_in_the_direction_of_writing_are_found(loco_sim):
    done = loco_sim("soundness", "--library", "msw", "--bug", "guards_forward", "--json")
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert not result["sound"]
    assert "write(m, [1, 1])" in result["counterexample"]
    assert result["outcomes"] == ["r0=[0, 1]", "r0=[1, 0]"]
    assert loco_sim("soundness", "--library", "msw", "--guards", "--calls", 2).returncode == 0


def test_a_counterexample_is_a_litmus_test(loco_sim, tmp_path):
    done = loco_sim("soundness", "--library", "bal", "--bug", "barrier_without_fence", "--json")
    document = tmp_path / "client.yaml"
    document.write_text(json.loads(done.stdout)["counterexample"])
    again = loco_sim("litmus", document, "--engine", "all")
    assert again.returncode == 0, again.stdout + again.stderr


def test_a_limit_is_told(loco_sim):
    done = loco_sim("soundness", "--library", "sv", "--max-clients", 10)
    assert done.returncode == 0
    assert done.stdout.endswith("but the search stopped early: after 10 clients (--max-clients)\n")
    done = loco_sim("soundness", "--library", "msw", "--calls", 4, "--max-seconds", 0.01)
    assert done.stdout.endswith("but the search stopped early: after 0.01 s (--max-seconds)\n")


def test_clients_with_too_many_executions_are_told(loco_sim):
    few = ("soundness", "bal", "--calls", 1, "--promises")
    done = loco_sim(*few, "--max-executions", 2)
    assert done.returncode == 0
    found = re.search(r"stopped early: of (\d+) client\(s\) no more than 2 executions were looked at "
                      r"\(--max-executions; 0: all\)\n$", done.stdout)
    as_json = json.loads(loco_sim(*few, "--max-executions", 2, "--json").stdout)
    assert not as_json["complete"] and int(found[1]) == as_json["clients_cut"] > 0
    assert "locally sound: all promises are kept" in loco_sim(*few, "--max-executions", 0).stdout
    without = loco_sim("soundness", "bal", "--calls", 1, "--max-executions", 2)
    assert without.returncode == 2 and "--promises" in without.stderr


def test_bad_arguments(loco_sim):
    assert loco_sim("soundness").returncode == 2
    assert loco_sim("soundness", "--library", "kvstore").returncode == 2
    assert loco_sim("soundness", "--library", "sv", "--class", "weak").returncode == 2
    assert loco_sim("soundness", "--library", "sv", "--bug", "home_cas").returncode == 2
    assert loco_sim("soundness", "--library", "sv", "--threads", 0).returncode == 2
    wrong = loco_sim("soundness", "--library", "sv", "--bug", "guards_forward")
    assert wrong.returncode == 2
    assert "expected --library msw" in wrong.stderr


@pytest.mark.parametrize(("option", "library", "other"), [("--transitive", "bal", "sv"), ("--guards", "msw", "bal"),
                                                          ("--ring-cells", "rbl", "msw")])
def test_an_option_of_another_library_is_refused(loco_sim, option, library, other):
    words = [option, 4] if option == "--ring-cells" else [option]
    wrong = loco_sim("soundness", "--library", other, "--calls", 1, *words)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == f"loco-sim soundness: {option}: expected --library {library}, found --library {other}\n"
    assert loco_sim("soundness", "--library", library, "--calls", 1, *words).returncode == 0


@pytest.mark.parametrize("kind", ["weak", "node", "strong"])
def test_locks_keep_what_their_class_promises(loco_sim, kind):
    done = loco_sim("soundness", "lock", "--class", kind, "--calls", 1, "--json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert found["sound"] and found["complete"] and found["clients"] > 20


@pytest.mark.parametrize(("bug", "shown"), [
    ("release_before_data", "rfaa(_, lock, -1); "),  # then the work
    ("no_fence", "put(x4, 1); rfaa(_, lock, -1)"),  # towards another node than the lock's
    ("get_and_put", "get(z3, lock)"), ("home_cas", "cas(lock, 0, 1)")])
def test_a_mistake_in_a_lock_is_found_in_a_second(loco_sim, bug, shown):
    done = loco_sim("soundness", "lock", "--class", "strong", "--calls", 2, "--threads", 3, "--bug", bug, "--json",
                    "--times")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert not found["sound"] and found["outcomes"] and found["seconds"] < 1
    assert shown in found["counterexample"] or bug == "get_and_put" and "get(z1, lock)" in found["counterexample"]
