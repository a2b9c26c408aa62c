"""Time series: what links and operations did over time."""

import math
import pickle

import numpy as np
import pytest

import loco_sim as ls

# PCIe of 16 lanes takes what a link of 100 Gb/s brings.
SCENARIO = {"hardware": {"base": "cx5-roce-25g", "link": {"mtu": 4096}, "pcie": {"lanes": 16}},
            "topology": {"kind": "star", "nodes": 4},
            "fabric": {"link": {"rate": "100Gbps", "delay": "1us"}},
            "workload": {"kind": "traffic", "pattern": "incast", "size": "256KiB", "count": 2, "outstanding": 2}, "check": [],
            "series": {"interval": "1us"}}


@pytest.fixture(scope="module")
def result():
    return ls.run(SCENARIO)


def test_no_series_unless_asked_for():
    assert ls.run({**SCENARIO, "series": {}}).series is None


def test_looking_does_not_change_the_run(result):
    plain = ls.run({**SCENARIO, "series": {}})
    assert plain.latency.samples_ps.tolist() == result.latency.samples_ps.tolist()
    assert plain.counters == result.counters and plain.simulated_ps == result.simulated_ps


def test_links_and_shapes(result):
    series = result.series
    assert set(series.links) == {f"h{i}-s0" for i in range(4)} | {f"s0-h{i}" for i in range(4)}
    n = len(series.times_ps)
    assert series.busy_ps.shape == series.queued_bytes.shape == (n, 8) and series.utilisation.shape == (n - 1, 8)
    assert series.interval_ps == 10**6 and series.times_ps[-1] <= result.simulated_ps
    assert n == result.simulated_ps // 10**6 + 1


