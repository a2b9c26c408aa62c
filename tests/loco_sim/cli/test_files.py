"""Outputs and files: closed and full streams, full disks, kills, several writers, names of others."""

import json
import os
import resource
import signal
import subprocess
import time

import pytest

QUICKSTART = "scenarios/quickstart.yaml"
PAPER = "tests/litmus/loco-paper.yaml"
PARTS = ".loco-sim-*.part"


@pytest.fixture
def trace(loco_sim, tmp_path):
    path = tmp_path / "q.trace"
    assert loco_sim("run", QUICKSTART, "--trace", path, "--quiet").returncode == 0
    return path


@pytest.fixture
def shell(program, root, tmp_path):
    """shell("... $LOCO ...") -> CompletedProcess of bash, with the program as $LOCO and a folder as $DIR."""

    def call(command):
        return subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True, timeout=60,
                              env=os.environ | {"LOCO": str(program), "DIR": str(tmp_path)})

    return call


# Each command that writes a file, to OUT.
WRITERS = {
    "run": ["run", QUICKSTART, "--set", "workload.iterations=300", "--check", "", "--trace", "OUT"],
    "export": ["trace", "export", "TRACE", "--to", "csv", "--out", "OUT"],
    "check": ["check", "TRACE", "--dot", "OUT"],
    "litmus": ["litmus", PAPER, "--test", "fig2a-poll-one", "--witness", "z=0", "--dot", "OUT"],
    "perf": ["perf", "validate", "--rows", "ROWS", "--page", "OUT"],
}


@pytest.fixture
def writer(trace, tmp_path):
    """writer("run", file) -> the arguments with which that command writes the file."""
    rows = tmp_path / "rows.yaml"
    rows.write_text("- title: t\n  source: s\n  note: n\n  hardware: cx5-roce-25g\n  rows:\n"
                    "    - {what: w, test: write_lat, size: 8, iterations: 5, us: 2.0}\n")

    def arguments(name, out):
        places = {"OUT": str(out), "TRACE": str(trace), "ROWS": str(rows)}
        return [places.get(word, word) for word in WRITERS[name]]

    return arguments


@pytest.mark.parametrize("streams", ["2>/dev/full", "2>&-", ">/dev/full", ">&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["run nothere", "check nothere", "trace export nothere --to csv", "litmus nothere",
                                     "perf write_lat --frob", "validate nothere", "list nothere", "nothere"])
def test_bad_input_is_2_whatever_the_streams(shell, command, streams):
    assert shell(f"$LOCO {command} {streams}").returncode == 2


@pytest.mark.parametrize("streams", ["2>/dev/full", "2>&-"])
def test_a_good_run_stays_good_when_nobody_hears_its_messages(shell, streams):
    done = shell(f"$LOCO run {QUICKSTART} -v --trace $DIR/t.trace {streams}")
    assert done.returncode == 0 and "consistent: " in done.stdout
    # stderr that is closed is no free number for a file: nothing of what is said there gets into the trace
    assert shell("$LOCO check $DIR/t.trace").returncode == 0


@pytest.mark.parametrize("streams", [">/dev/full", ">&-"])
def test_results_that_nobody_can_have_are_a_failure(shell, streams):
    done = shell(f"$LOCO run {QUICKSTART} --trace $DIR/t.trace {streams}")
    assert done.returncode == 1 and done.stderr == "loco-sim: cannot write to stdout\n"
    assert shell("$LOCO check $DIR/t.trace").returncode == 0, "the trace is kept all the same"


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_told_with_the_file_and_leaves_nothing(program, root, writer, tmp_path, name):
    folder = tmp_path / "out"
    folder.mkdir()
    out = folder / "file"
    out.write_text("before")
    limit = 4
    done = subprocess.run([program, *writer(name, out)], cwd=root, capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)))
    if name == "check" and done.returncode == 0:
        pytest.skip("no cycle, nothing to draw")
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == f"loco-sim: {out}: File too large", done.stderr
    assert out.read_text() == "before" and [p.name for p in folder.iterdir()] == ["file"]


@pytest.mark.parametrize("name", WRITERS)
def test_the_longest_name_is_written_and_a_longer_one_refused_before(loco_sim, writer, tmp_path, name):
    longest = tmp_path / ("x" * 255)
    done = loco_sim(*writer(name, longest))
    assert done.returncode == 0, done.stderr
    assert longest.exists() and not list(tmp_path.glob(PARTS))
    longer = loco_sim(*writer(name, tmp_path / ("x" * 256)))
    assert longer.returncode == 2 and longer.stdout == "" and "at most 255 bytes" in longer.stderr


