"""loco-sim run and validate: what people and scripts rely on."""

import json
import re
import subprocess

import pytest

QUICKSTART = "scenarios/quickstart.yaml"


def test_quickstart_prints_a_latency_table_throughput_and_a_verdict(loco_sim):
    done = loco_sim("run", QUICKSTART)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[1].split() == ["operation", "count", "min", "median", "p99", "max"]
    assert any(line.startswith("throughput: ") for line in lines)
    assert re.fullmatch(r"consistent: rdmawait, sv, bal \(\d+ subevents\)", lines[-1])


def test_same_seed_same_bytes_other_seed_other_bytes(loco_sim):
    first = loco_sim("run", QUICKSTART, "--json").stdout
    assert first == loco_sim("run", QUICKSTART, "--json").stdout
    assert first != loco_sim("run", QUICKSTART, "--json", "--seed", 2).stdout


def test_json_holds_what_the_table_holds(loco_sim):
    result = json.loads(loco_sim("run", QUICKSTART, "--json").stdout)
    text = loco_sim("run", QUICKSTART).stdout
    assert result["nodes"] == 4
    assert result["check"]["consistent"] is True
    assert f"({result['check']['subevents']} subevents)" in text
    for operation in result["operations"]:
        assert operation["min_ps"] <= operation["median_ps"] <= operation["p99_ps"] <= operation["max_ps"]
        assert re.search(rf"^{operation['name']}\s+{operation['count']}\s", text, re.MULTILINE)


def test_more_nodes_take_more_time(loco_sim):
    def barrier_median(nodes):
        done = loco_sim("run", "scenarios/barrier.yaml", "--json", "--set", f"topology.nodes={nodes}", "--set",
                        "workload.iterations=50")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["operations"][0]["median_ps"]

    assert barrier_median(2) < barrier_median(8)


def test_the_trace_of_a_run_that_cannot_go_on_is_kept(loco_sim, tmp_path):
    trace = tmp_path / "t.trace"
    done = loco_sim("run", QUICKSTART, "--set", "limits.events=3000", "--trace", trace)
    assert done.returncode == 1
    assert "has taken 3000 events" in done.stderr
    assert loco_sim("check", trace).returncode == 0
    assert "returned=0" in loco_sim("trace", "export", trace, "--to", "text").stdout, "calls that were under way"
    assert loco_sim("trace", "export", trace, "--to", "perfetto").returncode == 0


def test_what_an_ended_run_had_broken_is_json_where_json_is_asked_for(loco_sim):
    broken = ["run", "scenarios/faults/barrier_without_fence.yaml", "--set", "limits.events=20000"]
    text, done = loco_sim(*broken), loco_sim(*broken, "--json")
    assert text.returncode == done.returncode == 1
    assert text.stderr == done.stderr and "has taken 20000 events" in done.stderr
    assert "\ninconsistent: bal (" in text.stdout
    check = json.loads(done.stdout)["check"]
    assert [library["library"] for library in check["libraries"] if not library["consistent"]] == ["bal"]


def test_any_character_of_a_name_is_printed(loco_sim, tmp_path):
    scenario = tmp_path / "s.yaml"
    for name, shown in (("a\0b", "a\\x00b"), ("tab\t", "tab\\x09"), ("\u2028", "\\u2028"), ('"\\', '"\\'), ("\u00e9\u4e2d", "\u00e9\u4e2d")):
        scenario.write_text(json.dumps({"name": name, "workload": {"kind": "barrier", "iterations": 1}}))
        text = loco_sim("run", scenario).stdout
        assert text.startswith(f"{shown}: barrier on 2 nodes, ") and "\nconsistent: " in text
        assert json.loads(loco_sim("run", scenario, "--json").stdout)["scenario"] == name


@pytest.mark.parametrize(("failure", "failed"), [("{link: [h0, s0], down: 0us}", 6), ("{link: [h1, s0], down: 0us}", 3),
                                               ("{host: h0, stops: 1ns}", 6)])
