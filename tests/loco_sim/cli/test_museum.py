"""scenarios/museum: the questions come out as their documents say, and docs/museum.md's table is what the program finds."""

import json
import os
import re
import subprocess

import pytest

UPDATE = bool(os.environ.get("LOCO_SIM_UPDATE"))
MARK = "<!-- generated: LOCO_SIM_UPDATE=1 ./dev test -->\n"
HARDWARE = ("model-weak", "cx5-roce-25g", "efa-srd-like")


def exhibits(root):
    """(file, question, where it was asked, answer) from the comments in front of each."""
    for path in sorted((root / "scenarios/museum").glob("*.yml")):
        head = " ".join(re.match(r"(?:# .*\n)+", path.read_text())[0].replace("\n# ", "\n").removeprefix("# ").split("\n"))
        question, asked, answer = re.fullmatch(r"Question: (.*) Asked in: (.*) Answer: (.*)", head.strip()).groups()
        yield path, question, asked, answer


def short(repair):
    """The first of the smallest repairs."""
    names = [f"`{i['insert']}`" + (f" (`{i['names']}`)" if "names" in i else "") for i in repair["sets"][0]]
    more = len(repair["sets"]) - 1
    return " and ".join(names) + (f", or {more} other" + ("s" if more > 1 else "") if more else "")


@pytest.fixture(scope="module")
def found(program, root):


    def call(*arguments):
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, cwd=root, check=False)
        assert done.returncode < 2, done.stderr
        return json.loads(done.stdout)

    return {"litmus": call("litmus", "scenarios/museum", "--json"),
            "robust": call("robust", "scenarios/museum", "--repair", "--json", "--max-seconds", "5"),
            **{h: call("litmus", "scenarios/museum", "--engine", "explore", "--hardware", h, "--json") for h in HARDWARE}}


def test_every_question_has_the_answer_that_its_documents_expect(found):
    assert len(found["litmus"]) >= 60
    assert {r["verdict"] for r in found["litmus"]} == {"ok"}
    assert {r["verdict"] for r in found["model-weak"]} == {"ok"}
    assert all(r["robust"] is not None for r in found["robust"])
    assert all(len(r["cycle"]) <= 6 for r in found["robust"])


def test_the_table_is_what_the_program_finds(found, root):
    by_name = {name: {r["name"]: r for r in results} for name, results in found.items()}
    rows = ["| question | asked in | test | answer | robust, smallest repair | shows on |", "|---|---|---|---|---|---|"]
    for path, question, asked, answer in exhibits(root):
        for k, document in enumerate(re.findall(r"^name: (.*)$", path.read_text(), re.MULTILINE)):
            robust = by_name["robust"][document]
            repair = ("yes" if robust["robust"] else f"no; {short(robust['repair'])}" if robust["repair"]
                      else f"no; no repair ({robust['reason']})")
            allowed = re.search(rf"^name: {re.escape(document)}$.*?^outcomes: (.*?)$", path.read_text(), re.MULTILINE | re.DOTALL)[1]
            wanted = re.search(r"\[\{(.*?)\}", allowed)[1]
            outcome = {k: int(v) for k, v in (e.split(": ") for e in wanted.split(", "))}
            shows = [h for h in HARDWARE
                     if any(outcome.items() <= o.items() for o in by_name[h][document]["outcomes"])]
            head = (question, asked) if k == 0 else ("", "")
            rows.append(f"| {head[0]} | {head[1]} | [{document}](../scenarios/museum/{path.name}) | "
                        f"{answer if k == 0 else ''} | {repair} | `{wanted}`: {', '.join(shows) or 'nowhere'} |")
    table = "\n".join(rows) + "\n"
    page = root / "docs/museum.md"
    before, _, after = page.read_text().partition(MARK)
    after = after[after.index("\n\n") + 1:] if "\n\n" in after else ""
    text = before + MARK + table + after
    if UPDATE:
        page.write_text(text)
    assert page.read_text() == text, "docs/museum.md is out of date: LOCO_SIM_UPDATE=1 ./dev test"


@pytest.mark.parametrize("page", ["docs/atomics.md", "docs/robustness.md", "docs/museum.md"])
def test_the_commands_of_the_pages_run(page, loco_sim, root):
    commands = re.findall(r"^    loco-sim (.*?)(?:  +.*)?$", (root / page).read_text(), re.MULTILINE)
    assert len(commands) >= 3
    for command in commands:
        words = [w.strip('"') for w in re.findall(r'"[^"]*"|\S+', command)]
        done = loco_sim(*words)
        assert done.returncode in (0, 1), (command, done.stderr)
        assert done.stdout or "--quiet" in words


def test_the_corpus_of_atomics_on_the_hardware(loco_sim, root):
    """Every outcome that a test allows is seen on model-weak, or excluded by completions in order; none that it forbids."""
    import yaml

    documents = {d["name"]: d for d in yaml.safe_load_all((root / "tests/litmus/atomics.yaml").read_text())}
    seen = json.loads(loco_sim("litmus", "tests/litmus/atomics.yaml", "--engine", "explore", "--json").stdout)
    assert len(seen) == len(documents) == 83 and {r["verdict"] for r in seen} == {"ok"}
    for result in seen:
        for outcome in documents[result["name"]]["outcomes"].get("allowed", ()):
            shown = any(outcome.items() <= o.items() for o in result["outcomes"])
            excluded = any("in-order completion excludes" in n for n in result.get("notes", ()))
            assert shown or excluded, result["name"]
    none = loco_sim("litmus", "tests/litmus/atomics.yaml", "--engine", "explore", "--hardware", "efa-srd-like", "--test", "cell-g12")
    assert none.returncode == 1 and "Not run" in none.stdout and "nic.atomic_cap: none" in none.stdout
