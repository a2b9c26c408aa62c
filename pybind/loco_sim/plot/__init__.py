"""Pictures. Every function takes an `ax` to draw on (a new figure's when it is None) and returns it. Needs matplotlib.

    import loco_sim as ls
    r = ls.run("scenarios/quickstart.yaml")
    ls.plot.latency_cdf(r).figure.savefig("latency.svg")
"""

from __future__ import annotations

from ._flows import slowdown
from ._graphs import execution_graph, sequence_chart
from ._over_time import link_utilisation, queue_occupancy, throughput_over_time
from ._times import latency_cdf, latency_percentiles, throughput

__all__ = ["execution_graph", "latency_cdf", "latency_percentiles", "link_utilisation", "queue_occupancy",
           "sequence_chart", "slowdown", "throughput", "throughput_over_time"]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
