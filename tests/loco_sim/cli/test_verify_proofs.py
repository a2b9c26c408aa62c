"""`loco-sim verify`: certificates, predicates of one's own, and the steps of the paper's method, from the command line."""

import json
import subprocess

import pytest

QUEUE = "scenarios/verify/queue.rma"
UNSAFE = "scenarios/verify/put_then_store.rma"
SAFE = "scenarios/verify/put_then_store_flush.rma"


@pytest.fixture(scope="module")
def z3(program, root):
    done = subprocess.run([program, "verify", SAFE, "--dump", "reduced"], capture_output=True, text=True, cwd=root)
    if done.returncode != 0:
        assert "expected a build with Z3" in done.stderr
        pytest.skip("a build without Z3")


def test_a_certificate_is_written_and_accepted(loco_sim, tmp_path, z3):
    file = tmp_path / "queue.cert"
    assert loco_sim("verify", QUEUE, "--certificate", file).returncode == 0
    done = loco_sim("verify", QUEUE, "--check-certificate", file, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["accepted"] is True
    assert loco_sim("verify", QUEUE, "--check-certificate", file).stdout.startswith(f"{file}: accepted: ")


def test_a_certificate_that_proves_less_is_rejected(loco_sim, tmp_path, z3):
    file = tmp_path / "queue.cert"
    assert loco_sim("verify", QUEUE, "--certificate", file).returncode == 0
    certificate = json.loads(file.read_text())
    for state in certificate["states"]:
        state["memory"] = []  # nothing is known of numbers any more, and the property is about numbers
    file.write_text(json.dumps(certificate))
    done = loco_sim("verify", QUEUE, "--check-certificate", file)
    assert done.returncode == 1 and done.stdout.startswith(f"{file}: rejected: ")


def test_what_is_no_certificate_is_bad_input(loco_sim, tmp_path, z3):
    file = tmp_path / "x"
    for text in ("{", "{}", "[]", '{"format": 1}'):
        file.write_text(text)
        done = loco_sim("verify", QUEUE, "--check-certificate", file)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"{file}:1:1: expected ") and done.stderr.count("\n") == 1


def test_what_is_unsafe_has_no_certificate(loco_sim, tmp_path):
    file = tmp_path / "no.cert"
    done = loco_sim("verify", UNSAFE, "--certificate", file)
    assert done.returncode == 1 and done.stderr.endswith(": no certificate: the program is unsafe\n")
    assert not file.exists()


def test_the_steps_of_the_method(loco_sim, tmp_path, z3):
    mine = tmp_path / "mine.txt"
    mine.write_text("// what r may be\nr <= 2\nX <= Y  // and more\n\n")
    for what, said in (("bp", "b0 = r <= 2"), ("reduced", "flush(1)"), ("ebp", "b0 = r <= 2")):
        done = loco_sim("verify", SAFE, "--dump", what, "--predicates", mine)
        assert done.returncode == 0 and said in done.stdout


def test_predicates_to_begin_with(loco_sim, tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text("r <= 7\nr <= 8\nr <= 9\n")  # of no use, so they come on top
    alone, more = (
        json.loads(loco_sim("verify", SAFE, "--engine", "predicates", "--json", *extra).stdout)[0]
        for extra in ((), ("--predicates", mine))
    )
    assert (alone["verdict"], more["verdict"]) == ("safe", "safe")
    assert more["predicates"] > alone["predicates"] >= 1


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("r <", 4, 'expected an integer, a variable or "(", found the end of the line'),
        ("r < 2 3", 7, 'expected an operator or the end of the line, found "3"'),
        ("q < 2", 1, 'expected a variable, found "q"'),
        ("X * Y > 2", 1, "expected a linear predicate, found a product of variables"),
        ("at(1, l)", 7, 'expected variables and integers in a predicate, found "at"'),
    ],
)
def test_predicates_that_are_wrong(loco_sim, tmp_path, line, place, message):
    mine = tmp_path / "mine.txt"
    mine.write_text(f"r == 1 // this one is fine\n{line}\n")
    done = loco_sim("verify", SAFE, "--predicates", mine)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{mine}:2:{place}: {message}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SAFE, UNSAFE, "--certificate", "x"), "expected one program with --certificate, found 2"),
        ((SAFE, UNSAFE, "--predicates", "x"), "expected one program with --predicates, found 2"),
        ((SAFE, "--certificate", "x", "--dump", "bp"), "--certificate: expected no --dump beside it, found one"),
        ((SAFE, "--dump", "bp", "--where"), "--dump: expected no --where beside it, found one"),
        ((SAFE, "--dump", "bq"), 'expected one of bp, reduced, ebp, found "bq"'),
        ((SAFE, "--certificate", "no/such/x"), "expected a file in a folder that is there"),
    ],
)
def test_options_that_do_not_go_together(loco_sim, arguments, message):
    done = loco_sim("verify", *arguments)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr and done.stderr.count("\n") == 1
