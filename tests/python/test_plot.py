"""Pictures show what is in the data: asked of the axes, not of pixels."""

import csv
import sys

import numpy as np
import pytest

import loco_sim as ls

pytest.importorskip("matplotlib")


@pytest.fixture
def result(barrier):
    return ls.run(barrier)


SENT = {f"payload sent ({unit}/s)": size for unit, size in (("b", 1), ("kb", 1e3), ("Mb", 1e6), ("Gb", 1e9))}


def lines(ax):
    return [line for line in ax.get_lines() if len(line.get_xdata())]


def test_latency_cdf(result):
    ax = ls.plot.latency_cdf(result)
    (line,) = lines(ax)
    x, y = line.get_data()
    assert y[0] == 0 and y[-1] == 1 and len(x) == 61
    unit = {"latency (ns)": 1e3, "latency (us)": 1e6}[ax.get_xlabel()]
    assert x[-1] * unit == pytest.approx(result.latency.max)
    assert ls.plot.latency_cdf(result, ax) is ax and len(lines(ax)) == 2
    named = ls.plot.latency_cdf({"a": result, "b": result.latency})
    assert [t.get_text() for t in named.get_legend().get_texts()] == ["a", "b"]
    ls.plot.latency_cdf(ls.Latency([]))
    (one,) = lines(ls.plot.latency_cdf(ls.Latency([3000])))
    assert one.get_xdata().tolist() == [3, 3] and one.get_ydata().tolist() == [0, 1]


def test_latency_percentiles(result):
    ax = ls.plot.latency_percentiles(result, percentiles=(50, 100))
    (line,) = lines(ax)
    unit = {"latency (ns)": 1e3, "latency (us)": 1e6}[ax.get_ylabel()]
    assert [v * unit for v in line.get_ydata()] == pytest.approx([result.latency.median, result.latency.max])
    assert [t.get_text() for t in ax.get_xticklabels()] == ["p50", "max"]
    assert ls.plot.latency_percentiles(result, ax) is ax


def test_throughput_shows_median_and_spread():
    rows = [{"n": n, "d": d, "seed": s, "error": None, "operations_per_second": n * 10 + s}
            for n in (4, 2) for d in ("50ns", "1us") for s in (1, 2, 6)]
    rows.append({"n": 8, "d": "50ns", "seed": 1, "error": "failed", "operations_per_second": None})
    ax = ls.plot.throughput(rows, "n", group="d")
    first, second = lines(ax)
    assert list(first.get_xdata()) == [2, 4] and list(first.get_ydata()) == [22, 42]
    assert len(ax.collections) == 2, "a band for each group"
    low, high = ax.collections[0].get_paths()[0].vertices[:, 1].min(), ax.collections[0].get_paths()[0].vertices[:, 1].max()
    assert (low, high) == (21, 46)
    by_delay = ls.plot.throughput(rows, "d")
    assert list(lines(by_delay)[0].get_xdata()) == [50_000, 1_000_000]
    assert [t.get_text() for t in by_delay.get_xticklabels()] == ["50ns", "1us"]
    assert ls.plot.throughput(rows, "n", ax=ax) is ax
    for wrong in ({"x": "nosuch"}, {"x": "n", "y": "nosuch"}, {"x": "n", "group": "nosuch"}):
        with pytest.raises(KeyError, match="nosuch: expected one of n, d, seed, error, operations_per_second"):
            ls.plot.throughput(rows, **wrong)


def test_axes_that_grow_by_factors():
    """Where the values differ by more than a factor of ten, or 20; but not from 0, which has no logarithm."""
    for samples, scale in (([100, 1000], "linear"), ([100, 1001], "log"), ([0, 1001], "linear")):
        assert ls.plot.latency_cdf(ls.Latency(samples)).get_xscale() == scale
    for xs, scale in (((1, 2, 19), "linear"), ((1, 2, 20), "log"), ((0, 2, 20), "linear")):
        assert ls.plot.throughput([{"n": n, "operations_per_second": 1} for n in xs], "n").get_xscale() == scale


def test_times_of_a_sweep_have_a_unit_and_an_even_number_has_a_median():
    ax = ls.plot.throughput([{"n": 1, "latency_p99_ps": t} for t in (2_000_000, 5_000_000)], "n", y="latency_p99_ps")
    assert ax.get_ylabel() == "latency p99 (us)" and lines(ax)[0].get_ydata() == [3.5]


