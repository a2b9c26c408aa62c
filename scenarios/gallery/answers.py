"""What the gallery's entries look at, and the sentences that answer them: functions of the rows of a sweep.

An answer takes `at`, which gives the value at (x, group), and the rows.
"""

from __future__ import annotations

import pathlib
from typing import Any, Callable, Mapping, Sequence

import loco_sim as ls
from loco_sim.measured import time_text

HERE = pathlib.Path(__file__).resolve().parent
Row = Mapping[str, Any]
Rows = Sequence[Row]


def median_of(operation: str | None = None) -> Callable[[Row], float]:
    """The median latency, in picoseconds."""
    if operation is None:
        return lambda row: float(row["latency_median_ps"])
    return lambda row: float(row[f"by_operation.{operation}.median_ps"])


def counted(name: str) -> Callable[[Row], float]:
    return lambda row: float(row[f"workload_counters.{name}"])


def goodput(row: Row) -> float:
    """Payload that arrived, in bits per second."""
    return 8e12 * float(row["workload_counters.payload_bytes"]) / float(row["measured_ps"])


def picoseconds(value: float) -> str:
    return time_text(round(value))


def bit_rate(value: float) -> str:
    return f"{value / 1e9:.2f} Gb/s"


def size(value: float) -> str:
    return f"{value / 1e3:.0f} kB"


def change(before: float, after: float, text: Callable[[float], str]) -> str:
    """What becomes of a value, as it is shown."""
    if text(before) == text(after):
        return f"stays at {text(before)}"
    return f"{'falls' if after < before else 'grows'} from {text(before)} to {text(after)}"


def barrier_per_us(at: Callable[..., float], rows: Rows) -> str:
    slope = (at("4050ns") - at("50ns")) / 4e6
    return (f"A barrier of eight nodes takes {picoseconds(at('50ns'))} with short cables and {slope:.1f} us more for each "
            f"microsecond on every cable: so many times one after the other is a cable passed.")


def fence_cost(at: Callable[..., float], rows: Rows) -> str:
    cost = {n: at(n, "all_nodes") - at(n, "none") for n in ("2", "8", "32")}
    share = cost["32"] / at("32", "all_nodes")
    return (f"On 2 nodes the fence takes {picoseconds(cost['2'])}, on 8 {picoseconds(cost['8'])}, on 32 "
            f"{picoseconds(cost['32'])}: there {100 * share:.0f} % of the barrier.")


def routing_difference(at: Callable[..., float], rows: Rows) -> str:
    def carried(routing: str, placement: str = "in_order") -> str:
        return bit_rate(at(routing, placement))

    return (f"Of the 400 Gb/s that sixteen hosts could send, routes by destination carry {carried('deterministic')} and by flow hash "
            f"{carried('ecmp')} (median of three permutations): flows share links while others idle. Routes chosen packet by "
            f"packet use the whole network, but let packets overtake each other. NICs that place in order take that for losses: "
            f"{carried('adaptive')} with adaptive routing, {carried('spray')} when packets are sprayed. NICs that place packets as "
            f"they come get {carried('adaptive', 'out_of_order')} and {carried('spray', 'out_of_order')}.")


def victim_waits(at: Callable[..., float], rows: Rows) -> str:
    return (f"Yes: the victim's messages take {picoseconds(at('unlimited'))} when buffers have no limit and "
            f"{picoseconds(at('pfc'))}, {at('pfc') / at('unlimited'):.1f} times as long, when PFC pauses the uplink that it "
            f"shares.")


def dcqcn_effect(at: Callable[..., float], rows: Rows) -> str:
    longest = counted("fabric_queue_max_bytes")
    return (f"The longest queue {change(longest(rows[0]), longest(rows[1]), size)}, PFC pauses {at('true'):.0f} times in place of "
            f"{at('false'):.0f}, and goodput {change(goodput(rows[0]), goodput(rows[1]), bit_rate)}.")