def test_utilisation_is_a_share_and_the_bottleneck_is_full(result):
    """Three hosts write to h0: its link is busy all the time in the middle of the run, the senders' a third each."""
    series = result.series
    assert (series.utilisation >= 0).all() and (series.utilisation <= 1).all()
    middle = slice(len(series.utilisation) // 4, 3 * len(series.utilisation) // 4)
    assert series.utilisation[middle, series.links.index("s0-h0")].min() == 1
    assert series.queued_bytes[:, series.links.index("s0-h0")].max() > 10_000
    back = series.utilisation[:, series.links.index("h0-s0")]
    assert back.max() < 0.1, "only ACKs go there"


def test_busy_time_is_that_of_the_bytes(result):
    """6 messages of 256 KiB over the bottleneck, 64 packets of 4096 + 82 bytes each (and 16 of RETH), at 100 Gb/s."""
    series = result.series
    bits = 6 * (64 * (4096 + 82) + 16) * 8
    assert series.busy_ps[-1, series.links.index("s0-h0")] == pytest.approx(bits / 100e9 * 1e12, rel=1e-6)


def test_long_runs_have_fewer_looks():
    result = ls.run(SCENARIO, overrides={"series.interval": "1ns"})
    series = result.series
    assert len(series.times_ps) <= 16384 and series.interval_ps in (2000, 4000, 8000, 16000, 32000)
    assert series.times_ps[-1] + 2 * series.interval_ps >= result.measured_ps
    coarse = ls.run(SCENARIO).series
    common = math.lcm(series.interval_ps, coarse.interval_ps)
    at = 100_000_000 // common * common
    assert (series.busy_ps[at // series.interval_ps] == coarse.busy_ps[at // 10**6]).all(), "a look is the same whoever looks"


def test_throughput_over_time(result):
    starts, rates = result.throughput_series("10us")
    assert starts[1] == 10**7 and len(starts) == len(rates)
    assert rates.sum() * 10e-6 == pytest.approx(result.operations_done)
    ends = result.operations["message"].ends_ps
    assert (np.diff(ends) >= 0).all() and (ends - result.operations["message"].samples_ps >= 0).all()
    with pytest.raises(ValueError, match="10us"):
        result.throughput_series("10 apples")
    for bucket in (None, 1.5, 0, "4KiB"):
        with pytest.raises(ValueError, match="expected a time such as 10us, found"):
            result.throughput_series(bucket)
    assert len(result.throughput_series(np.int64(10**7))[0]) == len(starts)


def test_plots(result):
    pytest.importorskip("matplotlib")
    ax = ls.plot.link_utilisation(result)
    [image], labels = ax.get_images(), [t.get_text() for t in ax.get_yticklabels()]
    assert labels and set(labels) <= set(result.series.links), "many lines would lie over each other: a row each"
    assert np.asarray(image.get_array()).mean() == pytest.approx(100 * result.series.utilisation.mean(), rel=0.02)
    ax = ls.plot.link_utilisation(result.series, links=["s0-h0"])
    assert max(ax.get_lines()[0].get_ydata()) == pytest.approx(100)
    assert len(ax.get_lines()[0].get_xdata()) == len(result.series.times_ps), "the last interval has its width"
    for ax in (ax, ls.plot.queue_occupancy(result, links=["s0-h0"]), ls.plot.throughput_over_time(result)):
        assert ax.get_ylim()[0] == 0 and ax.get_ylim()[1] >= max(line.get_ydata().max() for line in ax.get_lines())
    assert [line.get_label() for line in ls.plot.link_utilisation(result, links="s0-h0").get_lines()] == ["s0-h0"]
    assert ls.plot.queue_occupancy(result, links=["s0-h0"]).get_ylabel() == "waiting for the port (MB)"
    with pytest.raises(KeyError, match="s0-h0"):
        ls.plot.queue_occupancy(result, links=["h0-h1"])
    for plot in (ls.plot.link_utilisation, ls.plot.queue_occupancy):
        with pytest.raises(ValueError, match="links: expected a Series"):
            plot(ls.run("quickstart").trace, links="s0-h0")
    assert len(ls.plot.throughput_over_time(result, bucket="10us").get_lines()) == 1
    assert ls.report(result).count("<figure") >= 5


def test_links_that_are_drawn_are_those_that_weigh_most(monkeypatch):
    """Ten links that are idle for 1 ns. In the next link i sends for i tenths of the time, link 9 for all of it, and has
    i kB in its queue at the end."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("loco_sim.plot._over_time._LINKS_MAX", 8)
    names = [f"l{i}" for i in range(10)]
    busy = np.array([[0] * 10, [0] * 10, [100 * i for i in range(9)] + [1000]], np.int64)
    queued = np.array([[0] * 10, [0] * 10, [1000 * i for i in range(10)]], np.uint64)
    for end_ps, looks in ((2000, 3), (1999, 2)):  # a look of a timer that ran on after the end does not count
        series = ls.Series(1000, names, busy.tobytes(), queued.tobytes(), end_ps)
        assert len(series.times_ps) == len(series.queued_bytes) == looks
    series = ls.Series(1000, names, busy.tobytes(), queued.tobytes(), 2000)
    def rows(ax):
        [image] = ax.get_images()
        return dict(zip([t.get_text() for t in ax.get_yticklabels()], np.asarray(image.get_array())[:, -1].tolist()))

    assert rows(ls.plot.link_utilisation(series)) == pytest.approx({**{f"l{i}": 10 * i for i in range(2, 9)}, "l9": 100})
    assert rows(ls.plot.queue_occupancy(series)) == {f"l{i}": i for i in range(2, 10)}
    [idle, _] = ls.plot.queue_occupancy(series, links=["l0", "l1"]).get_lines()
    assert idle.get_ydata().max() == 0, "named links are drawn whatever they did"
    few = ls.Series(1000, names[:2], busy[:, :2].tobytes(), queued[:, :2].tobytes(), 2000)
    assert [line.get_label() for line in ls.plot.queue_occupancy(few).get_lines()] == ["l1"]


def test_series_of_hardware_without_a_network_is_empty():
    result = ls.run({"hardware": "model-weak", "workload": {"kind": "barrier", "iterations": 3},
                     "series": {"interval": "1us"}})
    assert result.series.links == [] and result.series.utilisation.shape[1] == 0


def test_traces_with_packets():
    scenario = {**SCENARIO, "trace": {"level": "packets"}}
    result = ls.run(scenario)
    packets = result.trace.activities[result.trace.activities["kind"] == 0]
    assert len(packets) == result.counters["packets_sent"]
    assert (packets["finish_ps"] > packets["start_ps"]).all(), "nothing is lost here"
    back = ls.Trace(result.trace._core)
    assert back.to_perfetto().startswith("{") and "link to node 0" in back.to_perfetto()
    assert "digraph" in back.to_dot(10)
    assert pickle.loads(pickle.dumps(result.trace)).to_perfetto() == result.trace.to_perfetto()


def test_pictures_can_be_read_whatever_the_numbers():
    """Every link has its name, times far apart stand on a logarithmic axis with numbers written out, and what did not happen
    is said."""
    pytest.importorskip("matplotlib")
    result = ls.run({"topology": {"kind": "leaf_spine", "leaves": 4, "spines": 2, "hosts_per_leaf": 4},
                     "workload": {"kind": "flows", "pattern": "random", "size": "64KiB", "arrivals": "poisson", "load": 400,
                                  "count": 60}, "series": {"interval": "2us"}})
    ax = ls.plot.link_utilisation(result)
    rows = len(ax.get_images()[0].get_array())
    assert rows == 24 == len([t for t in ax.get_yticklabels() if t.get_text()]), "a row without a name"
    ax.figure.canvas.draw()
    assert ax.get_window_extent().height / rows >= 11, "names above one another"
    far = ls.Latency(np.array([3_000_000] * 60 + [900_000_000] * 40))
    ax = ls.plot.latency_percentiles(far)
    ax.figure.canvas.draw()
    assert ax.get_yscale() == "log" and {"10", "100"} <= {t.get_text() for t in ax.get_yticklabels()}
    assert ls.plot.latency_percentiles(ls.Latency(np.array([3, 4, 5]))).get_yscale() == "linear"
    quiet = ls.run({"topology": {"nodes": 2}, "workload": {"kind": "barrier", "iterations": 3}, "series": {"interval": "1us"}})
    ax = ls.plot.queue_occupancy(quiet)
    assert [t.get_text() for t in ax.texts] == ["nothing waited for a port"] and not ax.axison
    assert "How much longer flows took than alone" in ls.report(result)