def test_messages_that_fail_are_not_overlooked(loco_sim, tmp_path, failure, failed):
    scenario = tmp_path / "traffic.yaml"
    scenario.write_text("topology: {nodes: 3}\nworkload: {kind: traffic, size: 4KiB, count: 3}\n"
                        f"fabric: {{failures: [{failure}]}}\ncheck: []\ntrace: {{level: none}}\n")
    text = loco_sim("run", scenario, "--quiet")
    assert text.returncode == 1 and text.stderr == ""
    told = f"failed_messages: {failed} (first: node "
    assert f"the workload found: {told}" in text.stdout and "put to node 0 failed: transport retry counter exceeded)\n" in text.stdout
    result = json.loads(loco_sim("run", scenario, "--json").stdout)
    assert len(result["broken"]) == 1 and result["broken"][0].startswith(told)
    assert result["operations_done"] == 6 - failed


def test_memory_that_is_not_there_is_told_as_such(program, root, tmp_path):
    scenario = tmp_path / "kv.yaml"
    scenario.write_text("workload: {kind: kvstore, key_space: 1GiB}\nlimits: {memory: 64GiB}\n")
    done = subprocess.run(["bash", "-c", 'ulimit -v 600000; exec "$@"', "-", program, "run", scenario], cwd=root,
                          capture_output=True, text=True, timeout=60)
    if "AddressSanitizer" in done.stderr:
        pytest.skip("needs the address space")
    assert done.returncode == 1 and "out of memory" in done.stderr and "deadlock" not in done.stderr


def test_a_store_without_atomics_runs_over_messages(loco_sim):
    done = loco_sim("run", "scenarios/loco/kvstore.yaml", "--set", "hardware={base: cx5-roce-25g, nic: {atomic_cap: none}}",
                    "--set", "workload.store=rpc", "--set", "workload.iterations=20")
    assert done.returncode == 0 and "consistent" in done.stdout, done.stderr


def test_an_answer_of_a_store_read_before_its_data_is_a_wrong_answer(loco_sim, tmp_path):
    scenario = tmp_path / "kv.yaml"
    scenario.write_text("hardware: model-weak\ntopology: {nodes: 2}\nschedule: random\nfaults: [completion_before_data]\n"
                        "workload: {kind: kvstore, store: rpc, iterations: 3}\n")
    wrong = 0
    for seed in range(1, 13):
        done = loco_sim("run", scenario, "--seed", seed)
        found = re.findall(r"^the workload found: (\w+): \d+$", done.stdout, re.MULTILINE)
        assert done.returncode == (1 if found else 0) and set(found) <= {"wrong_answers", "wrong_results"}, done.stderr
        wrong += "wrong_answers" in found
    assert wrong > 3