def window_depth(at: Callable[..., float], rows: Rows) -> str:
    full = max(at(r["workload.outstanding"]) for r in rows)
    enough = next(r["workload.outstanding"] for r in rows if at(r["workload.outstanding"]) > 0.95 * full)
    return (f"{enough}: one message at a time gets {bit_rate(at('1'))}, {enough} get {bit_rate(at(enough))}, and more hardly "
            f"more ({bit_rate(full)}).")


def size_for_half(at: Callable[..., float], rows: Rows) -> str:
    def half(window: str) -> str:
        sizes = [r["workload.size"] for r in rows if r["workload.outstanding"] == window]
        return next((s for s in sizes if at(s, window) > 12.5e9), "none of these")

    return f"Half of the 25 Gb/s is reached with {half('1')} one after the other, and with {half('16')} sixteen at a time."


def switching_cost(at: Callable[..., float], rows: Rows) -> str:
    def extra(size_text: str) -> float:
        return at(size_text, "store_and_forward") - at(size_text, "cut_through")

    return (f"{picoseconds(extra('64B'))} for 64 B and {picoseconds(extra('64KiB'))} for 64 KiB: one packet's time on the "
            f"wire for each of three switches, paid once, since packets follow each other.")


def rate_effect(at: Callable[..., float], rows: Rows) -> str:
    saved = at("25Gbps") - at("400Gbps")
    return (f"Hardly: {picoseconds(at('25Gbps'))} at 25 Gb/s, {picoseconds(at('400Gbps'))} at sixteen times the rate. "
            f"{100 * saved / at('25Gbps'):.0f} % of the barrier is time on the wire; the rest does not depend on it.")


def loss_effect(at: Callable[..., float], rows: Rows) -> str:
    share = {loss: 100 * at(loss) / at("0") for loss in ("100", "1000", "10000")}
    return (f"On 2 km of cable, one packet lost in 10,000 leaves {share['100']:.0f} % of the throughput, one in 1,000 "
            f"{share['1000']:.0f} %; at one in 100, {share['10000']:.0f} %.")


def selective_repeat_saves(at: Callable[..., float], rows: Rows) -> str:
    def kept(loss: str, placement: str) -> str:
        return f"{100 * at(loss, placement) / at('0', placement):.0f} %"

    return (f"Going back sends again what a round trip carries for each packet lost: at one in 1,000 "
            f"{kept('1000', 'in_order')} of the throughput are left, at one in 100 {kept('10000', 'in_order')}. A NIC that "
            f"keeps what comes behind a gap is sent what is missing, and nothing else (selective repeat): "
            f"{kept('1000', 'out_of_order')} and {kept('10000', 'out_of_order')}.")


def slow_receiver(at: Callable[..., float], rows: Rows) -> str:
    lanes = sorted({r["hardware.pcie.lanes"] for r in rows}, key=int)
    paused = next(r for r in rows if r["hardware.pcie.lanes"] == lanes[0] and r["fabric.flow_control"] == "pfc")
    dropped = next(r for r in rows if r["hardware.pcie.lanes"] == lanes[0]
                   and r["fabric.flow_control"] == "drop_tail")
    return (f"With PFC the receiver's NIC pauses its link when its buffer is full, {paused['counters.tx_pauses']} times with "
            f"one lane, nothing is lost, and memory gets what PCIe takes: from {bit_rate(at(lanes[0], 'pfc'))} with "
            f"{lanes[0]} lane to {bit_rate(at(lanes[-1], 'pfc'))} with {lanes[-1]}. Without it the NIC drops "
            f"{dropped['counters.rx_discards']} packets with one lane, what is sent again takes the place of what is "
            f"new, and {bit_rate(at(lanes[0], 'drop_tail'))} and {bit_rate(at(lanes[-1], 'drop_tail'))} are left.")


def buffer_needed(at: Callable[..., float], rows: Rows) -> str:
    enough = next((r["fabric.buffer.size"] for r in rows if at(r["fabric.buffer.size"]) == 0), None)
    worst = rows[0]["fabric.buffer.size"]
    needed = f"{enough} are enough that nobody is paused" if enough else "Not even the largest of these is enough"
    return f"{needed}; with {worst} links are paused {at(worst):.0f} times. All seven messages together are 1.8 MB."


