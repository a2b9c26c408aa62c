"""What does propagation delay do to a barrier? A sweep over delays and sizes, and its picture."""

import loco_sim as ls

rows = list(ls.sweep_rows("scenarios/barrier.yaml",
                          {"topology.nodes": [2, 4, 8], "fabric.link.delay": ls.Range("100ns", "2us", 3)},
                          overrides={"workload.iterations": 50}))
for row in sorted(rows, key=lambda r: r["point"]):
    print(f"{row['topology.nodes']:>3} nodes, {row['fabric.link.delay']:>6}: {row['latency_median_ps'] / 1e6:6.2f} us")
ls.plot.throughput(rows, "fabric.link.delay", y="latency_median_ps", group="topology.nodes").figure.savefig("barrier.svg")