def test_throughput_of_a_csv_file(barrier, tmp_path):
    rows = sorted(ls.sweep_rows(barrier, {"topology.nodes": [2, 4]}, out=tmp_path / "s.csv"), key=lambda r: r["point"])
    with open(tmp_path / "s.csv", newline="") as file:
        read = list(csv.DictReader(file))
    for y in ("operations_per_second", "latency_p99_ps"):
        (line,), (again,) = (lines(ls.plot.throughput(table, "topology.nodes", y=y)) for table in (rows, read))
        assert again.get_xydata().tolist() == line.get_xydata().tolist() and len(line.get_xdata()) == 2


def test_labels_of_many_values_do_not_overlap():
    for values in (range(1, 101), [2**i for i in range(40)], [f"{n}ns" for n in range(1, 60)]):
        ax = ls.plot.throughput([{"n": n, "error": None, "operations_per_second": 1} for n in values], "n")
        ax.figure.draw_without_rendering()
        shown = sorted((t.get_window_extent().x0, t.get_window_extent().x1) for t in ax.get_xticklabels())
        assert 4 <= len(shown) < 40 and all(a[1] < b[0] for a, b in zip(shown, shown[1:]))
        assert len(lines(ax)[0].get_xdata()) == len(values)


def test_throughput_of_a_sweep(barrier):
    pytest.importorskip("pandas")
    table = ls.sweep(barrier, {"topology.nodes": [2, 4]}, progress=False)
    ax = ls.plot.throughput(table, "topology.nodes", y="latency_median_ps")
    assert ax.get_ylabel().startswith("latency median (")
    assert list(lines(ax)[0].get_xdata()) == [2, 4]


def test_sequence_chart(result):
    ax = ls.plot.sequence_chart(result, limit=5)
    arrows = [t for t in ax.texts if hasattr(t, "arrow_patch")]
    assert len(arrows) == 5
    assert [t.get_text() for t in ax.get_xticklabels()] == ["node 0", "node 1", "node 2"]
    bottom, top = ax.get_ylim()
    assert bottom > top, "time goes down"
    for arrow in arrows:
        assert arrow.xy[1] >= arrow.xyann[1], "nothing arrives before it was sent"
    assert ls.plot.sequence_chart(result.trace, ax) is ax


def test_sequence_chart_of_one_put():
    def node(ctx):
        yield ctx.put("x", 1, value=1, wait=True)

    r = ls.Program({0: node}).run(nodes=2)
    start = int(r.trace.subevents["start_ps"][r.trace.subevents["stamp"] == 5].max())
    ax = ls.plot.sequence_chart(r, start_ps=start)
    (arrow,) = [t for t in ax.texts if hasattr(t, "arrow_patch")]
    assert (arrow.xyann[0], arrow.xy[0]) == (0, 1)


def test_execution_graph_of_a_witness():
    result = ls.litmus("""
name: t
model: rdmawait
locations: {x: {node: 2}, y: {node: 1}}
threads:
  - {node: 1, code: "put(x, 1) as d; wait(d); a = y"}
  - {node: 2, code: "put(y, 1) as e; wait(e); b = x"}
""")[0]
    witness = result.witness({"a": 0, "b": 0})
    ax = ls.plot.execution_graph(witness)
    labels = [t.get_text() for t in ax.texts if t.get_text()]
    assert labels == [f"{label}\n{statement}" for _, label, statement in witness.nodes]
    assert len([t for t in ax.texts if hasattr(t, "arrow_patch")]) == len(witness.edges)
    colours = [line.get_color() for line in ax.get_legend().get_lines()]
    assert {"po", "pf", "rb"} <= {t.get_text() for t in ax.get_legend().get_texts()}
    assert len(set(colours)) == len(colours) >= 3, "told apart"
    assert ls.plot.execution_graph(witness, ax) is ax


def test_execution_graph_of_a_cycle(broken):
    bad = next(r for r in (ls.run(broken, seed=s) for s in range(1, 200))
               if any(v.cycle for v in r.verdict.violations))
    violation = next(v for v in bad.verdict.violations if v.cycle)
    for subject in (bad.verdict, violation):
        ax = ls.plot.execution_graph(subject)
        assert len([t for t in ax.texts if hasattr(t, "arrow_patch")]) == len(violation.cycle)
    with pytest.raises(ValueError, match="no cycle"):
        ls.plot.execution_graph(ls.run({**broken, "faults": []}).verdict)


