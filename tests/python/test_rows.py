"""Python's calls hold what the tables of the commands say (loco_sim/commands), of which the command line is made, too."""

import inspect
import os
from pathlib import Path

import pytest

import loco_sim as ls
from loco_sim import _core

CALLS = {
    ls.corerma: _core.corerma_arguments,
    ls.fit: _core.fit_arguments,
    ls.generate: _core.generate_arguments,
    ls.litmus: _core.litmus_arguments,
    ls.perf: _core.perf_arguments,
    ls.robust: _core.robust_arguments,
    ls.verify: _core.verify_arguments,
}
OTHER = {ls.litmus: {"tests"}, ls.robust: {"tests"}, ls.verify: {"program"}}  # files, which commands take as words
LISTS = {"size", "variants", "replay_on"}


def differences(call, rows):
    """Keywords that the call has and the rows have not, or the other way round, or with another default."""
    parameters = inspect.signature(call).parameters
    expected = {keyword: fallback for keyword, fallback, *_ in rows}
    found = (set(parameters) - OTHER.get(call, set())) ^ set(expected)
    for keyword in set(expected) & set(parameters):
        given = parameters[keyword].default
        said = given is not inspect.Parameter.empty and not (keyword in LISTS and not given)
        if said and (given or None) != (expected[keyword] or None):
            found.add(keyword)
    return found


@pytest.mark.parametrize("call, rows", CALLS.items(), ids=lambda x: x.__name__)
def test_signatures_have_the_keywords_and_defaults_of_the_rows(call, rows):
    assert differences(call, rows()) == set()


def test_a_signature_that_has_others_is_noticed():
    def verify(program, *, networks="unordered", fairness="none"):
        pass

    rows = [row for row in _core.verify_arguments() if row[0] in ("network", "fairness")]
    assert differences(verify, [*rows, ("program", None)]) == {"network", "networks", "fairness"}


@pytest.mark.parametrize("call, rows", CALLS.items(), ids=lambda x: x.__name__)
def test_docstrings_name_every_keyword(call, rows):
    arguments = inspect.getdoc(call).split("Args:")[1].split("Raises:")[0]
    named = {word.strip() for line in arguments.splitlines() if ":" in line for word in line.split(":")[0].split(",")}
    assert {keyword for keyword, *_ in rows()} <= named


def test_the_page_has_the_tables():
    """docs/command-line.md, "Options that Python has"; LOCO_SIM_UPDATE=1 writes it."""
    page = Path(__file__).resolve().parents[2] / "docs/command-line.md"
    begin, end = "<!-- options: from the tables of loco_sim/commands -->\n\n", "\n<!-- end of options -->"
    head, rest = page.read_text().split(begin)
    tables = "\n".join(table(call.__name__, rows()) for call, rows in CALLS.items())
    if os.environ.get("LOCO_SIM_UPDATE"):
        page.write_text(head + begin + tables + end + rest.split(end)[1])
    assert page.read_text() == head + begin + tables + end + rest.split(end)[1]


def table(name, rows):
    """A row for each option: as `loco-sim NAME` calls it, as `ls.NAME()` does, what it takes, what it means."""
    lines = [f"| `{name}` | `ls.{name}()` | takes | |", "|---|---|---|---|"]
    for keyword, _, expected, meaning, names in rows:
        option = ", ".join(f"`{name}`" for name in names.split(",") if name.startswith("-"))
        lines.append(f"| {option} | `{keyword}` | {expected} | {meaning} |".replace("True or False", "no value"))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("call, first", [(ls.corerma, ()), (ls.fit, ("model-weak",)), (ls.generate, ("R1", 4)), (ls.litmus, ("x\n",)), (ls.perf, ("write_lat",)),
                                         (ls.robust, ("x\n",)), (ls.verify, ("{}",))], ids=lambda x: getattr(x, "__name__", ""))
def test_values_of_no_type_that_a_row_takes_are_refused(call, first):
    """Each keyword, in the words of its row: an InputError and a TypeError, which says what was expected."""
    names = list(inspect.signature(call).parameters)[:len(first)]
    for keyword, _, expected, *_ in CALLS[call]():
        if keyword in names or keyword in ("replay_on", "hardware", "statements", "rules"):  # YAML of any value, lists
            continue
        if (call, keyword) == (ls.litmus, "engine"):
            expected = expected.removesuffix(", all")  # the command's, which gives several results a test
        with pytest.raises(ls.InputError) as error:
            call(*first, **{keyword: object})
        assert isinstance(error.value, TypeError), keyword
        assert f"{call.__name__}: {keyword}: expected {expected}, found <class 'object'>" == str(error.value)