@pytest.mark.parametrize("name", WRITERS)
def test_of_two_writers_one_has_written_all(program, loco_sim, root, writer, tmp_path, name):
    out = tmp_path / "shared"
    arguments = writer(name, out)
    assert loco_sim(*arguments).returncode == 0
    whole = out.read_bytes()
    running = [subprocess.Popen([program, *arguments], cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
               for _ in range(4)]
    seen = set()
    while any(p.poll() is None for p in running):
        seen.add(out.read_bytes())
    assert [(p.returncode, p.communicate()[1]) for p in running] == [(0, "")] * len(running)
    assert seen <= {whole} and out.read_bytes() == whole and not list(tmp_path.glob(PARTS))


def test_what_a_killed_writer_left_goes_with_the_next(loco_sim, tmp_path, trace):
    for left in (tmp_path / ".loco-sim-0123456789abcdef.part", tmp_path / ".loco-sim-x.part"):
        left.write_text("half")
    mine = tmp_path / "notes.part"
    mine.write_text("mine")
    assert loco_sim("trace", "export", trace, "--to", "csv", "--out", tmp_path / "q.csv").returncode == 0
    assert not list(tmp_path.glob(PARTS)) and mine.read_text() == "mine"


def test_killed_at_any_moment_a_file_is_as_before_or_whole(program, loco_sim, root, tmp_path):
    out = tmp_path / "t.trace"
    run = [program, "run", QUICKSTART, "--set", "workload.iterations=2000", "--check", "", "--trace", str(out), "--quiet"]
    for wait in (0.05, 0.1, 0.15, 0.2):
        out.write_text("before")
        process = subprocess.Popen(run, cwd=root)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert out.read_bytes() == b"before" or loco_sim("check", out, "--model", "sv").returncode == 0
    assert subprocess.run(run, cwd=root, timeout=60).returncode == 0
    assert not list(tmp_path.glob(PARTS)) and loco_sim("check", out, "--model", "sv").returncode == 0


def test_a_link_planted_beside_the_place_is_not_followed(loco_sim, tmp_path, trace):
    target = tmp_path / "target"
    target.write_text("mine")
    out = tmp_path / "q.csv"
    for name in (f"q.csv.{os.getpid()}.part", ".loco-sim-0000000000000000.part"):
        (tmp_path / name).symlink_to(target)
    assert loco_sim("trace", "export", trace, "--to", "csv", "--out", out).returncode == 0
    assert target.read_text() == "mine" and out.stat().st_size > 4


def test_an_interrupted_run_says_so(program, root, tmp_path):
    process = subprocess.Popen([program, "run", QUICKSTART, "--set", "workload.iterations=10000000", "--set",
                                "trace.level=none", "--check", ""], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (-signal.SIGINT, "", "loco-sim: interrupted\n")


@pytest.mark.parametrize("key", ["trace.path", "platform"])
def test_a_path_has_no_nul(loco_sim, tmp_path, key):
    kept = tmp_path / "a"
    kept.write_text("keep")
    scenario = tmp_path / "s.yaml"
    tree = {"workload": {"kind": "traffic"}, "fabric": {"model": "flow"}}
    path = f"{kept}\0b"
    tree.update({"platform": path} if key == "platform" else {"trace": {"path": path}})
    scenario.write_text(json.dumps(tree))
    done = loco_sim("run", scenario)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f"{key}: expected the name of a file, without NUL" in done.stderr
    assert kept.read_text() == "keep"


EVIL = "a\x1b[31mb\nconsistent: c\x85d\u202ee\x7f"
SHOWN = "a\\x1b[31mb\\x0aconsistent: c\\u0085d\\u202ee\\x7f"


@pytest.mark.parametrize("name", ["q\x85z", "a\x7fb", 'quote"back\\slash', "\u2028line", "tab\there"])
def test_a_trace_has_the_name_that_was_given(loco_sim, tmp_path, name):
    assert loco_sim("run", "quickstart", "-q", "--set", "workload.iterations=1", "--trace", tmp_path / name).returncode == 0
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("command", [("corerma", "-o"), ("fit", "--hardware", "cx5-roce-25g", "--fabric"),
                                     ("fit", "--hardware", "cx5-roce-25g", "--set"), ("run", "quickstart", "--set"),
                                     ("perf", "write_lat", "--hardware"), ("litmus",), ("verify",), ("trace", "export")])
def test_bad_input_with_ends_of_lines_is_one_line(loco_sim, command):
    done = loco_sim(*command, "x\n\x1b[31m\u0085=q")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "\x1b" not in done.stderr and "\x85" not in done.stderr


def test_names_are_shown_escaped(loco_sim, tmp_path):
    scenario = tmp_path / "s.yaml"
    scenario.write_text(json.dumps({"name": EVIL, "workload": {"kind": "barrier", "iterations": 1}}))
    text = loco_sim("run", scenario)
    assert text.stdout.startswith(f"{SHOWN}: barrier on 2 nodes, ")
    as_json = loco_sim("run", scenario, "--json").stdout
    assert json.loads(as_json)["scenario"] == EVIL
    assert not [c for c in as_json if c in "\x1b\x85\u202e\x7f"]
    trace = tmp_path / "t.trace"
    assert loco_sim("run", scenario, "--trace", trace, "--quiet").returncode == 0
    assert SHOWN in loco_sim("trace", "export", trace, "--to", "text").stdout
    for command in (["run"], ["validate"], ["check"], ["litmus"], ["trace", "export", "--to", "csv"], ["sweep"]):
        wrong = loco_sim(*command, EVIL)
        assert wrong.returncode == 2 and SHOWN in wrong.stderr and wrong.stderr.count("\n") == 1, command


def test_a_litmus_tests_name_is_shown_escaped(loco_sim, tmp_path):
    test = tmp_path / "t.yaml"
    test.write_text("name: \"x\\e[2J\\ny\"\nmodel: rdmatso\nlocations: {z: {node: 1}}\nthreads:\n  - {node: 1, code: \"z = 1\"}\n"
                    "final: [z]\noutcomes: {allowed: [{z: 1}]}\n")
    done = loco_sim("litmus", test)
    assert done.returncode == 0 and "Test x\\x1b[2J\\x0ay " in done.stdout and "\x1b" not in done.stdout


def test_a_platform_file_cannot_configure_the_program(loco_sim, tmp_path):
    victim, platform, scenario = tmp_path / "victim", tmp_path / "p.xml", tmp_path / "s.yaml"
    victim.write_text("keep")
    platform.write_text(f'<?xml version="1.0"?>\n<platform version="4.1">\n<config id="c"><prop id="tracing" value="yes"/>'
                        f'<prop id="tracing/filename" value="{victim}"/></config>\n'
                        '<zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/></zone></platform>\n')
    scenario.write_text(f"platform: {platform}\nfabric: {{model: flow}}\nworkload: {{kind: traffic}}\n")
    done = loco_sim("validate", scenario)
    if "no SimGrid" in done.stderr:
        pytest.skip("a build without the flow model")
    assert done.returncode == 2 and done.stderr.startswith(f"{platform}:3:1: expected an element that describes a platform")
    assert victim.read_text() == "keep"


KINDS = {
    "a trace": "loco-sim check FILE",
    "a litmus test": "loco-sim litmus FILE",
    "a litmus test of herd": "loco-sim litmus FILE",
    "a scenario": "loco-sim run FILE",
    "a hardware profile": "`hardware: FILE` in a scenario, or loco-sim list hardware FILE",
    "a result": "loco-sim report FILE -o FILE.html",
    "a SimGrid platform": "`platform: FILE` in a scenario with `fabric: {model: flow}`",
}
TAKEN = {("check", "a trace"), ("litmus", "a litmus test"), ("litmus", "a litmus test of herd"), ("run", "a scenario"),
         ("validate", "a scenario"), ("sweep", "a scenario"), ("report", "a scenario"), ("report", "a result")}


@pytest.mark.parametrize("command", ["run", "validate", "check", "litmus", "sweep", "report"])
def test_a_file_of_another_kind_is_told(loco_sim, root, trace, tmp_path, tmp_path_factory, command):
    result, platform = tmp_path / "r.json", tmp_path / "p.xml"
    result.write_text(loco_sim("run", QUICKSTART, "--json").stdout)
    platform.write_text('<?xml version="1.0"?>\n<platform version="4.1"/>\n')
    herd = tmp_path_factory.mktemp("herd") / "one.litmus"
    herd.write_text("X86 one\n{ x=0; }\n P0         ;\n MOV [x],$1 ;\nexists (x=1)\n")
    files = {"a trace": trace, "a litmus test": root / PAPER, "a litmus test of herd": herd, "a scenario": root / QUICKSTART,
             "a hardware profile": root / "hardware/cx5-roce-25g.yaml", "a result": result, "a SimGrid platform": platform}
    for kind, file in files.items():
        if (command, kind) in TAKEN:
            continue
        done = loco_sim(command, file, *(["-o", tmp_path / "x.html"] if command == "report" else []))
        assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.stderr
        assert done.stderr.endswith(f"; this is {kind}: {KINDS[kind].replace('FILE', str(file), 2 if 'list' in KINDS[kind] else 1)}\n")
    folder = loco_sim(command, tmp_path, *(["-o", tmp_path / "x.html"] if command == "report" else []))
    assert folder.returncode == 2 and "folder" in folder.stderr and folder.stderr.count("\n") == 1


def test_the_kind_is_told_of_files_in_folders_and_options(loco_sim, tmp_path):
    """A document of the folder that was given, and a profile that is none, not only the command's own argument."""
    (tmp_path / "a.yaml").write_text("workload: {kind: barrier}\nseed: 1\n")
    done = loco_sim("litmus", tmp_path)
    assert done.returncode == 2 and done.stderr.endswith(f"; this is a scenario: loco-sim run {tmp_path}/a.yaml\n")
    other = "tests/litmus/waits.yaml"
    for command in (["perf", "write_lat", "--hardware"], ["litmus", PAPER, "--hardware"], ["fit", "--hardware"],
                    ["verify", "scenarios/verify/queue.rma", "--replay-on"]):
        done = loco_sim(*command, other)
        assert done.returncode == 2 and done.stderr.endswith(f"; this is a litmus test: loco-sim litmus {other}\n"), done.stderr
    wrong = tmp_path / "profile.yaml"
    wrong.write_text("base: cx5-roce-25g\nnic: {max_rd_atomik: 1}\nlink: {mtu: 1024}\n")
    assert "this is" not in loco_sim("perf", "write_lat", "--hardware", wrong).stderr


@pytest.mark.parametrize(("override", "meant"), [
    ("pcie.generation=5", "hardware.pcie.generation"), ("nodes=4", "topology.nodes"),
    ("link.rate=10Gbps", 'fabric.link.rate" or "hardware.link.rate'), ("fabric.delay=1us", 'fabric.link.delay" or "hardware.link.delay'),
    ("TOPOLOGY.nodes=4", "topology"), ("topology.NODES=4", "nodes"),
    ("fabric.topology.nodes=4", "topology.nodes"), ("iterations=5", "workload.iterations"), ("xoff=1kB", "fabric.pfc.xoff"),
    ("nic.max_rd_atomic=4", "hardware.nic.max_rd_atomic"), ("hardware.generation=3", None), ("events=7", "limits.events")])
def test_a_key_of_another_level_is_suggested(loco_sim, override, meant):
    done = loco_sim("validate", "scenarios/barrier.yaml", "--set", override)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    if meant is not None:
        assert done.stderr.endswith(f'did you mean "{meant}"?\n'), done.stderr


def test_units_as_people_write_them(loco_sim):
    def effective(*overrides):
        done = loco_sim("validate", QUICKSTART, *(w for o in overrides for w in ("--set", o)))
        return done.returncode == 0

    for rate in ("100G", "100gbps", "100Gbit/s", "100Gb/s", "100 Gbps", "100000M"):
        assert effective(f"fabric.link.rate={rate}"), rate
    for delay in ("1usec", "1\u00b5s", "1\u03bcs", "1us", "1000nsec"):
        assert effective(f"fabric.link.delay={delay}"), delay
    for wrong in ("fabric.link.rate=100GBps", "fabric.link.rate=100GB/s", "fabric.link.rate=100m", "fabric.link.delay=1m",
                  "fabric.link.delay=1Us", "fabric.buffer.size=64kb"):
        assert not effective(wrong), wrong


def test_what_goes_to_the_file_of_stdout_is_added(loco_sim, root, tmp_path):
    """A log that is appended to keeps what it has, and text and trace stand one after the other."""
    import os
    import subprocess

    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("a") as out:
        subprocess.run([os.environ["LOCO_SIM"], "run", root / "scenarios/quickstart.yaml", "--trace", "/dev/stdout"], stdout=out,
                       check=True)
    content = log.read_bytes()
    assert content.startswith(b"before\n") and b"throughput:" in content
    alone = tmp_path / "alone"
    assert loco_sim("run", root / "scenarios/quickstart.yaml", "--trace", alone, "-q").returncode == 0
    assert alone.read_bytes() in content


def test_what_replaces_a_program_of_somebody_is_a_plain_file(loco_sim, root, tmp_path):
    file = tmp_path / "was"
    file.write_text("")
    file.chmod(0o4755)
    assert loco_sim("run", root / "scenarios/quickstart.yaml", "--trace", file, "-q").returncode == 0
    assert file.stat().st_mode & 0o7111 == 0
