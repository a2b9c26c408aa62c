"""./dev: what it refuses, when it asks for SimGrid, how it tells of progress; and what its table of packages relies on."""

import os
import pathlib
import re
import subprocess

import pytest


def dev(root, *arguments):
    return subprocess.run([root / "dev", *arguments], capture_output=True, text=True, timeout=60)


def functions(root, *names):
    """The text of some of its functions, which a test then calls by themselves."""
    text = (root / "dev").read_text()
    return "\n".join(re.search(rf"^{name}\(\) \{{.*?^\}}", text, re.DOTALL | re.MULTILINE)[0] for name in names)


def shell(text, *arguments, cwd=None):
    return subprocess.run(["bash", "-euo", "pipefail", "-c", text, "bash", *map(str, arguments)], capture_output=True, text=True,
                          timeout=60, cwd=cwd)


@pytest.mark.parametrize("arguments", [["fmt", "--foo"], ["fmt", "--check", "x"], ["test", "--foo"], ["asan", "x"], ["tsan", "x"],
                                       ["build", "x"], ["install", "a", "b"], ["uninstall", "--foo"], ["nothing"]])
def test_unknown_arguments_are_refused_before_anything_happens(root, arguments):
    done = dev(root, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith("dev: ") and "unknown" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("command", "test asan tsan fmt build install uninstall docs".split())
def test_help_is_no_argument_of_a_command(root, command):
    for arguments in ([command, "--help"], [command, "-h"], [command, "x", "--help"]):
        done = dev(root, *arguments)
        assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("usage: ./dev")


INSTALL = """
release=$1/build logs=$1/log verbose=0 prefix=$2
say() { printf 'dev: %s\\n' "$*" >&2; }
die() { say "$*"; exit 2; }
build_package() { mkdir -p "$release"; }
quietly() { shift 2; "$@"; }
put() { mkdir -p "${1%/*}"; touch "$1"; printf "$separator%s" "$1" >>"$manifest"; separator='\\n'; }
cmake() {  # as CMake does it: no end of line at the end of a list, folders that nothing is in
  local component=$4 separator= manifest=$release/install_manifest_$4.txt
  rm -f "$manifest"
  if [[ $component == program ]]; then
    put "$prefix/bin/loco-sim"
    put "$prefix/share/loco-sim/scenarios/quickstart.yaml"
    mkdir -p "$prefix/share/loco-sim/scenarios/nothing"
  else
    put "$prefix/include/loco-sim/loco.hpp"
    put "$prefix/lib/loco-sim/exec/ssh"
    put "$prefix/lib/loco-sim/libloco_sim_text.a"
  fi
}
"""


def test_uninstalling_leaves_what_was_there_before(root, tmp_path):
    text = INSTALL + functions(root, "folders_below", "run_install", "run_uninstall")
    prefix = tmp_path / "a prefix"
    for folder in ("bin", "lib", "share/man"):  # some are empty, as in /usr/local
        (prefix / folder).mkdir(parents=True)
    (prefix / "lib/mine").touch()
    before = sorted(prefix.rglob("*"))
    for times in (1, 2):  # a second installation finds the folders of the first
        for _ in range(times):
            done = shell(text + '\nrun_install "$2"', tmp_path, prefix)
            assert done.returncode == 0, done.stderr
        assert (prefix / "lib/loco-sim/exec/ssh").exists()
        done = shell(text + '\nrun_uninstall "$2"', tmp_path, prefix)
        assert (done.returncode, done.stdout) == (0, "") and "nothing of loco-sim is left" in done.stderr, done.stderr
        assert sorted(prefix.rglob("*")) == before

    shell(text + '\nrun_install "$2"', tmp_path, prefix)
    (prefix / "share/loco-sim/scenarios/mine.yaml").touch()
    assert shell(text + '\nrun_uninstall "$2"', tmp_path, prefix).returncode == 0
    assert {*prefix.rglob("*")} - {*before} == {prefix / f"share/loco-sim{rest}" for rest in
                                                ("", "/scenarios", "/scenarios/mine.yaml")}


def test_simgrid_is_asked_for_by_what_needs_it(root, tmp_path):
    names_flow = f"root={root}\n{functions(root, 'names_flow')}\nnames_flow \"$@\""

    def asks(*arguments):
        return shell(names_flow, *arguments, cwd=root).returncode == 0

    for path in sorted((root / "scenarios").rglob("*.yaml")):
        yaml = re.sub(r"#.*", "", path.read_text())
        assert asks("run", path) == bool(re.search(r"model: flow\b", yaml)), path
    assert asks("run", "fabric/flow") and asks("run", "flow") and not asks("run", "quickstart")
    assert asks("run", "scenarios/quickstart.yaml", "--set", "fabric.model=flow")
    assert asks("sweep", "scenarios/quickstart.yaml", "--vary", "fabric.model=packet,flow")
    assert asks("run", "scenarios/quickstart.yaml", "--set", "fabric.platform=cluster.xml")
    assert not asks("run", "scenarios/quickstart.yaml", "--set", "fabric.flow_control=pfc")
    mine = tmp_path / "mine.yaml"
    for text in ("sweep: {fabric.model: [packet, flow]}", "sweep:\n  fabric.model:\n    - flow", "fabric: {platform: a.xml}"):
        mine.write_text(text + "\n")
        assert asks("run", mine), text


QUIETLY = 'logs=$1\nverbose=0\n{}\nquietly build.txt "first build:" bash -c "$2"\n'


def test_progress_is_one_line(root, tmp_path):
    steps = 'for i in 3 9 10 25 50 99 100; do echo "[ $i%] Building CXX object"; done; echo a warning'
    done = shell(QUIETLY.format(functions(root, "quietly")), tmp_path / "log", steps)
    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(r"dev: first build: 10% 20% 50% 90% 100%: done, \d+ s\n", done.stderr)
    assert "a warning" in (tmp_path / "log/build.txt").read_text()


def test_what_went_wrong_is_shown(root, tmp_path):
    steps = 'echo "[ 10%] Building CXX object"; echo "x.cpp:1:1: error: no"; echo "[ 20%] Building CXX object"; exit 3'
    done = shell(QUIETLY.format(functions(root, "quietly")), tmp_path / "log", steps)
    assert done.returncode == 3
    assert re.fullmatch(r"dev: first build: 10% 20%: failed, \d+ s\nx\.cpp:1:1: error: no\n", done.stderr)


def test_without_installing_everything_that_is_missing_is_listed(root, tmp_path):
    names = re.findall(r"^(?:build) +(\S+) ", (root / "dev").read_text(), re.MULTILINE)
    # a path without any of the programs: the headers may be there, they are found below /usr/include
    tools = "bash dirname sed grep sort head cat env readlink realpath".split()
    for tool in tools:
        (tmp_path / tool).symlink_to(subprocess.run(["which", tool], capture_output=True, text=True, check=True).stdout.strip())
    done = subprocess.run([root / "dev", "--no-install", "run", "scenarios/quickstart.yaml"], capture_output=True, text=True,
                          timeout=60, env=os.environ | {"PATH": str(tmp_path)})
    assert done.returncode == 2 and done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert "--no-install forbids" in last
    assert all(name in last for name in names if name in ("g++", "cmake", "ninja-build", "ccache"))


def test_catch2_is_included_in_one_place(root):
    """Its versions 2 and 3 have different headers."""
    found = [path for kind in ("*.cpp", "*.hpp") for path in (root / "tests").rglob(kind) if "<catch2/" in path.read_text()]
    assert found == [root / "tests/catch.hpp"]


def test_a_folder_stands_for_what_it_is_linked_into(root, program):
    release = pathlib.Path(program).resolve().parent.parent
    if not (release / "build.ninja").exists():
        pytest.skip("the program is not in a build tree")
    text = "\n".join(["root=$1 release=$2; declare -A inputs_of=()", functions(root, "programs_with", "scripts_of"),
                      re.search(r"^test_programs\(\).*\n^test_scripts\(\).*", (root / "dev").read_text(), re.MULTILINE)[0],
                      'for folder in "${@:3}"; do programs=() scripts=(); programs_with "$folder"; scripts_of "$folder";',
                      'echo "${programs[@]##*/}" "${scripts[@]##*/}"; done'])
    folders = ["verify", "fabric", "nic_model/requester", "docs"]
    done = shell(text, root, release, *folders, cwd=root)
    assert done.returncode == 0, done.stderr
    tests_of = dict(zip(folders, map(set, map(str.split, done.stdout.splitlines()))))

    assert {"test_verify", "test_verify.py", "test_limits.py"} <= tests_of["verify"]
    assert "test_yaml" not in tests_of["verify"] and "test_verify" not in tests_of["fabric"]
    assert {"test_fabric", "test_nic_model", "test_loco"} <= tests_of["fabric"]
    assert "test_nic_model" in tests_of["nic_model/requester"]  # whose files are the library of nic_model
    assert {"test_documents.py", "test_docs.py"} <= tests_of["docs"]


def test_the_machine_is_tested_by_itself(root, program):
    """./dev test builds these programs sanitized alone: one label chooses them there and leaves them out elsewhere, and they
    are made of nothing above the machine, which would have to be compiled twice for them."""
    text = (root / "dev").read_text()
    assert "select=(-LE 'long|machine')" in text and 'sanitized "$machine" -L machine -LE long' in text
    release = pathlib.Path(program).resolve().parent.parent
    if not (release / "CTestTestfile.cmake").exists():
        pytest.skip("the program is not in a build tree")

    def run(*words):
        return subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout

    machine = re.findall(r"Test +#\d+: (\w+)", run("ctest", "--test-dir", release, "-N", "-L", "machine"))
    assert {"sim", "fabric", "nic_model"} <= set(machine)
    inputs = run("ninja", "-C", release, "-t", "inputs", *(f"test_{name}" for name in machine)).splitlines()
    assert any(file.startswith("nic_model/") for file in inputs)
    assert not [file for file in inputs if re.match(r"(loco_sim|model|hosts|verify)/", file)]
