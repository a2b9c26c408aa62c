"""Arguments that are wrong: one line that says where, what was expected and what was found."""

import pytest

QUICKSTART = "scenarios/quickstart.yaml"
PAPER = "tests/litmus/loco-paper.yaml"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "loco-sim: expected a command, found nothing; loco-sim help lists them"),
        ("vaildate", 'found "vaildate"; did you mean "validate"?'),
        ("run", "loco-sim run: expected scenario (Scenario"),
        (f"run {QUICKSTART} {QUICKSTART}", f'loco-sim run: expected no further argument, found "{QUICKSTART}"'),
        (f"run {QUICKSTART} --sede 1", 'found "--sede"; did you mean "--seed"?'),
        (f"run {QUICKSTART} --seed -1", 'loco-sim run: --seed: expected an integer from 0 to 9223372036854775807, found "-1"'),
        (f"run {QUICKSTART} --seed one", 'loco-sim run: --seed: expected an integer from 0 to 9223372036854775807, found "one"'),
        (f"run {QUICKSTART} --set", "loco-sim run: --set: expected a value, found nothing"),
        (f"run {QUICKSTART} --seed 1 --seed 2", "loco-sim run: --seed: expected one value, found 2"),
        (f"run {QUICKSTART} --json=1GiB", "loco-sim run: --json: expected no value, found one\n"),
        (f"run {QUICKSTART} --quiet=false", "loco-sim run: --quiet: expected no value, found one\n"),
        (f"sweep {QUICKSTART} --restart=x", "loco-sim sweep: --restart: expected no value, found one\n"),
        ("perf write_bw --all=0", "loco-sim perf write_bw: --all: expected no value, found one\n"),
        ("run --help=1", "loco-sim run: --help: expected no value, found one\n"),
        (f"run {QUICKSTART} --trace a --trace b --trace c", "loco-sim run: --trace: expected one value, found 3"),
        (f"litmus {PAPER} --model loco --model rdmawait", "loco-sim litmus: --model: expected one value, found 2"),
        (f"litmus {PAPER} --hardware foo", "loco-sim litmus: --hardware: expected one of aries-"),
        ("perf write_lat -c UD", "loco-sim perf write_lat: --connection: expected RC or UC, since UD has SENDs only, found UD"),
        ("perf read_lat -c UC", "--connection: expected RC, since UC and UD have no READs, atomics or bare DMA, found UC"),
        ("perf send_lat -c UD -s 8192", "--size: expected at most 1024, what a datagram has, found 8192"),
        ("perf write_bw -s 2GiB", "loco-sim perf write_bw: --size: expected 1 to 1073741824 bytes, found 2147483648"),
        ("perf write_bw --threads 3", "loco-sim perf write_bw: --qp: expected one for each of 3 threads, found 1"),
        ("perf write_lat -q 2", "loco-sim perf write_lat: --qp: expected 1, what latency tests have, found 2"),
        ("perf write_lat -I 1000", "loco-sim perf write_lat: --inline: expected at most 236, what the NIC takes, found 1000"),
        ("perf write_bw --region 1 -s 8", "--region: expected at least a message's 8 bytes, found 1"),
        ("verify README.md --check-certificate README.md", "README.md:4:"),
        ("verify scenarios", "scenarios:1:1: expected a readable file, found none; this is a folder"),
        ("schema extra", 'loco-sim schema: expected no further argument, found "extra"'),
        ("list faults nosuch", "loco-sim list faults: expected one of posted_passes_posted, "),
        ("list hardware nosuch", "loco-sim list hardware: expected one of aries-"),
        ("list hardware ./nosuch.yaml", 'loco-sim list hardware: expected a readable file, found "./nosuch.yaml"'),
        ("trace export t.trace --to dot --limit -1", "loco-sim trace export: --limit: expected an integer from 0 "),
        ("trace export t.trace --to csv --limit 3", "loco-sim trace export: --limit: expected --to dot with it, found --to csv"),
        ("trace export t.trace --to pdf", 'loco-sim trace export: --to: expected one of perfetto, dot, csv, text, found "pdf"'),
        ("perf", "loco-sim perf: expected one of write_lat, "),
        ("perf write_lat -n 0", 'loco-sim perf write_lat: --iters: expected an integer from 1 to 4294967295, found "0"'),
        ("perf write_lat -s 0", "loco-sim perf write_lat: --size: expected a size such as 64B or 4KiB (B, kB, KiB, MB, MiB, GB, GiB) of at least 1B, "),
        ("perf write_lat -m 32", 'what-if, with --set link.mtu), found "32"'),
        ("perf write_bw -m 1500", "loco-sim perf write_bw: --mtu: expected an MTU of verbs, 256, 512, 1024, 2048, 4096 bytes "),
        ("perf write_bw --sizes 8,x", "loco-sim perf write_bw: --sizes: expected a size such as 64B or 4KiB "),
        ("perf write_bw -s 8 --sizes 8", "loco-sim perf write_bw: --sizes: expected neither --size nor --all beside it, found one"),
        ("perf atomic_bw --relaxed-ordering", "loco-sim perf atomic_bw: --relaxed-ordering: expected off, "),
        ("perf write_bw -r 8", "loco-sim perf write_bw: --rx-depth: expected 512, since only send_bw has a queue of receives, found 8"),
        ("perf read_lat --hardware scenarios/nosuch.yaml",
         'loco-sim perf read_lat: --hardware: expected a readable file, found "scenarios/nosuch.yaml"'),
        ("perf write_bw -t 0", 'loco-sim perf write_bw: --tx-depth: expected an integer from 1 to 4294967295, found "0"'),
        ("perf write_bw -t 4 -l 8", "loco-sim perf write_bw: --post_list: expected 1 to the depth of 4, found 8"),
        ("perf write_bw -t 4294967295 -q 2",
         "loco-sim perf write_bw: --tx-depth: expected at most 4194304 with 2 queue pair(s), 8388608 work requests in all, found 4294967295"),
        ("perf send_bw -r 100000000",
         "loco-sim perf send_bw: --rx-depth: expected at most 8388608 with 1 queue pair(s), 8388608 work requests in all, found 100000000"),
        ("perf write_bw -q 1000000", "loco-sim perf write_bw: --qp: expected at most 16384, perftest's MAX_QP_NUM, found 1000000"),
        ("perf write_bw -q 99999999999", "--qp: expected an integer from 1 to 4294967295"),
        ("perf write_lat -c RX", 'loco-sim perf write_lat: --connection: expected one of RC, UC, UD, found "RX"'),
        ("perf write_lat -t 7", "loco-sim perf write_lat: --tx-depth: expected 128, since latency tests have one message under way, found 7"),
        ("perf read_lat -I 0", "loco-sim perf read_lat: --inline: expected none, since only writes and sends can carry their data"),
        ("perf dma_read_lat -I 8", "loco-sim perf dma_read_lat: --inline: expected none, "),
        ("perf write_lat --region 1MiB", "loco-sim perf write_lat: --region: expected none, "),
        ("perf write_lat -a -s 8", "loco-sim perf write_lat: --all: expected no --size beside it, found one"),
        ("perf read_lat --report_gbits", "loco-sim perf read_lat: --report_gbits: expected off, "),
        ("perf dma_read_lat -m 1024", "loco-sim perf dma_read_lat: --mtu: expected none, "),
        ("perf dma_read_lat --topology star", "loco-sim perf dma_read_lat: --topology: expected back_to_back, "),
        ("perf read_lat --seed 7", "loco-sim perf read_lat: --seed: expected 1, since places are drawn in a region only, found 7"),
        ("perf send_lat --device-memory", "loco-sim perf send_lat: --device-memory: expected off, "),
        (f"litmus {PAPER} --model foo", "loco-sim litmus: --model: expected one of rdmatso, rdmawait, loco, "),
        (f"litmus {PAPER} --engine foo", "loco-sim litmus: --engine: expected one of declarative, explore, sample, all"),
        (f"litmus {PAPER} --max-seconds -1", 'expected a number of seconds from 0 on, found "-1"'),
        (f"litmus {PAPER} --engine explore --hardware foo", "loco-sim litmus: --hardware: expected one of aries-"),
        (f"litmus {PAPER} --engine explore --witness a=0",
         "loco-sim litmus: --witness: expected --engine declarative, found explore"),
        (f"litmus {PAPER} --dot x.dot", "loco-sim litmus: --dot: expected --witness or --explain beside it, found none"),
        (f"litmus {PAPER} --json --explain a=0",
         "loco-sim litmus: --json: expected no --witness or --explain, which print text, found --explain"),
        (f"litmus {PAPER} --witness nosuch=0", 'expected a register or final location, found "nosuch"'),
        ("check t.trace --model foo", "loco-sim check: --model: expected one of rdmawait, sv, "),
        ("check nofile", "nofile:1:1: expected a readable file, found none"),
        ("check scenarios", "scenarios:1:1: expected a readable file, found none"),
        ("trace export scenarios --to csv", "scenarios:1:1: expected a readable file, found none"),
        ("soundness", "loco-sim soundness: expected --library (rdmawait, sv, bal, rbl, msw or lock), found nothing"),
        ("sweep", "loco-sim sweep: "),
        (f"sweep {QUICKSTART} -j 0", 'expected an integer from 1 to 9223372036854775807, found "0"'),
        (f"sweep {QUICKSTART} --job 1", 'loco-sim sweep: expected one of the options --help, -h, --jobs, -j, --out, --seeds, --set, --restart, --for-spreadsheets, --quiet, -q, found "--job"; did you mean "--jobs"?'),
    ],
)
def test_one_line_says_what_is_wrong(loco_sim, arguments, message):
    done = loco_sim(*arguments.split())
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and message in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["run", QUICKSTART, "--trace"], "--trace"),
        (["check", "t.trace", "--dot"], "--dot"),
        (["litmus", PAPER, "--explain"], "--explain"),
        (["list", "hardware"], "name"),
        (["perf", "write_lat", "-s"], "--size"),
        (["trace", "export", "t.trace", "--to", "csv", "--out"], "--out"),
    ],
    ids=lambda a: a[0] if isinstance(a, list) else a,
)
def test_empty_text_is_no_value(loco_sim, arguments, option):
    """What a shell makes of "$SIZE" when nobody has set it must not run as if the option were not there."""
    done = loco_sim(*arguments, "")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f'{option}: expected a value, found ""\n')


