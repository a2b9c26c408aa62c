"""loco-sim corerma and loco-sim fit, as typed."""

import csv
import io
import json

import pytest


@pytest.mark.parametrize("arguments, expected", [
    ("fit --hardware verbs-vpi-lik", "verbs-vpi-like"),
    ("fit", "--hardware"),
    ("fit --hardware model-weak --fabric routing=sideways", "routing=deterministic, ecmp, adaptive or spray"),
    ("fit --hardware model-weak --fabric loss=1", "routing=deterministic, ecmp, adaptive or spray"),
    ("fit --hardware model-weak --set placement=unordered", 'did you mean "hardware.nic.placement"?'),
    ("fit --hardware model-weak --set nic.placement=sideways", "one of in_order, "),
    ("fit --hardware model-weak --set nic.placment=unordered", 'did you mean "placement"?'),
    ("fit --hardware model-weak --set nic.stale_operands=add --set nic.atomic_operands=posted", "nic.atomic_operands"),
    ("fit --hardware model-weak --tests 0", "--tests"),
    ("corerma --size huge", 'expected paper or small, found "huge"'),
    ("corerma --size small -o table.txt", ".html, .json or .csv"),
    ("corerma --size small -o nowhere/table.csv", "nowhere"),
    ("corerma --jobs 0", "--jobs"),
])
def test_bad_input_is_one_line(loco_sim, arguments, expected):
    done = loco_sim(*arguments.split())
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert expected in done.stderr


def test_fit_says_what_a_network_keeps_and_what_rules_out_more(loco_sim):
    done = loco_sim("fit", "--hardware", "model-weak", "--set", "nic.placement=unordered", "--tests", "10")
    assert done.returncode == 0
    assert "behaves as corerma-unordered plus PTA, SO, SF, FA" in done.stdout
    assert "not PTG: " in done.stdout
    as_they_come = loco_sim("fit", "--hardware", "model-weak", "--set", "nic.placement=unordered", "--set",
                            "nic.atomic_placement=as_they_come", "--tests", "10")
    assert "behaves as corerma-unordered plus SF, FA" in as_they_come.stdout
    assert "not PTA: " in as_they_come.stdout
    on_one_path = loco_sim("fit", "--hardware", "model-weak", "--set", "nic.placement=unordered", "--fabric",
                           "routing=deterministic", "--tests", "10", "--json")
    found = json.loads(on_one_path.stdout)
    assert found["strongest"][0]["base"] == "corerma-unordered"
    assert {"PP", "PTG", "AO"} <= set(found["strongest"][0]["plus"])


def test_a_profile_of_the_users_own(loco_sim, tmp_path):
    profile = tmp_path / "mine.yaml"
    profile.write_text("base: model-weak\nnic: {placement: serial}\n")
    done = loco_sim("fit", "--hardware", str(profile), "--tests", "10", "--json")
    assert json.loads(done.stdout)["strongest"][0]["base"] == "corerma"


def test_the_table_in_its_forms(loco_sim, tmp_path):
    small = ("corerma", "--size", "small", "--tests", "3", "--jobs", "2")
    data = json.loads(loco_sim(*small, "--json").stdout)
    assert len(data["rows"]) == 24
    assert {network["name"] for network in data["networks"]} == {"aries-deterministic", "aries", "verbs", "portals"}
    for name in ("t.html", "t.json", "t.csv"):
        assert loco_sim(*small, "-o", str(tmp_path / name)).returncode == 0
    assert (tmp_path / "t.html").read_text().startswith("<!doctype html>")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text())))
    assert len(rows) == 24 * 4
    assert sum(int(row["paper_tests"]) for row in rows if row["network"] == "verbs") == 7436  # as printed; its last line says 7441
