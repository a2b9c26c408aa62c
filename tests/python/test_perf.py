"""perf(): perftest's measurements from Python."""

import json
import os
import subprocess

import numpy as np
import pytest

import loco_sim as ls

LATENCY = ["bytes", "iterations", "t_min_us", "t_max_us", "t_typical_us", "t_avg_us", "t_stdev_us", "t_99_us", "t_999_us",
           "cache_misses"]
BANDWIDTH = ["bytes", "iterations", "bw_peak_mib_s", "bw_average_mib_s", "bw_average_gbps", "msg_rate_mpps", "cache_misses",
             "limited_by", "busiest"]


@pytest.mark.parametrize("test", ["write_lat", "read_lat", "send_lat", "atomic_lat", "dma_read_lat", "dma_write_read_lat"])
def test_latency(test):
    [row] = ls.perf(test, iterations=50)
    assert list(row) == LATENCY and row["iterations"] >= 50
    assert 0 < row["t_min_us"] <= row["t_typical_us"] <= row["t_99_us"] <= row["t_999_us"] <= row["t_max_us"]
    rounding = 1e-9  # of the mean's sum
    assert row["t_min_us"] - rounding <= row["t_avg_us"] <= row["t_max_us"] + rounding


@pytest.mark.parametrize("test", ["write_bw", "read_bw", "send_bw", "atomic_bw", "dma_read_bw", "dma_write_bw"])
def test_bandwidth(test):
    [row] = ls.perf(test, iterations=200)
    assert list(row) == BANDWIDTH
    assert 0 < row["bw_average_mib_s"]
    # the same figure in three units
    assert row["bw_average_gbps"] == pytest.approx(row["bw_average_mib_s"] * 2**20 * 8e-9)
    assert row["msg_rate_mpps"] * row["bytes"] * 1e6 == pytest.approx(row["bw_average_mib_s"] * 2**20)


def test_what_limits():
    """A thread that posts 2 bytes at a time, or the link of 25 Gb/s, which PCIe 3.0 x8 could fill twice."""
    [small] = ls.perf("write_bw", size=2, iterations=2000)
    assert small["limited_by"].startswith("CPU thread 0 of node 0 (")
    [large] = ls.perf("write_bw", size=65536, iterations=200)
    assert large["limited_by"].startswith("link h0 to h1 (")
    shares = [one["share"] for one in large["busiest"]]
    assert shares == sorted(shares, reverse=True) and len(shares) == 5 and 0.95 < shares[0] <= 1.001


def test_all_sizes_are_those_of_the_hardware():
    """UD's messages are packets: up to the MTU."""
    rows = ls.perf("send_lat", connection="UD", size="all", hardware={"base": "cx5-roce-25g", "link": {"mtu": 512}}, iterations=1)
    assert [row["bytes"] for row in rows] == [2, 4, 8, 16, 32, 64, 128, 256, 512]


def test_rows_are_the_command_lines():
    program = os.environ.get("LOCO_SIM")
    if not program or not os.path.exists(program):
        pytest.skip("LOCO_SIM does not name the command line")

    def theirs(*arguments):
        done = subprocess.run([program, "perf", *arguments, "--json"], check=True, capture_output=True)
        return json.loads(done.stdout)["results"]

    assert ls.perf("read_lat", size="4KiB", iterations=100, topology="star") == theirs(
        "read_lat", "-s", "4KiB", "-n", "100", "--topology", "star")
    assert ls.perf("write_bw", size=8, iterations=100, queue_pairs=4, threads=2, depth=16, post_list=4, region="128KiB",
                   device_memory=True, inline_max=16, seed=3, hardware="cx5-roce-100g") == theirs(
        "write_bw", "-s", "8", "-n", "100", "-q", "4", "--threads", "2", "-t", "16", "-l", "4", "--region", "128KiB",
        "--device-memory", "-I", "16", "--seed", "3", "--hardware", "cx5-roce-100g")


