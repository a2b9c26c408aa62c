"""No command writes over a file that it reads, nor two outputs to one file; what was there stays."""

import json
import shutil

import pytest

ROWS = ("- title: t\n  source: s\n  note: n\n  hardware: cx5-roce-25g\n  rows:\n"
        "    - {what: w, test: write_lat, size: 8, iterations: 5, us: 2.0}\n")
# Words in capitals are files; IN is both read and written.
OVER = {
    "run": "run IN --trace IN",
    "check": "check IN.trace --dot IN.trace",
    "export": "trace export IN.trace --to csv --out IN.trace",
    "report": "report IN.json -o IN.json",
    "litmus": "litmus IN.litmus --witness d=0 --dot IN.litmus",
    "litmus-folder": "litmus FOLDER --witness d=0 --dot IN.litmus",
    "verify-page": "verify IN.rma -o IN.rma",
    "verify-dot": "verify IN.rma --dot IN.rma",
    "verify-predicates": "verify IN.rma --engine predicates --predicates PREDICATES --certificate PREDICATES",
    "validation": "perf validate --rows ROWS --page ROWS",
    "sweep": "sweep IN.json --out IN.json",
}


@pytest.fixture
def files(loco_sim, root, tmp_path):
    """The words that stand for files, with files of the right kinds."""
    scenario, trace = tmp_path / "s.yaml", tmp_path / "t.trace"
    shutil.copy(root / "scenarios/quickstart.yaml", scenario)
    assert loco_sim("run", scenario, "--trace", trace, "--quiet").returncode == 0
    result = tmp_path / "r.json"
    result.write_text(loco_sim("run", scenario, "--json").stdout)
    folder = tmp_path / "tests"
    folder.mkdir()
    test = folder / "l.yaml"
    test.write_text("name: t\nmodel: rdmawait\nlocations: {x: {node: 0}}\nthreads: [{node: 0, code: 'd = x'}]\n")
    program = tmp_path / "p.rma"
    shutil.copy(root / "scenarios/verify/store_buffering.rma", program)
    rows, predicates = tmp_path / "rows.yaml", tmp_path / "predicates"
    rows.write_text(ROWS)
    predicates.write_text("X == 0\n")
    return {"IN": scenario, "IN.trace": trace, "IN.json": result, "IN.litmus": test, "IN.rma": program, "FOLDER": folder,
            "ROWS": rows, "PREDICATES": predicates}


@pytest.mark.parametrize("case", OVER)
@pytest.mark.parametrize("by_link", [False, True], ids=["itself", "link"])
def test_an_input_is_not_written_over(loco_sim, files, tmp_path, case, by_link):
    words = OVER[case].split()
    read = files[words[-1]]
    written = read
    if by_link:
        written = tmp_path / f"link{read.suffix}"
        written.symlink_to(read)
        if case == "litmus-folder":
            pytest.skip("a link elsewhere is no document of the folder")
    before = read.read_bytes()
    done = loco_sim(*(files.get(word, word) for word in words[:-1]), written)
    assert done.returncode == 2 and done.stdout == "", done.stderr
    assert done.stderr.startswith(f"{written}: expected another file to write, found one that the command reads (")
    assert done.stderr.count("\n") == 1 and read.read_bytes() == before


def test_a_scenario_that_names_itself_as_its_trace(loco_sim, tmp_path):
    scenario = tmp_path / "s.yaml"
    text = json.dumps({"workload": {"kind": "barrier", "iterations": 1}, "trace": {"path": str(scenario)}})
    scenario.write_text(text)
    done = loco_sim("run", scenario)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.endswith("trace.path: expected another file to write, found one that the command reads (scenario)\n")
    assert scenario.read_text() == text


@pytest.mark.parametrize("case", ["profile", "base", "trace.path", "platform", "sweep", "perf", "--set"])
def test_what_a_scenario_names_is_read_too(loco_sim, tmp_path, case):
    """Whichever key names it, and whatever that starts from."""
    base, mine, scenario = tmp_path / "base.yaml", tmp_path / "mine.yaml", tmp_path / "s.json"
    platform = tmp_path / "p.xml"
    base.write_text("base: cx5-roce-25g\ncpu: {load: 7ns}\n")
    mine.write_text(f"base: {base}\n")
    platform.write_text("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                        "<platform version='4.1'><cluster id='c' prefix='h' suffix='' radical='0-3' speed='1Gf' bw='25Gbps' "
                        "lat='1us'/></platform>\n")
    content = {"hardware": str(mine), "workload": {"kind": "barrier", "iterations": 1}}
    rows = tmp_path / "rows.yaml"
    rows.write_text(ROWS.replace("cx5-roce-25g", str(mine)))
    written, command = base, ["run", scenario, "--trace", base]
    if case == "profile":
        written, command = mine, ["run", scenario, "--trace", mine]
    elif case == "trace.path":
        content["trace"] = {"path": str(base)}
        command = ["run", scenario]
    elif case == "platform":
        content.update(platform=str(platform), fabric={"model": "flow"})
        written, command = platform, ["run", scenario, "--trace", platform]
    elif case == "sweep":
        content["sweep"] = {"seed": [1]}
        written = tmp_path / "link.csv"
        written.symlink_to(base)
        command = ["sweep", scenario, "--out", written]
    elif case == "perf":
        command = ["perf", "validate", "--rows", rows, "--page", base]
    elif case == "--set":
        content["hardware"] = "cx5-roce-25g"
        command = ["run", scenario, "--set", f"hardware={mine}", "--trace", base]
    scenario.write_text(json.dumps(content))
    before = written.read_bytes()
    done = loco_sim(*command)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.stderr
    assert "expected another file to write, found one that the command reads (" in done.stderr
    assert written.read_bytes() == before


def test_a_scenario_by_name_is_not_written_over(loco_sim, root):
    file = root / "scenarios/quickstart.yaml"
    before = file.read_bytes()
    done = loco_sim("run", "quickstart", "--trace", file)
    assert done.returncode == 2 and "expected another file to write" in done.stderr and file.read_bytes() == before


def test_two_outputs_are_two_files(loco_sim, files, tmp_path):
    done = loco_sim("verify", files["IN.rma"], "--dot", tmp_path / "new", "-o", f"{tmp_path}/./new")
    assert done.returncode == 2 and "expected another file to write, found the one of --" in done.stderr
    assert not (tmp_path / "new").exists()


def test_devices_may_be_read_and_written(loco_sim, files):
    assert loco_sim("verify", files["IN.rma"], "--dot", "/dev/null", "-o", "/dev/null").returncode == 1