def test_arrows_end_at_the_boxes():
    """However wide a box is: below it an arrow's head would not be seen."""
    witness = ls.litmus("""
name: t
model: rdmawait
locations: {a_location_with_a_long_name: {node: 2}, another_one_whose_name_is_long: {node: 1}}
threads:
  - {node: 1, code: "put(a_location_with_a_long_name, 1) as d; wait(d); a = another_one_whose_name_is_long"}
  - {node: 2, code: "put(another_one_whose_name_is_long, 1) as e; wait(e); b = a_location_with_a_long_name"}
""")[0].witness({"a": 0, "b": 0})
    ax = ls.plot.execution_graph(witness)
    ax.figure.canvas.draw()
    boxes = [t.get_bbox_patch().get_window_extent() for t in ax.texts if t.get_text()]
    arrows = [t.arrow_patch for t in ax.texts if getattr(t, "arrow_patch", None)]
    assert len(arrows) == len(witness.edges) and max(box.width for box in boxes) > 150
    for (a, b, *_), arrow in zip(witness.edges, arrows):
        paths, _ = arrow._get_path_in_displaycoord()
        [tip] = [path.vertices[1] for path in paths[1:]]  # the line, and the head
        for box in (boxes[a], boxes[b]):
            assert not box.padded(-2).contains(*tip)
        assert boxes[b].padded(12).contains(*tip)


