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
