"""What each program of scenarios/verify/ must come to; the reasons are in the comments of the programs.

`safe` names the networks under which it keeps its property as it stands, from the weakest on: the stronger ones follow.
`needed` are the smallest flushes under `unordered`, and where they come from; `paper` is what the paper found for its version
of the program (Table 3). Numbers of flushes are in textual order, from 0.
"""

import dataclasses

ALL = ("unordered", "verbs", "in-order", "sc")
ORDERED_PUTS = ("verbs", "in-order", "sc")


@dataclasses.dataclass
class Expected:
    safe: tuple = ALL
    flushes: int = 0
    needed: int | None = None
    placements: list | None = None
    paper: int | None = None
    origin: str = ""
    infinite: bool = False  # data without bound: no exhaustive search ends


SEARCH = "derivation and exhaustive search"

EXPECTED = {
    # The paper's benchmarks.
    "dekker": Expected(flushes=12, needed=4, placements=[[0, 4, 6, 10]], paper=4, origin="paper and derivation"),
    "peterson": Expected(flushes=7, needed=4, placements=[[0, 1, 2, 4]], paper=4, origin="paper and exact search"),
    "abp": Expected(flushes=2, needed=1, placements=[[0]], paper=1, origin="paper and derivation", infinite=True),
    "pc1": Expected(flushes=7, needed=2, placements=[[2, 5], [2, 6]], paper=2, origin="exhaustive search"),
    "pgsql": Expected(flushes=4, needed=2, placements=[[0, 2]], paper=2, origin=SEARCH),
    "qw": Expected(flushes=5, needed=3, placements=[[0, 1, 4]], paper=4, origin=SEARCH),
    "sober": Expected(flushes=9, needed=0, placements=[[]], paper=0, origin="paper and derivation"),
    "kessels": Expected(flushes=10, paper=5),
    "loop2_tlm": Expected(flushes=4, needed=2, placements=[[0, 2]], paper=4, origin=SEARCH),
    "szymanski": Expected(flushes=14, paper=7),
    "queue": Expected(flushes=2, needed=1, placements=[[1]], paper=1, origin="paper and derivation", infinite=True),
    "ticket": Expected(flushes=6, needed=2, placements=[[0, 3]], paper=5, origin="derivation", infinite=True),
    "bakery": Expected(flushes=10, needed=6, placements=[[0, 1, 3, 5, 6, 8]], paper=6, origin="paper and derivation",
                       infinite=True),
    "rma_lock": Expected(flushes=18, paper=9),
    "bluetooth": Expected(flushes=5, needed=2, placements=[[1, 2]], origin=SEARCH),
    "bluetooth_broken": Expected(safe=(), flushes=5),
    # A tour of the semantics.
    "put_then_store": Expected(safe=("sc",)),
    "put_then_store_flush": Expected(flushes=2, needed=1, placements=[[0]], paper=1, origin="paper, Section 2.3"),
    "message_passing": Expected(safe=ORDERED_PUTS),
    "message_passing_flush": Expected(flushes=2, needed=1, placements=[[0]], origin=SEARCH),
    "mailbox": Expected(flushes=2, needed=1, placements=[[1]], origin=SEARCH),
    "two_gets": Expected(safe=ORDERED_PUTS, flushes=1),
    "put_then_get": Expected(safe=("in-order", "sc"), flushes=1),
    "store_buffering": Expected(safe=("sc",)),
    "store_buffering_flush": Expected(flushes=2, needed=2, placements=[[0, 1]], origin=SEARCH),
    "lost_update": Expected(safe=(), flushes=4),
    "counter": Expected(flushes=2, needed=2, placements=[[0, 1]], origin=SEARCH),
    "spin_lock": Expected(flushes=4, needed=2, placements=[[0, 2]], origin=SEARCH),
    "loopback": Expected(safe=("sc",), flushes=1),
    "endless_puts": Expected(),
    "peterson_no_put_flush": Expected(safe=("in-order", "sc"), flushes=6),
    # LOCO.
    "loco_barrier": Expected(flushes=8, needed=4, placements=[[0, 2, 4, 6]], origin=SEARCH),
    "loco_barrier_no_fence": Expected(safe=ORDERED_PUTS),
    "loco_barrier_transitive": Expected(safe=("sc",), flushes=2),
    "loco_barrier_transitive_fence": Expected(flushes=4, needed=2, placements=[[0, 3]], origin=SEARCH),
    "loco_ring_buffer": Expected(flushes=3, needed=1, placements=[[0]], origin="exhaustive search"),
    "loco_ring_buffer_wait": Expected(safe=ORDERED_PUTS, flushes=1),
    "loco_ring_buffer_no_wait": Expected(safe=("sc",)),
    "loco_mutex": Expected(flushes=10, needed=6, placements=[[0, 2, 3, 5, 7, 8]], origin="derivation"),
    "loco_mutex_no_fence": Expected(safe=("sc",), flushes=8),
}
