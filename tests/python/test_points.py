"""The points of a sweep: grids, lists, ranges, random samples, seeds."""


import numpy as np
import pytest

import loco_sim as ls

GRID = {"topology.nodes": [2, 3], "fabric.link.delay": ["50ns", "1us"]}


def test_grid_is_every_combination_in_order():
    points = ls.sweep_points(GRID)
    assert [tuple(p.values()) for p in points] == [(2, "50ns"), (2, "1us"), (3, "50ns"), (3, "1us")]


def test_list_of_points():
    points = [{"topology.nodes": 2}, {"topology.nodes": 4, "seed": 3}]
    assert ls.sweep_points(points) == points


def test_ranges():
    assert list(ls.Range(1, 9, 3)) == [1, 5, 9]
    assert list(ls.Range(1.0, 2.0, 3)) == [1.0, 1.5, 2.0]
    assert list(ls.Range("1KiB", "4KiB", 3, log=True)) == ["1KiB", "2KiB", "4KiB"]
    assert list(ls.Range("10Gbps", "100Gbps", 2)) == ["10Gbps", "100Gbps"]
    with pytest.raises(ValueError, match="of a kind"):
        list(ls.Range("1ns", "1KiB", 2))
    with pytest.raises(ValueError, match="count"):
        list(ls.Range(1, 2, 0))
    with pytest.raises(ValueError, match="positive"):
        list(ls.Range(0, 2, 2, log=True))


def test_ends_of_ranges():
    assert list(ls.Range(7, 9, 1)) == [7], "one value is the low end"
    assert list(ls.Range(0, "1us", 3)) == ["0ps", "500ns", "1us"], "nothing needs no unit"
    assert list(ls.Range("2", " 4 ", 3)) == [2, 3, 4], "as YAML reads them"
    assert list(ls.Range(1, 2.5, 2)) == [1, 2.5], "rounded if both ends are whole only"
    with pytest.raises(ValueError, match="expected positive bounds, found 1 and -2"):
        list(ls.Range(1, -2, 2, log=True))
    with pytest.raises(ValueError, match="expected a time, a size or a rate"):
        list(ls.Range("0.5ps", "1ps", 2))  # no whole picoseconds


class Greatest:
    """The stream whose next double is the last one below 1."""

    def random(self):
        return 1 - 2**-53


def test_no_draw_lies_outside():
    assert {p["n"] for p in ls.sweep_points({"n": ls.Uniform(5, 2)}, samples=200)} == {2, 3, 4, 5}, "either end first"
    drawn = [p["n"] for p in ls.sweep_points({"n": ls.Uniform(0, 0.5)}, samples=20)]
    assert all(0 <= v <= 0.5 for v in drawn) and len(set(drawn)) == 20
    for low in range(1, 6):
        for high in range(low, 40):  # 3 * 2^(share * log2(5 / 3)) rounds up to 5 when the share does to 1
            assert ls.Uniform(low, high, log=True).draw(Greatest()) == high


def test_parameters_with_the_same_values_are_drawn_apart():
    points = ls.sweep_points({"a": ls.Uniform(1, 10**9), "b": [1], "c": ls.Uniform(1, 10**9)}, samples=5)
    assert all(p["a"] != p["c"] for p in points)
    assert all(list(p) == ["a", "b", "c"] for p in points), "in the order that was given"


def test_random_samples_follow_their_seed():
    parameters = {"topology.nodes": ls.Uniform(2, 64), "fabric.link.delay": ls.Uniform("50ns", "10us", log=True),
                  "workload.fence": ls.Choice(["all_nodes", "none"])}
    a = ls.sweep_points(parameters, samples=50, sample_seed=1)
    assert a == ls.sweep_points(parameters, samples=50, sample_seed=1)
    assert a != ls.sweep_points(parameters, samples=50, sample_seed=2)
    assert a[:20] == ls.sweep_points(parameters, samples=20, sample_seed=1), "more samples keep the first ones"
    assert all(2 <= p["topology.nodes"] <= 64 for p in a) and {p["workload.fence"] for p in a} == {"all_nodes", "none"}
    only = ls.sweep_points({"topology.nodes": parameters["topology.nodes"]}, samples=50)
    assert [p["topology.nodes"] for p in only] == [p["topology.nodes"] for p in a], "a stream for each parameter"


def drawn(uniform, count):
    """How often each value comes, as a share."""
    values = [p["n"] for p in ls.sweep_points({"n": uniform}, samples=count)]
    return {v: values.count(v) / count for v in sorted(set(values))}


