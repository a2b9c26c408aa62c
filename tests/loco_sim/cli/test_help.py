"""What teaches the command line: help, the manual page, completions, version, colours, quiet and verbose."""

import os
import pathlib
import pty
import re
import shutil
import subprocess

import pytest

COMMANDS = ["run", "validate", "check", "list", "litmus", "generate", "robust", "soundness", "sweep", "report", "conformance", "schema", "trace", "completion", "man",
            "new"]


def test_help_names_every_command_and_shows_examples(loco_sim):
    top = loco_sim("--help").stdout
    assert all(re.search(rf"^  {command} ", top, re.MULTILINE) for command in COMMANDS)
    assert "Examples:" in top and "Exit codes" in top
    for command in (["run"], ["validate"], ["check"], ["litmus"], ["list"], ["trace", "export"], ["completion"]):
        assert f"Examples:\n  loco-sim {' '.join(command)} " in loco_sim(*command, "--help").stdout


def can_exec(program):
    """Was it built with libibverbs-dev, and are Debian's programs there?"""
    shim = pathlib.Path(program).parent.parent / "lib/loco-sim/exec/libibverbs.so.1"
    return shim.exists() and all(shutil.which(name) for name in ("ibv_rc_pingpong", "ib_send_lat"))


def test_the_examples_are_accepted(loco_sim, program, root, tmp_path):
    """Every example of every command runs; output goes to a directory of its own."""
    man = loco_sim("man").stdout
    lines = re.findall(r"^\\fBloco\\-sim (.*)\\fR$", man, re.MULTILINE)
    examples = [line.replace("\\-", "-").replace("\\e", "\\") for line in lines if not line.startswith("COMMAND")]
    assert len(examples) > 12
    for name in ("scenarios", "tests", "hardware"):
        (tmp_path / name).symlink_to(root / name)
    order = sorted(examples, key=lambda line: not line.startswith("run"))  # they write the trace that others read
    for line in order:
        line = line.split(" | ")[0].split(" > ")[0]
        if line.startswith("exec") and not can_exec(program):
            continue
        if "completion" in line or line == "man" or "--engine all" in line or line.startswith("perf validate"):
            continue
        # What they show is not how long they take; the measurements of `perf validate` are run by tests of their own.
        if line.startswith("sweep") or "scenarios/barrier.yaml" in line:
            line += " --set workload.iterations=10"
        for shown, quicker in (("corerma --jobs", "corerma --tests 1 --size small --jobs"), ("_lat -a", "_lat -a -n 50"),
                               ("fit --hardware", "fit --tests 1 --hardware"), ("fig16_barrier.yaml", "fig19_lock.yaml")):
            line = line.replace(shown, quicker)
        done = subprocess.run([program, *line.split()], cwd=tmp_path, capture_output=True, text=True, timeout=200)
        assert (done.returncode == 0 or "--help" in line or "nodes=1000" in line or "--bug" in line
                or "lost_update" in line or "--replay-on" in line), (line, done.stderr)


def test_version_says_how_it_was_built(loco_sim):
    lines = loco_sim("--version").stdout.splitlines()
    assert re.fullmatch(r"loco-sim \d+\.\d+\.\d+", lines[0])
    assert [line.split(":")[0] for line in lines[1:]] == ["compiler", "build", "system", "trace format"]