@pytest.mark.parametrize("command", ["sweep", "report"])
def test_an_output_without_a_name_is_refused(loco_sim, command):
    done = loco_sim(command, QUICKSTART, "--out", "")
    assert (done.returncode, done.stdout) == (2, "")
    assert 'found ""' in done.stderr or "found ''" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", QUICKSTART, "--set", "workload.iterations=100000000", "--trace"],
        ["sweep", "scenarios/barrier.yaml", "--out"],
        ["report", QUICKSTART, "--out"],
        ["litmus", PAPER, "--witness", "a=0", "--dot"],
    ],
    ids=lambda a: a[0],
)
def test_a_folder_that_is_not_there_is_told_before_anything_runs(loco_sim, tmp_path, arguments):
    missing = tmp_path / "missing"
    done = loco_sim(*arguments, missing / "file.csv", timeout=20)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == f'{missing}/file.csv: expected a file in a folder that is there, found no such folder\n'
    assert not missing.exists()


@pytest.mark.parametrize("words, expected", [
    (["help"], "OPTIONS"), (["help", "run"], "loco-sim run"), (["help", "trace", "export"], "export"), (["-V"], "loco-sim 0.")])
def test_help_as_people_know_it(loco_sim, words, expected):
    done = loco_sim(*words)
    assert done.returncode == 0 and expected.lower() in done.stdout.lower()