def test_whole_numbers_are_equally_likely():
    # 5,000 draws: a share is off by 0.03 once in 10^5 tries
    assert drawn(ls.Uniform(1, 3), 5000) == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 1 / 3}, abs=0.03)
    assert drawn(ls.Uniform("0", "1"), 5000) == pytest.approx({0: 0.5, 1: 0.5}, abs=0.03)
    # octaves: 1; 2 and 3; 4 to 7
    shares = drawn(ls.Uniform(1, 7, log=True), 5000)
    assert (shares[1], shares[2] + shares[3], sum(shares[n] for n in (4, 5, 6, 7))) == pytest.approx((1 / 3,) * 3, abs=0.03)
    assert drawn(ls.Uniform(2**62, 2**62), 3) == {2**62: 1}


def test_numpy_numbers_are_numbers():
    assert list(ls.Range(np.int64(2), np.int64(8), np.int32(3))) == [2, 5, 8]
    assert set(drawn(ls.Uniform(np.int64(1), np.int64(2)), 50)) == {1, 2}
    assert [p["seed"] for p in ls.sweep_points({"n": [2]}, seeds=np.int64(2))] == [1, 2]
    assert len(ls.sweep_points({"n": ls.Uniform(1, 9)}, samples=np.int64(2))) == 2
    for points in (ls.sweep_points({"n": np.array([3])}), ls.sweep_points([{"n": np.int64(3)}])):
        assert type(points[0]["n"]) is int, "rows are compared, and written as JSON"


def test_seeds_are_one_more_axis():
    assert [p["seed"] for p in ls.sweep_points({"topology.nodes": [2, 3]}, seeds=2, first_seed=7)] == [7, 8, 7, 8]
    assert [p["seed"] for p in ls.sweep_points({"topology.nodes": [2]}, seeds=[5, 1])] == [5, 1]


def test_values_that_are_no_list_are_refused():
    with pytest.raises(TypeError, match="topology.nodes: expected a list"):
        ls.sweep_points({"topology.nodes": 4})
    with pytest.raises(TypeError, match="expected a list"):
        ls.sweep_points({"fabric.link.delay": "50ns"})


@pytest.mark.parametrize("values", [5, None, "abc", {1, 2}])
def test_what_is_no_list_to_choose_from_is_refused(values):
    """Text neither, whose letters it would draw; nor a set, which has no order that a seed could stand for."""
    with pytest.raises(TypeError, match=f"Choice: expected a list of values, found {values!r}"):
        ls.Choice(values)


def test_a_choice_of_anything_in_order():
    plain = drawn(ls.Choice([2, 3]), 20)
    for values in (np.array([2, 3]), (2, 3), range(2, 4), iter([2, 3])):
        assert drawn(ls.Choice(values), 20) == plain
    assert type(ls.sweep_points({"n": ls.Choice(np.array([2]))})[0]["n"]) is int
    assert ls.Choice([2, 3]) == ls.Choice(np.array([2, 3])) and hash(ls.Choice([2]))


@pytest.mark.parametrize("bound, error", [(None, TypeError), ([1], TypeError), (float("nan"), ValueError),
                                          (float("inf"), ValueError)])
def test_bounds_that_are_no_numbers_are_refused(bound, error):
    for values in (ls.Range(bound, 5, 3), ls.Range(1, bound, 3), ls.Uniform(bound, 5), ls.Uniform("50ns", bound)):
        with pytest.raises(error, match="expected a (finite )?number.*, found"):
            ls.sweep_points({"n": values})


@pytest.mark.parametrize("parameters, message", [
    (None, "parameters: expected a mapping, or a list of points, found None"),
    ("topology.nodes", "parameters: expected a mapping, or a list of points, found 'topology.nodes'"),
    ([None], "parameters: expected a mapping from dotted keys to values, found None"),
    ({1: [2]}, "parameters: expected dotted keys, found 1"),
    ([{1: 2}], "parameters: expected dotted keys, found 1"),
])
def test_parameters_that_are_none_are_refused(parameters, message):
    with pytest.raises(TypeError, match=message):
        ls.sweep_points(parameters)


@pytest.mark.parametrize("parameters, options, message", [
    ({"n": [2]}, {"seeds": 10**12}, "seeds: expected at most 1000000, which make 1000000 runs, found 1000000000000"),
    ({"n": [2, 3, 4, 5]}, {"seeds": 250_001}, "seeds: expected at most 250000, which make 1000000 runs, found 250001"),
    ({"n": ls.Range(1, 10**9, 10**9)}, {}, "count: expected 1000000 or less, found 1000000000"),
    ({"n": ls.Uniform(1, 9)}, {"samples": 10**9}, "samples: expected 1000000 or less, found 1000000000"),
    ({k: range(1001) for k in "ab"}, {}, "parameters: expected at most 1000000 runs, found more"),
])
def test_more_points_than_a_sweep_has_are_refused(parameters, options, message):
    with pytest.raises(ValueError, match=message):
        ls.sweep_points(parameters, **options)