def rails_speed(at: Callable[..., float], rows: Rows) -> str:
    one = at("1")
    gains = ", ".join(f"{n} {one / at(n):.2f} times as fast" for n in ("2", "4", "8"))
    return (f"One rail takes {picoseconds(one)}; {gains}: a rail carries its part of every step, and what a step takes "
            f"besides bytes on the wire stays.")


def gpu_distance(at: Callable[..., float], rows: Rows) -> str:
    def carried(where: str, length: str = "1MiB") -> str:
        return bit_rate(at(where, length))

    return (f"Behind the NIC's own switch as much as the host's memory: {carried('gpu0')} against {carried('host')} of messages of "
            f"1 MiB, both ways. Behind another one the NIC reads what it sends through the root complex (hardware.pcie.peer_read): "
            f"{carried('gpu1')}. Messages of 64 B: {carried('gpu0', '64B')} and {carried('gpu1', '64B')}.")


def tree_paths(at: Callable[..., float], rows: Rows) -> str:
    def carried(where: str, length: str = "1MiB") -> str:
        return bit_rate(at(where, length))

    return (f"A path carries what its slowest link carries. Below the NIC's own switch nothing else is passed: {carried('gpu0')} of "
            f"messages of 1 MiB. Below the other one the link above the first is passed, and not the narrow one to the root "
            f"complex: {carried('gpu1')}. Through that: {carried('host')} to the memory of the NIC's socket, {carried('numa1')} "
            f"to the other one's, and {carried('gpu2')} to a GPU there, which is read at hardware.pcie.peer_read at most.")


def ports_speed(at: Callable[..., float], rows: Rows) -> str:
    def gain(generation: str) -> str:
        return f"{at('1', generation) / at('2', generation):.2f}"

    return (f"With PCIe of generation 4 a queue pair on each port is {gain('4')} times as fast as one on one port; generation 3 "
            f"carries little more than one port, and {gain('3')} times is left. More queue pairs share the same two ports.")


