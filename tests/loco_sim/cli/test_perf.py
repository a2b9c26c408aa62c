"""loco-sim perf validate: the page, and the same figures as JSON."""

import json

import pytest

ROWS = """
- title: one group
  source: nobody's measurement
  note: two rows
  hardware: cx5-roce-25g
  rows:
    - {what: write, test: write_lat, size: 8, iterations: 10, us: 1.5}
    - {what: rate, test: write_bw, size: 8, iterations: 100, mops: 2}
- title: a model
  source: nobody's model
  hardware: cx5-roce-25g
  model: true
  rows:
    - {what: read, test: dma_read_bw, size: 64, iterations: 100, gbps: 0.001}
"""


@pytest.fixture
def rows(tmp_path):
    file = tmp_path / "rows.yaml"
    file.write_text(ROWS)
    return file


def test_the_json_of_validate_holds_what_its_page_holds(loco_sim, rows, tmp_path):
    page = tmp_path / "page.md"
    done = loco_sim("perf", "validate", "--rows", rows, "--json", "--page", page)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    measured, model = found["groups"]
    assert (measured["title"], measured["source"], measured["note"]) == ("one group", "nobody's measurement", "two rows")
    assert measured["measured"] and not model["measured"]

    write, rate = measured["rows"]
    latency = json.loads(loco_sim("perf", "write_lat", "-s", 8, "-n", 10, "--hardware", "cx5-roce-25g", "--json").stdout)
    assert write | {"error": 0} == {
        "what": "write", "test": "write_lat", "hardware": "cx5-roce-25g", "unit": "ps", "published": 1_500_000,
        "simulated": round(latency["results"][0]["t_typical_us"] * 1e6), "error": 0}
    assert isinstance(write["simulated"], int)
    assert (rate["unit"], rate["published"], model["rows"][0]["unit"]) == ("mops", 2, "gbps")
    for row in (write, rate, model["rows"][0]):
        assert row["error"] == pytest.approx(row["simulated"] / row["published"] - 1)

    errors = [abs(row["error"]) for row in measured["rows"]]  # a model's figures are no measurements
    assert found["measured_rows"] == 2
    assert found["within_15_percent"] == sum(error <= 0.15 for error in errors)
    assert found["mean_absolute_error"] == pytest.approx(sum(errors) / 2)
    assert found["largest_error"] == pytest.approx(max(errors))
    assert f"| rate | cx5-roce-25g | 2 Mop/s | {rate['simulated']:.4g} Mop/s | {100 * rate['error']:+.1f} % |" in page.read_text()


def test_without_json_validate_prints_the_page(loco_sim, rows):
    assert loco_sim("perf", "validate", "--rows", rows).stdout.startswith("# Validation\n")


def test_a_row_whose_options_do_not_fit_is_named(loco_sim, rows):
    rows.write_text(ROWS.replace("iterations: 10,", "depth: 7,"))
    done = loco_sim("perf", "validate", "--rows", rows)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (f'{rows}: "write": depth: expected 128, since latency tests have one message under way, '
                           "found 7\n")