@pytest.mark.parametrize("end", ["barrier.yaml", "quickstart.yaml"])
def test_a_trace_that_cannot_be_written_loses_neither_results_nor_the_trace_before(program, root, tmp_path, end):
    trace = tmp_path / "t.trace"
    trace.write_text("before")
    done = subprocess.run(["bash", "-c", 'trap "" XFSZ; ulimit -f 1; exec "$@"', "-", program, "run",
                           f"scenarios/{end}", "--trace", trace], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "throughput: " in done.stdout and "consistent: " in done.stdout
    assert done.stderr == f"loco-sim: {trace}: File too large\n"
    assert trace.read_text() == "before" and list(tmp_path.iterdir()) == [trace]


def test_traces_go_to_devices_and_pipes_too(program, loco_sim, root, tmp_path):
    assert loco_sim("run", QUICKSTART, "--trace", "/dev/null").returncode == 0
    full = loco_sim("run", QUICKSTART, "--trace", "/dev/full")
    assert full.returncode == 1 and "consistent: " in full.stdout
    assert full.stderr == "loco-sim: /dev/full: No space left on device\n"
    file = tmp_path / "t.trace"
    assert loco_sim("run", QUICKSTART, "--trace", file).returncode == 0
    piped = subprocess.run([program, "run", QUICKSTART, "--quiet", "--trace", "/dev/stdout"], cwd=root,
                           capture_output=True, timeout=60)
    assert piped.returncode == 0 and piped.stdout == file.read_bytes()
    folder = loco_sim("run", QUICKSTART, "--trace", tmp_path)
    assert folder.returncode == 2 and folder.stdout == ""
    assert folder.stderr == f"{tmp_path}: expected a file, found a folder\n"


def test_a_trace_without_a_place_is_told_where_the_scenario_names_it(loco_sim, tmp_path):
    scenario = tmp_path / "s.yaml"
    for path, message in ((tmp_path, "a file, found a folder"),
                          (tmp_path / "missing/t", "a file in a folder that is there, found no such folder")):
        scenario.write_text(f"workload: {{kind: barrier}}\ntrace:\n  path: {path}\n")
        done = loco_sim("run", scenario)
        assert done.returncode == 2 and done.stdout == ""
        assert done.stderr == f"{scenario}:3:9: trace.path: expected {message}\n"


@pytest.mark.parametrize("option", [["--seed", "3"], ["--trace", "t.trace"], ["--check", "sv"]])
def test_a_scenario_that_is_a_list_is_told_with_its_place(loco_sim, tmp_path, option):
    scenario = tmp_path / "list.yaml"
    scenario.write_text("[a]\n")
    done = loco_sim("run", scenario, *option)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{scenario}:1:1: expected a map of keys"), done.stderr


def test_mistakes_in_options_name_the_option(loco_sim, program, root):
    done = loco_sim("run", QUICKSTART, "--check", "svv")
    assert done.returncode == 2 and done.stderr.startswith("--check svv: check: expected "), done.stderr
    done = subprocess.run([program, "run", QUICKSTART, "--trace", b"\xff.trace"], cwd=root, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "--trace \\xff.trace: expected a file name in UTF-8, found other bytes\n"


def test_who_waits_for_a_node_behind_a_dead_cable_hears_of_it(loco_sim, tmp_path):
    scenario = tmp_path / "guards.yaml"
    scenario.write_text("hardware: {base: cx5-roce-25g, nic: {ack_timeout: 100us}}\n"
                        "workload: {kind: mixed_size, iterations: 1, with: guards}\n"
                        "fabric: {failures: [{link: [h0, s0], down: 0ns}]}\n")
    done = loco_sim("run", scenario)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "node 1: 'value' waits for node 0, which does not answer (scenario " in done.stderr


@pytest.mark.parametrize(
    ("scenario", "settings", "code", "message"),
    [
        ("loco/broadcast_ring.yaml", ["workload.ring=64B", "workload.size=1KiB"], 2,
         r"--set workload.ring=64B: workload.ring: expected at least 1032 bytes, for a message of 1024, found 64"),
        ("barrier.yaml", ["fabric.failures=[{host: h1, stops: 50us}]"], 1,
         r"loco-sim: node 0, thread main: .*node 1.* \(scenario scenarios/barrier.yaml, seed 1\)"),
    ],
)
def test_what_ends_a_program_is_one_line(loco_sim, scenario, settings, code, message):
    done = loco_sim("run", f"scenarios/{scenario}", *(word for s in settings for word in ("--set", s)))
    assert done.returncode == code
    assert done.stdout == "" and re.fullmatch(message + "\n", done.stderr), done.stderr


def test_checks_can_be_chosen_and_switched_off(loco_sim):
    assert "check" not in json.loads(loco_sim("run", QUICKSTART, "--json", "--check", "").stdout)
    only_base = loco_sim("run", QUICKSTART, "--check", "rdmawait").stdout
    assert re.search(r"^consistent: rdmawait \(\d+ subevents\)$", only_base, re.MULTILINE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workload: {kind: barrier}\ntopolgy: {nodes: 4}\n", r':2:1: expected a known key .*, found "topolgy"; did you mean "topology"\?'),
        ("workload: {kind: barier}\n", r':1:18: workload.kind: expected one of .*, found "barier"; did you mean "barrier"\?'),
        ("workload: {kind: barrier, iteratons: 4}\n", r':1:27: workload: .* did you mean "iterations"\?'),
        ("workload: {kind: barrier}\ntopology: {nodes: 4, nodes: 5}\n", r":2:22: expected each key once"),
        ("workload: {kind: barrier}\ntopology: {nodes: many}\n", r':2:19: topology.nodes: expected an integer from 2 to 1024, found "many"'),
        ("workload: {kind: barrier}\ntopology: {nodes: 1000000000}\n", r":2:19: topology.nodes: expected an integer from 2 to 1024"),
        ("workload: {kind: barrier}\nfabric: {link: {rate: 25Gps}}\n", r':2:23: fabric.link.rate: expected a rate such as 25Gbps .*, found "25Gps"'),
        ("workload: {kind: barrier}\nhardware: cx5-roce-52g\n", r':2:11: hardware: expected .*; did you mean "cx5-roce-25g"\?'),
        ("workload: {kind: barrier}\nhardware: {base: cx5-roce-25g, nic: {mtu: 4}}\n", r":2:38: hardware.nic: expected a known key"),
        ("workload: {kind: barrier}\nfaults: [posted_pass]\n", r':2:10: faults: expected a list of .*, found "posted_pass"'),
        ("workload: {kind: barrier}\nsweep: {topology.nodes: [2, two]}\n", r':2:29: topology.nodes: expected an integer .*, found "two"'),
        ("workload: {kind: barrier}\ntrace: {level: none}\ncheck: [sv]\n", r":2:16: trace.level: expected subevents, since"),
        ("workload: {kind: barrier}\ntopology: {kind: back_to_back, nodes: 3}\n", r":2:39: topology.nodes: expected 2 for back_to_back"),
        ("nodes: 4\n", r":1:1: workload: expected a map with the key kind, found nothing"),
        ("workload: [\n", r":\d+:\d+: expected well-formed YAML"),
        ("workload: {kind: 'barrier\nseed: 1\n", r":3:1: expected well-formed YAML, found .*; while scanning a quoted scalar that began in line 1, column 18"),
        ("workload: {kind: barrier}\nhardware: ./nosuch.yaml\n", r':2:11: hardware: expected a readable file, found "./nosuch.yaml"'),
        ("workload: {kind: barrier}\nhardware: {base: tests/}\n", r':2:18: hardware\.base: expected a readable file, found "tests/"'),
        ("workload: {kind: barrier}\nname: b: c\n", r":2:8: expected well-formed YAML"),
        ("workload: {kind: barrier}\nname: @b\n", r":2:7: expected well-formed YAML"),
        ("workload: {kind: barrier}\n\tname: b\n", r":2:1: expected well-formed YAML"),
        ("workload: {kind: barrier}\nname: *b\n", r":2:7: expected an alias of a finished value"),
        ("workload: {kind: barrier}\nseed: !!int 1\n", r":2:7: expected a plain value"),
        ("workload: {kind: barrier}\n---\nseed: 1\n", r":3:1: expected one YAML document"),
        ("", r":1:1: .*expected a map "),
        ("\x00\xff\n", r":\d+:\d+: expected"),
    ],
)
def test_bad_input_is_told_in_one_line_and_nothing_is_written(loco_sim, tmp_path, text, message):
    scenario = tmp_path / "s.yaml"
    scenario.write_bytes(text.encode("latin-1"))
    for command in ("run", "validate"):
        options = ["--trace", tmp_path / "t.trace"] if command == "run" else []
        done = loco_sim(command, scenario, *options)
        assert done.returncode == 2, done.stdout
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1
        assert re.fullmatch(re.escape(str(scenario)) + message + ".*", done.stderr.splitlines()[0])
        assert not (tmp_path / "t.trace").exists()


@pytest.mark.parametrize(
    "text",
    [
        b'{"name":"n","seed":7,"workload":{"kind":"barrier","iterations":2},"topology":{"nodes":2}}',
        b'{\n\t"name": "n",\n\t"seed": 7,\n\t"workload": {"kind": "barrier", "iterations": 2},\n\t"topology": {"nodes": 2}\n}\n',
        b"\xef\xbb\xbfname: n\r\nseed: 7\r\nworkload:\r\n  kind: barrier\r\n  iterations: 2\r\ntopology: {nodes: 2}\r\n",
        b"%YAML 1.2\n---\nname: 'n'\nseed: 7\nworkload: {kind: barrier, iterations: &n 2}\ntopology: {nodes: *n}\n...\n",
    ],
    ids=["compact JSON", "JSON with tabs", "byte-order mark and CRLF", "directive and aliases"],
)
def test_a_scenario_may_be_written_in_many_ways(loco_sim, tmp_path, text):
    scenario = tmp_path / "s.yaml"
    scenario.write_bytes(text)
    done = loco_sim("validate", scenario)
    assert done.stderr == ""
    assert "valid: n: barrier on 2 nodes, " in done.stdout
    assert "seed 7" in done.stdout


def test_overrides_are_validated_like_the_file(loco_sim):
    done = loco_sim("run", QUICKSTART, "--set", "topology.ndoes=4")
    assert done.returncode == 2
    assert done.stderr.startswith("--set topology.ndoes=4: topology: expected a known key (kind, nodes, ")
    assert 'found "ndoes"; did you mean "nodes"?' in done.stderr
    assert loco_sim("run", QUICKSTART, "--set", "nonsense").returncode == 2
    assert loco_sim("run", QUICKSTART, "--seed", "-1").returncode == 2
    assert loco_sim("run", QUICKSTART, "--check", "sv,tso").returncode == 2


def test_a_missing_file_and_unknown_arguments_are_bad_input(loco_sim):
    assert loco_sim("run", "no-such-file.yaml").returncode == 2
    assert loco_sim("run").returncode == 2
    assert loco_sim("jump").returncode == 2
    assert loco_sim().returncode == 2
    assert loco_sim("--version").returncode == 0
    assert loco_sim("--help").returncode == 0


def test_a_trace_that_cannot_be_written_is_an_error(loco_sim):
    done = loco_sim("run", QUICKSTART, "--trace", "/no/such/directory/t.trace")
    assert done.returncode == 2
    assert "/no/such/directory/t.trace" in done.stderr


def test_hardware_can_be_changed_in_place(loco_sim):
    slow = loco_sim("run", QUICKSTART, "--json", "--set", "hardware.switch.latency=10us")
    assert slow.returncode == 0, slow.stderr
    fast = json.loads(loco_sim("run", QUICKSTART, "--json").stdout)
    slow = json.loads(slow.stdout)
    assert slow["hardware"] == fast["hardware"] + " (changed)"
    for a, b in zip(fast["operations"], slow["operations"], strict=True):
        assert b["min_ps"] > a["min_ps"]


def test_a_profile_without_a_base_leaves_nothing_out(loco_sim, root, tmp_path):
    scenario, profile = tmp_path / "s.yaml", tmp_path / "mine.yaml"
    scenario.write_text(f"hardware: {profile}\nworkload: {{kind: barrier, iterations: 2}}\n")
    whole = (root / "hardware/cx5-roce-25g.yaml").read_text()
    profile.write_text(whole)
    named = loco_sim("run", QUICKSTART, "--set", "hardware=cx5-roce-25g", "--json")
    same = loco_sim("run", QUICKSTART, "--set", f"hardware={profile}", "--json")
    assert json.loads(same.stdout) == {**json.loads(named.stdout), "hardware": "mine"}
    for line, key in (("  ideal: false", "link.ideal"), ("  cqe: 10ns", "nic.cqe"), ("  lanes: 8", "pcie.lanes")):
        assert whole.count(line) == 1
        profile.write_text(whole.replace(line, "  # left out"))
        done = loco_sim("validate", scenario)
        assert done.returncode == 2
        assert re.fullmatch(rf"{profile}:\d+:1: {key}: expected a value, or a base that has one, found neither\n", done.stderr)
    # The rate of the PCIe link stands for its generation and width.
    profile.write_text(whole.replace("  generation: 3 ", "  rate: 57880Mbps").replace("  lanes: 8", "  # left out"))
    assert loco_sim("validate", scenario).returncode == 0
    # Generation 0 says that the rate is given: none at all would be infinitely fast.
    profile.write_text(whole.replace("  generation: 3 ", "  generation: 0 "))
    done = loco_sim("validate", scenario)
    assert done.returncode == 2
    assert "pcie.rate: expected a value, or a base that has one, found neither" in done.stderr
    profile.write_text("base: cx5-roce-25g\nnic: {cqe: 5ns}\n")
    assert loco_sim("validate", scenario).returncode == 0


def test_why_tells_the_stages_of_the_median_operation_and_they_add_up(loco_sim):
    done = loco_sim("run", QUICKSTART, "--why", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert set(result["why"]) == {o["name"] for o in result["operations"]}
    for operation in result["operations"]:
        why = result["why"][operation["name"]]
        assert why["median_ps"] == operation["median_ps"] == sum(s["took_ps"] for s in why["stages"])
    text = loco_sim("run", QUICKSTART, "--why").stdout
    assert len(re.findall(r"^why \S+ takes ", text, re.MULTILINE)) == len(result["operations"])
    assert "why" not in json.loads(loco_sim("run", QUICKSTART, "--json").stdout)


def test_a_reordering_network_under_an_in_order_nic_is_hinted_at(loco_sim):
    spray = ["run", QUICKSTART, "--set", "topology={kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2}", "--set",
             "fabric.routing=spray", "--set", "workload={kind: traffic, pattern: all_to_all, size: 256KiB}", "--check", ""]
    told = [line for line in loco_sim(*spray).stdout.splitlines() if line.startswith("hint: ")]
    assert any("retransmissions" in line and "hardware.nic.placement" in line for line in told)
    assert [f"hint: {hint}" for hint in json.loads(loco_sim(*spray, "--json").stdout)["hints"]] == told
    assert "hint" not in loco_sim("run", QUICKSTART).stdout


def test_a_run_with_faults_says_so(loco_sim):
    faulty = loco_sim("run", "scenarios/faults/fence_ignored.yaml").stdout.splitlines()[0]
    assert faulty.endswith("; deliberate faults: fence_ignored")
    assert "faults" not in loco_sim("run", QUICKSTART).stdout


@pytest.mark.parametrize("fault, verdict", [("posted_passes_posted", "goes away"), ("guards_read_forward", "stays")])
def test_strong_says_whether_a_fault_is_one_of_ordering(loco_sim, fault, verdict):
    done = loco_sim("run", f"scenarios/faults/{fault}.yaml", "--strong")
    assert done.returncode == 1
    assert f"under strong ordering: {verdict}" in done.stdout


def test_profiles_are_found_beside_the_file_that_names_them(loco_sim, tmp_path):
    """As platforms and lists of sizes; then in the working directory, which `--set` means."""
    below = tmp_path / "below"
    (below / "deeper").mkdir(parents=True)
    (below / "mine.yaml").write_text("base: deeper/first.yaml\nlink: {rate: 40Gbps}\n")
    (below / "deeper/first.yaml").write_text("base: ./second.yaml\nnic: {qp_gap: 1us}\n")
    (below / "deeper/second.yaml").write_text("base: cx5-roce-25g\n")
    (below / "s.yaml").write_text("hardware: ./mine.yaml\nworkload: {kind: barrier, iterations: 1}\n")
    done = loco_sim("run", str(below / "s.yaml"), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    there = loco_sim("run", str(below / "s.yaml"), "--set", "hardware=./mine.yaml", cwd=tmp_path)
    assert there.returncode == 2 and 'hardware: expected a readable file, found "./mine.yaml"' in there.stderr
    assert loco_sim("run", str(below / "s.yaml"), "--set", "hardware=below/mine.yaml", "--json", cwd=tmp_path).stdout == done.stdout
    written = loco_sim("run", str(below / "s.yaml"), "--trace", str(below / "deeper/second.yaml"), cwd=tmp_path)
    assert written.returncode == 2 and (below / "deeper/second.yaml").read_text() == "base: cx5-roce-25g\n"