def queue_pair_rows() -> Rows:
    """Messages of 8 bytes by 32 threads: the rate over more and more queue pairs.

    A queue pair's first message always misses: with 32 messages or more on each, that is a small part.
    """
    return [{"queue pairs": str(count), "verb": verb,
             **ls.perf(f"{verb}_bw", size=8, hardware="cx6-ib-hdr", topology="star", queue_pairs=count, threads=32, depth=32,
                       inline_max=8 if verb == "write" else None, iterations=max(32, 65536 // count))[0]}
            for count in (32, 128, 512, 2048, 4096, 8192) for verb in ("write", "read")]


WAYS = ("behind it on its queue pair", "from the same NIC, another queue pair", "into the NIC that sends it")


def small_beside_bulk(messages: int, way: str) -> int:
    """What a write of 8 bytes takes, in picoseconds, while host 0 sends host 1 so many messages of 1 MiB."""
    machine = ls.verbs.Machine(nodes=2, hardware="cx5-roce-100g")
    bulk = [machine.register(node, 1 << 20) for node in range(2)]
    small = [machine.register(node, 64) for node in range(2)]
    cqs = [machine.create_cq(node) for node in range(2)]
    qps = [[machine.create_qp(node, cqs[node], send=64) for node in range(2)] for _ in range(2)]
    for ends in qps:
        machine.connect(*ends)
    here = 1 if way == WAYS[2] else 0
    qp = qps[0 if way == WAYS[0] else 1][here]

    def sender(thread: ls.verbs.Thread) -> Any:
        for _ in range(messages):
            yield thread.post_send(qps[0][0], "rdma_write", local=bulk[0], remote=bulk[1], signaled=False)

    def writer(thread: ls.verbs.Thread) -> Any:
        yield thread.compute(20_000_000)  # the bulk is flowing
        begin = yield thread.now()
        yield thread.post_send(qp, "rdma_write", local=small[here][:8], remote=small[1 - here][:8])
        yield thread.wait_cq(cqs[here])
        return (yield thread.now()) - begin

    machine.spawn(0, sender)
    thread = machine.spawn(here, writer)
    machine.run()
    return int(thread.returned)


def mixed_rows() -> Rows:
    """A small write beside more and more bulk, three ways."""
    return [{"messages of 1 MiB": str(messages), "small write": way, "ps": small_beside_bulk(messages, way)}
            for messages in (0, 1, 2, 8, 32) for way in WAYS]


def beside_bulk(at: Callable[..., float], rows: Rows) -> str:
    del rows
    same, other, into = WAYS
    return (f"On the bulk's own queue pair it waits for all that was posted before it, {picoseconds(at('32', same))} behind 32 "
            f"messages. On another queue pair packets of both take turns: {picoseconds(at('32', other))} in place of "
            f"{picoseconds(at('0', other))}, however much is posted. One that comes into the host waits for no read of bulk, "
            f"its answer for what is on the link: {picoseconds(at('32', into))}.")


def million_a_second(value: float) -> str:
    return f"{value:.1f} M/s"


def thrashing(at: Callable[..., float], rows: Rows) -> str:
    def half(verb: str) -> str:
        return next((r["queue pairs"] for r in rows if r["verb"] == verb and at(r["queue pairs"], verb) < at("32", verb) / 2),
                    "none of these")

    def fall(verb: str) -> str:
        return f"from {million_a_second(at('32', verb))} over 32 queue pairs to {million_a_second(at('8192', verb))} over 8192"

    return (f"The rate of a ConnectX-6 falls {fall('write')} for writes, {fall('read')} for reads, which keep more state in "
            f"the NIC. Less than half of it is left for reads with {half('read')} queue pairs, for writes with {half('write')}.")


def corerma_rows() -> Rows:
    """Generated coreRMA tests: one row for each rule and network, of both numbers of processes."""
    table: dict[tuple[str, str], list[int]] = {}
    for row in ls.corerma(tests=40, jobs=2).data["rows"]:
        for network, tally in row["networks"].items():
            sums = table.setdefault((row["rule"], network), [0, 0])
            sums[0] += tally["errors"]
            sums[1] += row["tests"]
    return [{"rule": rule, "network": network, "errors": errors, "tests": tests}
            for (rule, network), (errors, tests) in table.items() if tests]


def rules_broken(at: Callable[..., float], rows: Rows) -> str:
    def broken(network: str) -> str:
        return ", ".join(r["rule"] for r in rows if r["network"] == network and r["errors"]) or "none"

    tests = sum(r["tests"] for r in rows if r["network"] == "verbs")
    return (f"Of {tests} generated tests, with all rules of the coreRMA paper, fail on Cray Aries with deterministic routing those of "
            f"{broken('aries-deterministic')}; on VPI Verbs of {broken('verbs')}; on Portals of {broken('portals')}. Gets overtake puts "
            f"on Aries, puts gets on Verbs; Portals adds and compares with stale operands.")


def ring_breaks(at: Callable[..., float], rows: Rows) -> str:
    verdict = {(r["fabric.routing"], r["hardware.nic.placement"]): r["consistent"] for r in rows}
    fixed = all(verdict["deterministic", p] for p in ("in_order", "out_of_order", "unordered"))
    caught = not verdict["adaptive", "out_of_order"] and not verdict["adaptive", "unordered"]
    if not (fixed and caught and verdict["adaptive", "in_order"]):
        return f"It is not as simple as that: consistent are {[k for k, v in verdict.items() if v]}."
    return (f"Not alone: a NIC that places in order goes back when packets overtake each other, and the ring stays right. With "
            f"a NIC that places packets as they come, {at('adaptive', 'out_of_order'):.0f} of 100 messages are read wrong, because the "
            f"head may arrive before the message: the checker finds the run inconsistent with rdmawait. On one path, every NIC is right.")


SMALL = 100_000  # bytes: a flow up to so many is small


def congestion_rows() -> Rows:
    """99th percentile of slowdowns of small and of larger flows, by congestion control and load of the background."""
    scenario = ls.Scenario(HERE / "congestion_control.yaml")
    rows = []
    for load in (500, 800):
        for algorithm in ("none", "dcqcn", "hpcc", "swift", "nscc"):
            flows = ls.run(scenario, overrides={"workloads.background.load": load,
                                                "fabric.congestion.algorithm": algorithm}).flows
            for name, some in (("small", flows["bytes"] <= SMALL), ("large", flows["bytes"] > SMALL)):
                rows.append({"load, flows": f"{load // 10} %, {name}", "algorithm": algorithm,
                             "slowdown": float(flows[some]["slowdown"].quantile(0.99))})
    return rows


def congestion_controls(at: Callable[..., float], rows: Rows) -> str:
    def small(load: int, algorithm: str) -> float:
        return at(f"{load} %, small", algorithm)
    controlled = ("dcqcn", "hpcc", "swift", "nscc")
    best = min(controlled, key=lambda a: small(80, a))
    worst = max(controlled, key=lambda a: small(80, a))
    others = ", ".join(f"{at('80 %, large', a):.0f} with {a}" for a in controlled)
    return (f"Of flows to {SMALL // 1000} kB, 99 % have at most {small(50, 'none'):.0f} times their time alone with PFC only, at half the "
            f"load, and {small(80, 'none'):.0f} at 80 %. With {best} it is {small(50, best):.1f} and {small(80, best):.1f}, with "
            f"{worst} {small(50, worst):.1f} and {small(80, worst):.1f}. Larger flows pay or gain: at 80 % load "
            f"{at('80 %, large', 'none'):.0f} without, {others}.")


def slowest(operation: str) -> Callable[[Row], float]:
    return lambda row: float(row[f"by_operation.{operation}.max_ps"])


def trimming_saves(at: Callable[..., float], rows: Rows) -> str:
    def counted_at(length: str, trims: str, name: str) -> str:
        return str(next(row[name] for row in rows if row["workload.size"] == length and row["fabric.trim.enabled"] == trims))
    least = "32KiB"
    return (f"Of {least} each the last is there after {picoseconds(at(least, 'true'))} in place of {picoseconds(at(least, 'false'))}: "
            f"the {counted_at(least, 'true', 'workload_counters.fabric_packets_trimmed')} packets that find no room come as headers, and "
            f"are asked for again at once; without, of {counted_at(least, 'false', 'workload_counters.fabric_packets_lost')} lost packets "
            f"those behind which nothing comes are missed by a time-out. Of 512KiB, which something always comes behind, it is "
            f"{picoseconds(at('512KiB', 'true'))} in place of {picoseconds(at('512KiB', 'false'))}.")


def distinct_of(rows: Rows, key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))


def storm_ends(at: Callable[..., float], rows: Rows) -> str:
    lost = next(row["workload_counters.fabric_watchdog_lost"] for row in rows if row["fabric.pfc.watchdog.enabled"] == "true")
    return (f"Who sends to host 3 stands behind what waits for host 2: {picoseconds(at('false'))} at most, until the storm ends. "
            f"With a watchdog it is {picoseconds(at('true'))}, and {lost} packets for host 2 are lost, which their sender repeats.")


def fastest_all_reduce(at: Callable[..., float], rows: Rows) -> str:
    algorithms = distinct_of(rows, "workload.algorithm")
    best = {size: min(algorithms, key=lambda a: at(size, a)) for size in distinct_of(rows, "workload.size")}
    first, last = list(best)[0], list(best)[-1]
    return (f"By size: {', '.join(f'{size} {a}' for size, a in best.items())}. Of {first} the ring takes "
            f"{at(first, 'ring') / at(first, best[first]):.1f} times as long as {best[first]}; of {last} whole vectors "
            f"(recursive_doubling) take {at(last, 'recursive_doubling') / at(last, best[last]):.1f} times as long as {best[last]}.")