def test_quiet_and_verbose(loco_sim):
    quiet = loco_sim("run", "scenarios/quickstart.yaml", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    broken = loco_sim("run", "scenarios/faults/barrier_without_fence.yaml", "-q")
    assert broken.returncode == 1 and "inconsistent" in broken.stdout
    verbose = loco_sim("run", "scenarios/quickstart.yaml", "-v")
    assert "packets_sent" in verbose.stdout and "events/s" in verbose.stderr
    assert verbose.stdout.startswith(loco_sim("run", "scenarios/quickstart.yaml").stdout)


def on_a_terminal(program, root, environment):
    """What loco-sim prints when stdout is a terminal."""
    try:
        parent, child = pty.openpty()
    except OSError as error:
        pytest.skip(f"no pseudo-terminal here: {error}")
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"} | environment
    subprocess.run([program, "run", "scenarios/quickstart.yaml"], stdout=child, cwd=root, env=env, timeout=60)
    os.close(child)
    out = b""
    while True:
        try:
            chunk = os.read(parent, 65536)
        except OSError:
            break
        if not chunk:
            break
        out += chunk
    os.close(parent)
    return out.decode()


def test_colours_only_on_a_terminal(loco_sim, program, root):
    assert "\x1b[32mconsistent\x1b[0m:" in on_a_terminal(program, root, {})
    assert "\x1b" not in on_a_terminal(program, root, {"NO_COLOR": "1"})
    assert "\x1b" not in on_a_terminal(program, root, {"TERM": "dumb"})
    assert "\x1b" not in loco_sim("run", "scenarios/quickstart.yaml").stdout


def test_man_page(loco_sim, tmp_path):
    page = loco_sim("man").stdout
    assert page.startswith(".TH LOCO") and all(f".SS loco\\-sim {command}\n" in page for command in COMMANDS)
    assert "\\fB\\-\\-json\\fR" in page and "NO_COLOR" in page
    if shutil.which("man") is None and shutil.which("groff") is None:
        return
    path = tmp_path / "loco-sim.1"
    path.write_text(page)
    tool = ["man", "--warnings", "-l", str(path)] if shutil.which("man") else ["groff", "-man", "-Tascii", "-ww", str(path)]
    done = subprocess.run(tool, capture_output=True, text=True, env={**os.environ, "MANPAGER": "cat", "MAN_KEEP_STDERR": "1"})
    assert done.returncode == 0 and done.stderr == "", done.stderr


def completed(script, root, line):
    """What bash offers for the last word of the line."""
    words = line.split(" ")
    code = f"""
source {script}
COMP_WORDS=({" ".join(f"'{w}'" for w in words)})
COMP_CWORD={len(words) - 1}
_loco_sim
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, cwd=root)
    assert done.stderr == "", done.stderr
    return done.stdout.split()


def test_bash_completes_commands_options_values_and_files(loco_sim, root, tmp_path):
    script = tmp_path / "loco-sim.bash"
    script.write_text(loco_sim("completion", "bash").stdout)
    assert set(COMMANDS) <= set(completed(script, root, "loco-sim "))
    assert completed(script, root, "loco-sim va") == ["validate"]
    assert {"--seed", "--set", "--json", "--quiet"} <= set(completed(script, root, "loco-sim run --"))
    assert completed(script, root, "loco-sim run scenarios/qui") == ["scenarios/quickstart.yaml"]
    assert set(completed(script, root, "loco-sim list ")) >= {"hardware", "topologies", "workloads", "models", "faults"}
    assert set(completed(script, root, "loco-sim trace export t.trace --to ")) == {"perfetto", "dot", "csv", "text"}
    assert set(completed(script, root, "loco-sim completion ")) >= {"bash", "zsh", "fish"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_accept_their_scripts(loco_sim, shell, tmp_path):
    text = loco_sim("completion", shell).stdout
    for command in COMMANDS:
        assert command in text
    assert "perfetto" in text
    if shutil.which(shell):
        path = tmp_path / "script"
        path.write_text(text)
        assert subprocess.run([shell, "-n", str(path)]).returncode == 0
    assert loco_sim("completion", "tcsh").returncode == 2


def offered_by_fish(folder, line):
    code = f"source {folder}/script; complete -C '{line}'"
    done = subprocess.run(["fish", "--no-config", "-c", code], capture_output=True, text=True, cwd=folder, timeout=60)
    assert done.stderr == "", done.stderr
    return {one.split("\t")[0] for one in done.stdout.splitlines()}


def offered_by_zsh(folder, line):
    """What its completion lists, in a shell on a terminal of its own."""
    (folder / "_loco-sim").write_text((folder / "script").read_text())
    code = f"""
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1=; COLUMNS=200; LISTMAX=100000; fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D'
zpty -w z 'list() {{ zle list-choices; zle -R; print LIS""TED }}; zle -N list; bindkey "^I" list; echo REA""DY'
zpty -r z out '*READY*'
zpty -w -n z '{line}'$'\\t'
zpty -r z out '*LISTED*'
print -r -- "$out"
zpty -d z
"""
    done = subprocess.run(["zsh", "-f", "-c", code], capture_output=True, text=True, cwd=folder, timeout=60)
    text = done.stdout.split("READY")[-1]
    return set(re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", " ", text).split())


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_offer_scenarios_profiles_and_keys(loco_sim, shell, tmp_path):
    if not shutil.which(shell):
        pytest.skip(f"no {shell}")
    (tmp_path / "script").write_text(loco_sim("completion", shell).stdout)
    offered = offered_by_fish if shell == "fish" else offered_by_zsh
    assert "quickstart" in offered(tmp_path, "loco-sim run qui")
    assert {"cx5-roce-25g", "cx7-ib-ndr"} <= offered(tmp_path, "loco-sim perf write_bw --hardware cx")
    assert {"hardware.nic.qp_gap=", "hardware.nic.qp_gap_rate="} <= offered(tmp_path, "loco-sim run quickstart --set hardware.nic.qp")
    assert "workload.iterations=" in offered(tmp_path, "loco-sim sweep quickstart --set workload.iter")


def test_help_that_cannot_be_written_is_an_error(program, root):
    for arguments in (["--help"], ["run", "--help"], ["--version"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([program, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                                  cwd=root, check=False)
        assert done.returncode == 1 and done.stderr == "loco-sim: cannot write to stdout\n"