def bandwidth(loco_sim, *arguments):
    done = loco_sim("perf", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["results"][0], done.stderr


def test_perftests_habits_are_taken_with_a_word(loco_sim):
    plain, silent = bandwidth(loco_sim, "write_bw", "-n", 200)
    habits, said = bandwidth(loco_sim, "write_bw", "-n", 200, "-F", "-d", "mlx5_0", "-x", 3, "-R", "-e", "-p", 18515)
    assert habits == plain and silent == ""
    assert said == "loco-sim perf write_bw: -F, -d, -x, -R, -p, -e mean nothing here: two hosts, one port each, threads that poll\n"


def test_both_directions_are_the_sum_of_two(loco_sim):
    """A cable has two directions: where nothing else is shared, both hosts get what one alone gets."""
    one, _ = bandwidth(loco_sim, "write_bw", "-s", 65536, "-n", 100, "--set", "pcie.rate=1Tbps")
    both, _ = bandwidth(loco_sim, "write_bw", "-s", 65536, "-n", 100, "-b", "--set", "hardware.pcie.rate=1Tbps")
    assert both["iterations"] == 2 * one["iterations"]
    assert both["bw_average_mib_s"] == pytest.approx(both["bw_from_0_mib_s"] + both["bw_from_1_mib_s"])
    for direction in ("bw_from_0_mib_s", "bw_from_1_mib_s"):
        assert both[direction] == pytest.approx(one["bw_average_mib_s"], rel=0.05)  # ACKs share the way
    lines = loco_sim("perf", "write_bw", "-n", 50, "-b", "--report-both").stdout.splitlines()
    assert [line.split()[1:4] for line in lines[2:4]] == [["from", "node", "0"], ["from", "node", "1"]]
    assert lines[4].startswith("limited by: link ")
    alone = loco_sim("perf", "write_bw", "--report-both")
    assert alone.returncode == 2 and "--report-both: expected --bidirectional with it" in alone.stderr


def test_a_duration_is_of_simulated_time(loco_sim):
    """Posting ends after 1 ms: at a known rate that is how many messages there are, but for those under way."""
    counted, _ = bandwidth(loco_sim, "write_bw", "-s", 4096, "-n", 2000)
    timed, _ = bandwidth(loco_sim, "write_bw", "-s", 4096, "-D", "1ms")
    rate = counted["msg_rate_mpps"] * 1e6
    assert timed["iterations"] == pytest.approx(rate * 1e-3, abs=2 * 128)
    assert timed["msg_rate_mpps"] == pytest.approx(counted["msg_rate_mpps"], rel=0.05)
    assert bandwidth(loco_sim, "write_bw", "-s", 4096, "-D", "0.001")[0] == timed
    for wrong in ("0", "-1", "soon"):
        done = loco_sim("perf", "write_bw", "-D", wrong)
        assert done.returncode == 2 and "--duration: expected a number of seconds" in done.stderr
    beside = loco_sim("perf", "write_bw", "-D", "1ms", "-n", 5)
    assert beside.returncode == 2 and "--duration: expected no number of messages beside it, found 5" in beside.stderr


def test_completions_are_asked_for_as_often_as_said(loco_sim):
    often, _ = bandwidth(loco_sim, "write_bw", "-s", 2, "-n", 1000, "-Q", 1)
    seldom, _ = bandwidth(loco_sim, "write_bw", "-s", 2, "-n", 1000, "-Q", 64)
    assert often["msg_rate_mpps"] <= seldom["msg_rate_mpps"]  # each is polled
    deep = loco_sim("perf", "write_bw", "-t", 16, "-Q", 17)
    assert deep.returncode == 2 and "--cq-mod: expected at most the depth of 16, found 17" in deep.stderr


def test_no_peak_is_a_peak_of_0(loco_sim):
    assert loco_sim("perf", "write_bw", "-n", 50, "-N").stdout.splitlines()[1].split()[2] == "0.00"


def test_a_fields_override_is_that_of_a_profile(loco_sim, tmp_path):
    profile = tmp_path / "slow.yaml"
    profile.write_text("base: cx5-roce-25g\nlink: {rate: 10Gbps}\n")
    by_file, _ = bandwidth(loco_sim, "write_bw", "-n", 50, "--hardware", profile)
    assert bandwidth(loco_sim, "write_bw", "-n", 50, "--set", "link.rate=10G")[0] == by_file
    wrong = loco_sim("perf", "write_bw", "--set", "link.rat=10G")
    assert wrong.returncode == 2 and 'did you mean "rate"?' in wrong.stderr


def test_help_has_the_defaults_and_the_options_that_act(loco_sim):
    latency, load, dma = (loco_sim("perf", test, "--help").stdout for test in ("write_lat", "write_bw", "dma_read_bw"))
    assert "default 2)" in latency and "default 220)" in latency and "default 1000, " in latency
    assert "--bidirectional" in load and "default 65536)" in load and "default 5000, " in load
    for option in ("--bidirectional", "--tx-depth", "--report_gbits", "--region"):
        assert option not in latency
    assert "--connection" not in dma and "--mtu" not in dma
    assert "--CPU-freq" not in load and "Examples:" in load