def test_sizes():
    rows = ls.perf("write_lat", size=[2, "1KiB", 4096], iterations=10)
    assert [row["bytes"] for row in rows] == [2, 1024, 4096]
    assert rows[0]["t_min_us"] < rows[1]["t_min_us"] < rows[2]["t_min_us"], "more bytes are longer on the wire"
    assert [row["bytes"] for row in ls.perf("write_lat", size="all", iterations=1)] == [2**i for i in range(1, 24)]
    assert ls.perf("atomic_lat", iterations=1)[0]["bytes"] == 8


def test_sizes_of_numpy():
    plain = ls.perf("write_lat", size=[8, 16], iterations=10)
    assert ls.perf("write_lat", size=np.array([8, 16]), iterations=np.int64(10)) == plain
    assert ls.perf("write_lat", size=np.int64(8), iterations=10) == plain[:1]


def test_hardware_as_a_mapping():
    def read(delay):
        [row] = ls.perf("read_lat", iterations=10, hardware={"base": "cx5-roce-25g", "link": {"delay": delay}})
        return row["t_min_us"]

    assert read("5us") - read("1us") == pytest.approx(2 * (5 - 1)), "a READ crosses the cable there and back"


def test_connections():
    assert [row["bytes"] for row in ls.perf("send_lat", connection="UD", size="all", iterations=1)] == [2**i for i in range(1, 11)]
    assert ls.perf("write_lat", connection="UC", iterations=10) == ls.perf("write_lat", iterations=10)


@pytest.mark.parametrize("text, size", [("64k", 65536), ("64K", 65536), ("1M", 2**20), ("4Ki", 4096), ("4kib", 4096), ("8 bytes", 8)])
def test_sizes_as_people_write_them(text, size):
    """What the command line takes."""
    assert ls.perf("write_lat", size=text, iterations=2)[0]["bytes"] == size


@pytest.mark.parametrize("arguments, text", [
    ({"connection": "XRC"}, "perf: connection: expected one of RC, UC, UD, found 'XRC'"),
    ({"connection": "UD"}, "perf write_lat: connection: expected RC or UC, since UD has SENDs only, found UD"),
    ({"test": "writ_lat"}, "perf: test: expected one of write_lat, "),
    ({"topology": "ring"}, "perf: topology: expected one of back_to_back, star, loopback, found 'ring'"),
    ({"size": "4us"}, "perf: size: expected a size such as 64B or 4KiB .* of at least 1B, found '4us'"),
    ({"size": 0}, "perf: size: expected a size"),
    ({"size": 2**31}, "perf write_lat: size: expected 1 to 1073741824 bytes, found 2147483648"),
    ({"iterations": 0}, "perf: iterations: expected an integer from 1 to"),
    ({"depth": 2**32}, "perf: depth: expected"),
    ({"depth": 7}, "perf write_lat: depth: expected 128, since latency tests have one message under way, found 7"),
    ({"seed": -1}, "perf: seed: expected"),
    ({"seed": 7}, "perf write_lat: seed: expected 1, since places are drawn in a region only, found 7"),
    ({"test": "dma_read_lat", "topology": "star"}, "perf dma_read_lat: topology: expected back_to_back"),
    ({"inline_max": -1}, "perf: inline_max: expected"),
    ({"queue_pairs": 2}, "perf write_lat: queue_pairs: expected 1, what latency tests have, found 2"),
    ({"region": 1, "size": 8, "test": "write_bw"}, "perf write_bw: region: expected at least a message's 8 bytes, found 1"),
    ({"region": 4096}, "perf write_lat: region: expected none"),
    ({"device_memory": True}, "perf write_lat: device_memory: expected off"),
    ({"test": "read_lat", "copy": True}, "perf read_lat: copy: expected off"),
    ({"seed": "x"}, "perf: seed: expected an integer from 0 to 18446744073709551615, found 'x'"),
    ({"hardware": "cx55"}, "found"),
])
def test_mistakes_are_input_errors(arguments, text):
    with pytest.raises(ls.InputError, match=text):
        ls.perf(**{"test": "write_lat", **arguments})