@pytest.mark.parametrize("words, said", [
    ([], "loco-sim: expected a command, found nothing; loco-sim help lists them"),
    (["list"], "loco-sim list: expected one of hardware, scenarios, topologies, workloads, models, faults, found nothing; loco-sim list --help"),
    (["run"], "loco-sim run: expected scenario (Scenario file (YAML)")])
def test_what_is_missing_is_told(loco_sim, words, said):
    done = loco_sim(*words)
    assert done.returncode == 2 and done.stderr.startswith(said) and done.stderr.count("\n") == 1


def test_completion_knows_scenarios_profiles_and_keys(loco_sim, tmp_path):
    import subprocess

    (tmp_path / "c.bash").write_text(loco_sim("completion", "bash").stdout)
    for words, found in ((["run", "quick"], "quickstart"), (["perf", "write_lat", "--hardware", "cx5-roce-1"], "cx5-roce-100g"),
                         (["run", "quickstart", "--set", "topology.no"], "topology.nodes="),
                         (["run", "quickstart", "--set", "hardware.nic.max_rd"], "hardware.nic.max_rd_atomic="),
                         (["perf", "write_lat", "--set", "nic.max_rd"], "nic.max_rd_atomic=")):
        script = (f"source {tmp_path}/c.bash; compopt() {{ :; }}; COMP_WORDS=(loco-sim {' '.join(words)}); "
                  f"COMP_CWORD={len(words)}; _loco_sim; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        assert found in done.stdout.split(), (words, done.stderr)
    assert "quickstart" in loco_sim("completion", "zsh").stdout and "quickstart" in loco_sim("completion", "fish").stdout