def test_units_suit_what_is_shown(barrier):
    import types

    bytes_of = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
    run = ls.run({**barrier, "series": {"interval": "1us"}})
    for largest, unit in ((700, "B"), (20_000, "kB"), (23_000_000, "MB"), (2**33, "GB")):
        queued = np.zeros_like(run.series.queued_bytes)
        queued[1:, 0] = largest
        series = types.SimpleNamespace(links=run.series.links, queued_bytes=queued, times_ps=run.series.times_ps,
                                       interval_ps=run.series.interval_ps)
        ax = ls.plot._over_time.axes_for(None, "queue_occupancy")
        ls.plot._over_time._lines(series, ax, None, queued * 1.0, queued.max(axis=0) * 1.0, ls.plot._over_time._WAITING,
                                  "nothing", "the {} longest queues", most=True)
        assert ax.get_ylabel() == f"waiting for the port ({unit})"
        assert max(lines(ax)[0].get_ydata()) == pytest.approx(largest / bytes_of[unit])
    rates = {"operations/s": 1, "thousand operations/s": 1e3, "million operations/s": 1e6}
    seen = set()
    for delay in ("1ns", "1us", "100us", "1ms"):
        slow = ls.run({**barrier, "fabric": {"link": {"delay": delay}}})
        ax = ls.plot.throughput_over_time(slow)
        shown = max(max(line.get_ydata()) for line in lines(ax))
        most = max(slow.throughput_series(max(1, slow.simulated_ps // 100))[1])
        assert shown * rates[ax.get_ylabel()] == pytest.approx(most) and (shown >= 1 or ax.get_ylabel() == "operations/s")
        seen.add(ax.get_ylabel())
    assert len(seen) > 1


def test_pictures_of_some_links_say_of_how_many():
    busy = ls.run({"topology": {"kind": "star", "nodes": 16}, "workload": {"kind": "traffic", "pattern": "all_to_all"},
                   "series": {"interval": "1us"}, "check": []})
    assert len(busy.series.links) == 32
    assert ls.plot.link_utilisation(busy).get_title() == "the 24 busiest of 32 links"
    assert ls.plot.link_utilisation(busy, links=busy.series.links).get_title() == ""
    few = ls.run({"topology": {"kind": "star", "nodes": 4}, "workload": {"kind": "traffic", "pattern": "all_to_all"},
                  "series": {"interval": "1us"}, "check": []})
    assert ls.plot.link_utilisation(few).get_title() == ""


def test_link_utilisation_adds_up(result):
    ax = ls.plot.link_utilisation(result, bins=50)
    events = result.trace.subevents
    # words that cross the network: written at the other end (aNRW) or read there (aNRR)
    nodes = np.array([t.node for t in result.trace.threads])
    home = nodes[result.trace.calls["thread"][events["call"].astype(int) - 1]]
    words = (np.isin(events["stamp"], [6, 8]) & (events["peer"] != home)).sum()
    unit = {"simulated time (us)": 1e6, "simulated time (ns)": 1e3}[ax.get_xlabel()]
    bits = 0.0
    for line in lines(ax):
        x, y = line.get_data()
        assert len(x) == 51 and y[-1] == y[-2], "the last bin is as wide as the others"
        bits += y[:-1].sum() * (x[1] - x[0]) * unit * 1e-12 * SENT[ax.get_ylabel()]
    assert bits == pytest.approx(64 * words, rel=1e-6)
    share = ls.plot.link_utilisation(result, rate_bps=25e9)
    assert "%" in share.get_ylabel() and max(line.get_ydata().max() for line in lines(share)) < 100
    assert ls.plot.link_utilisation(result.trace, ax) is ax


@pytest.mark.parametrize("size", ["8B", "4KiB", "256KiB"])
def test_no_node_sends_more_than_its_link_carries(size):
    """A message of many packets is sent over all of the time that it takes."""
    run = ls.run({"name": "long", "hardware": "cx5-roce-25g", "topology": {"kind": "star", "nodes": 2},
                  "workload": {"kind": "traffic", "pattern": "incast", "size": size}, "trace": {"level": "packets"}})
    ax = ls.plot.link_utilisation(run.trace, bins=20)
    [line] = lines(ax)
    assert 0 < max(line.get_ydata()) * SENT[ax.get_ylabel()] < 25e9


def test_payload_is_sent_by_who_has_it():
    """The data of a get come from the other node; what stays on a node is on no link."""
    def reader(ctx):
        yield ctx.get("a", 1, into="b")
        yield ctx.put("a", 0, wait=True)

    run = ls.Program({0: reader}, arrays={"a": 4096, "b": 4096}).run("cx5-roce-25g", check=[])
    [line] = lines(ls.plot.link_utilisation(run.trace, bins=10))
    assert line.get_label() == "node 1"
    [share] = lines(ls.plot.link_utilisation(run.trace, bins=10, rate_bps=25e9))
    assert share.get_ydata() == pytest.approx(100 * line.get_ydata() / 25), "% of 25 Gb/s, in place of Gb/s"
    at_once = ls.Program({0: reader}, arrays={"a": 64, "b": 64}).run("model-weak", check=[])  # which takes no time
    [line] = lines(ls.plot.link_utilisation(at_once.trace, bins=10))
    assert np.isfinite(line.get_ydata()).all() and line.get_ydata().max() > 0


def test_queue_occupancy_starts_and_ends_empty(result):
    ax = ls.plot.queue_occupancy(result)
    assert len(lines(ax)) == 3
    for line in lines(ax):
        y = line.get_ydata()
        assert y[-1] == 0 and y.min() >= 0 and y.max() >= 1
    assert ls.plot.queue_occupancy(result.trace, ax) is ax


def holds_its_lines(ax):
    bottom, top = ax.get_ylim()
    assert lines(ax)
    return all(bottom <= line.get_ydata().min() and line.get_ydata().max() <= top for line in lines(ax))


def test_nothing_is_drawn_outside_of_the_axes(result, barrier):
    rows = [{"n": n, "error": None, "operations_per_second": n * 10} for n in (4, 2)]
    drawn = [ls.plot.latency_cdf(result), ls.plot.latency_percentiles(result), ls.plot.throughput(rows, "n"),
             ls.plot.throughput_over_time(result), ls.plot.link_utilisation(result), ls.plot.queue_occupancy(result),
             ls.plot.link_utilisation(result, rate_bps=25e9)]
    for ax in drawn:
        assert holds_its_lines(ax), ax.get_ylabel()
        assert ax.get_ylim()[0] == 0
    busier = ls.run({**barrier, "topology": {"kind": "star", "nodes": 12}})
    for plot in (ls.plot.latency_percentiles, ls.plot.queue_occupancy, ls.plot.link_utilisation):
        ax = plot(busier, plot(result))
        assert holds_its_lines(ax) and ax.get_ylim()[0] == 0, "a second run on the same axes"


def test_kinds_that_never_came_have_no_line(result):
    result.operations["none"] = ls.Latency([], [])
    assert len(lines(ls.plot.throughput_over_time(result))) == len(result.operations) - 1


def test_the_last_bucket_has_its_width(result):
    (line,) = lines(ls.plot.throughput_over_time(result, bucket="1us"))
    starts, rates = result.throughput_series("1us")
    x, y = line.get_data()
    assert len(x) == len(starts) + 1 and x[-1] - x[-2] == pytest.approx(x[1] - x[0])
    assert y[-1] == y[-2] == pytest.approx(rates[-1] / 1e6)


def test_numbers_that_mean_nothing_are_refused(result):
    for plot, number in ((ls.plot.sequence_chart, {"limit": 0}), (ls.plot.sequence_chart, {"limit": -1}),
                         (ls.plot.link_utilisation, {"bins": 0}), (ls.plot.throughput_over_time, {"bucket": 0}),
                         (ls.plot.throughput_over_time, {"bucket": -5})):
        with pytest.raises(ValueError, match="expected"):
            plot(result, **number)


    for rate in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="rate_bps: expected more than 0 bits a second, found"):
            ls.plot.link_utilisation(result, rate_bps=rate)
    with pytest.raises(TypeError, match="rate_bps: expected bits a second, found str"):
        ls.plot.link_utilisation(result, rate_bps="25Gbps")
    with pytest.raises(TypeError, match="start_ps: expected picoseconds, found str"):
        ls.plot.sequence_chart(result, start_ps="1us")


@pytest.mark.parametrize("subject, found", [(None, "None"), (5, "int"), ("run.trace", "str"), ([], "list")])
def test_what_cannot_be_drawn_is_refused(result, subject, found):
    for plot, expected in ((ls.plot.latency_cdf, "times: expected a Result, a Latency, or several by name"),
                           (ls.plot.latency_percentiles, "times: expected a Result, a Latency, or several by name"),
                           (ls.plot.sequence_chart, "trace: expected a Trace or a Result"),
                           (ls.plot.link_utilisation, "trace: expected a Series, a Result or a Trace"),
                           (ls.plot.queue_occupancy, "trace: expected a Series, a Result or a Trace"),
                           (ls.plot.throughput_over_time, "result: expected a Result"),
                           (ls.plot.execution_graph, "subject: expected an Explanation, a Verdict or a Violation")):
        with pytest.raises(TypeError, match=f"{expected}, found {found}$"):
            plot(subject)
    with pytest.raises(TypeError, match=f"times: one: expected a Result or a Latency, found {found}$"):
        ls.plot.latency_cdf({"one": subject})
    with pytest.raises(TypeError, match=f"rows: expected .*, found {found}$"):
        ls.plot.throughput([subject] if subject == [] else subject, "n")


def test_what_has_no_cycle_is_not_drawn(result):
    from loco_sim.verdict import Violation

    for subject in (result.verdict, Violation("mutual-exclusion", "two hold the lock")):
        with pytest.raises(ValueError, match="has no cycle to draw"):
            ls.plot.execution_graph(subject)


def test_rows_without_a_value_are_left_out():
    """Points of a list may have different parameters: no row has both."""
    rows = [{"n": 2, "y": 1.0}, {"m": 7, "y": 5.0}, {"n": None, "y": 5.0}, {"n": "", "y": "5"}, {"n": float("nan"), "y": 5.0},
            {"n": 4, "y": 3.0}, {"n": 8, "y": None}, {"n": 16, "y": 5.0, "error": "deadlock"}]
    pandas = pytest.importorskip("pandas")
    for table in (rows, pandas.DataFrame(rows)):
        (line,) = lines(ls.plot.throughput(table, "n", y="y"))
        assert [list(values) for values in line.get_data()] == [[2, 4], [1, 3]]
    with pytest.raises(KeyError, match="nodes: expected one of n, y, m"):
        ls.plot.throughput(rows, "nodes", y="y")
    with pytest.raises(ValueError, match="y: expected numbers, found 'fast'"):
        ls.plot.throughput([{"n": 1, "y": "fast"}], "n", y="y")


def test_names_are_no_formulas(result, tmp_path):
    """What lies between two dollars is one to matplotlib, and most are none that it can read."""
    name, times = "$\\frac{$ <b>", ls.Latency([1000, 2000])
    result.operations = {name: result.latency}
    for ax in (ls.plot.latency_cdf({name: times}), ls.plot.latency_percentiles({name: times}), ls.plot.throughput_over_time(result),
               ls.plot.throughput([{"n": name, "g": name, "y": 1}], "n", y="y", group="g"),
               ls.plot.execution_graph(ls.litmus("""
name: "$\\\\frac{$"
model: rdmawait
locations: {x: {node: 1}}
threads:
  - {node: 1, code: "x = 1"}
""")[0].witness({}))):
        ax.figure.savefig(tmp_path / "picture.svg")
    assert "&lt;b&gt;" in ls.report(result)
    assert ls.plot.latency_cdf({name: times}).get_legend().get_texts()[0].get_text().replace("\\$", "$") == name


def test_pyplot_is_left_alone(result):
    ls.plot.latency_cdf(result)
    if "matplotlib.pyplot" in sys.modules:
        assert sys.modules["matplotlib.pyplot"].get_fignums() == []


def test_without_matplotlib(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ls.MissingPackageError, match="pip install matplotlib"):
        ls.plot.latency_cdf(result)


def test_repeated_calls_on_the_same_axes_go_on_with_the_colours_and_the_unit():
    slow, fast = ls.Latency([3_000_000, 4_000_000]), ls.Latency([3_000, 4_000])
    for draw in (ls.plot.latency_cdf, ls.plot.latency_percentiles):
        ax = draw({"slow": slow})
        draw({"fast": fast}, ax=ax)
        draw(fast, ax=ax)
        first, second, third = ax.get_lines()
        assert len({line.get_color() for line in (first, second, third)}) == 3
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["slow", "fast"]
        values = second.get_xdata() if draw is ls.plot.latency_cdf else second.get_ydata()
        assert max(values) == pytest.approx(0.004)  # in the microseconds that the axis says
        assert "us" in (ax.get_xlabel() if draw is ls.plot.latency_cdf else ax.get_ylabel())


def test_what_many_nodes_do_is_a_row_each(barrier):
    """Lines would lie over each other. Rows add up to what lines do."""
    many = ls.run({**barrier, "topology": {"kind": "star", "nodes": 9}})
    for plot in (ls.plot.link_utilisation, ls.plot.queue_occupancy):
        ax = plot(many)
        [image] = ax.get_images()
        assert not lines(ax) and image.get_array().shape == (9, 100) and ax.get_ylabel() == "node"
        assert [t.get_text() for t in ax.get_yticklabels()] == [str(n) for n in range(9)]
    events = many.trace.subevents
    home = np.array([t.node for t in many.trace.threads])[many.trace.calls["thread"][events["call"].astype(int) - 1]]
    words = (np.isin(events["stamp"], [6, 8]) & (events["peer"] != home)).sum()
    [image] = ls.plot.link_utilisation(many).get_images()
    left, right = image.get_extent()[:2]
    unit = {"simulated time (us)": 1e6, "simulated time (ns)": 1e3}[image.axes.get_xlabel()]
    assert image.get_array().sum() * (right - left) / 100 * unit * 1e-12 * SENT[image.colorbar.ax.get_ylabel()] == pytest.approx(64 * words, rel=1e-6)


def test_a_sequence_chart_has_as_many_nodes_as_can_be_told_apart(barrier):
    many = ls.run({**barrier, "topology": {"kind": "star", "nodes": 24}, "workload": {"kind": "barrier", "iterations": 1}})
    ax = ls.plot.sequence_chart(many)
    assert len([t for t in ax.get_xticklabels() if t.get_text() != "..."]) <= 8 and ax.figure.get_size_inches()[0] <= 6
    ax = ls.plot.sequence_chart(many, nodes=[3, 20])
    assert [t.get_text() for t in ax.get_xticklabels()] == ["node 3", "...", "node 20"]
    for nodes, shown in (([3, 4, 7, 8], "3 4 ... 7 8"), ([8, 7, 4], "8 7 ... 4"), ([5, 4, 6], "5 4 6"), (range(8), "0 1 2 3 4 5 6 7")):
        ticks = ls.plot.sequence_chart(many, nodes=nodes).get_xticklabels()
        assert " ".join(t.get_text().removeprefix("node ") for t in ticks) == shown
    names = [t.get_text() for t in ls.plot.sequence_chart(many).get_xticklabels()]
    taken = [int(name) for name in names if name != "..."]
    apart = sum(b - a > 1 for a, b in zip([-1, *taken], [*taken, 24]))
    assert apart and names.count("...") == apart, "nodes are left out at the ends, too"
    with pytest.raises(ValueError, match="nodes: expected 23 or less, found 24"):
        ls.plot.sequence_chart(many, nodes=[24])


def test_many_groups_have_a_scale_and_legends_hide_nothing():
    rows = [{"n": n, "g": g, "error": None, "operations_per_second": n * g} for n in (1, 2) for g in range(40, 0, -1)]
    ax = ls.plot.throughput(rows, "n", group="g")
    assert ax.get_legend() is None and len(lines(ax)) == 40 and len(ax.figure.axes) == 2
    few = ls.plot.throughput(rows[:4], "n", group="g")
    few.figure.draw_without_rendering()
    assert few.get_legend().get_window_extent().y0 >= few.get_window_extent().y1 - 1
