"""Textbook programs with waiting, and whether what they promise comes in the end: on each of the four networks.

Two processes, 1 and 2, and words that neither has at home on process 3; each remote access is flushed unless said. The
verdicts are derived in a line each; two searches written apart from the simulator gave the same.
"""

import dataclasses

NETWORKS = ("unordered", "verbs", "in-order", "sc")


@dataclasses.dataclass
class Classic:
    text: str
    live: str  #: "+" or "-" for each of NETWORKS
    kind: str = ""  #: of what is not live, where there is one answer
    needed: tuple = ()  #: fewest flushes under `unordered`, and of how many


def rounds(body: str, count) -> str:
    """The body so many times; None: for ever."""
    return f"while (1) {{ {body} }}" if count is None else f"while (n < {count}) {{ {body} n = n + 1; }}"


def process(number, shared, local, body) -> str:
    local = ", ".join(filter(None, [local, "n"]))
    return f"process {number} {{\n  shared {shared};\n  local {local};\n  {body}\n}}\n"


def pair(make, home: str, ask: str) -> str:
    third = f"process 3 {{ shared {home}; }}\n" if home else ""
    return make(1, 2) + make(2, 1) + third + f"assert {ask};\n"


def spin_lock(count, ask, release="put(lock, 3, free{i}); flush(3);") -> str:
    def make(i, _):
        body = (f"try: a = 1; while (a != 0) {{ got{i} = cas(lock, 3, free{i}, me{i}); flush(3); load a = got{i}; }} "
                f"cs: skip; " + release.format(i=i))
        return process(i, f"free{i} = 0, me{i} = {i}, got{i} = 0, rel{i} = 0", "a", rounds(body, count))
    return pair(make, "lock = 0", ask)


def ticket(release: str) -> str:
    def make(i, _):
        body = (f"mine{i} = rga(next, 3, one{i}); flush(3); load m = mine{i}; s = m - 1; "
                f"while (s != m) {{ seen{i} = get(serving, 3); flush(3); load s = seen{i}; }} cs: skip; "
                + release.format(i=i))
        return process(i, f"one{i} = 1, mine{i} = 0, seen{i} = 0, rel{i} = 0", "m, s", rounds(body, 2))
    return pair(make, "next = 0, serving = 0", "ends")


def mcs(wait: str, go: str) -> str:
    def make(i, j):
        body = (f"e = 0; t = 1; while (t != e) {{ e = t; if (t == 1) e = 0; store exp{i} = e; "
                f"got{i} = cas(tail, 3, exp{i}, me{i}); flush(3); load t = got{i}; }} "
                f"if (t != 0) {{ put(next{j}, {j}, me{i}); flush({j}); w = 0; while (w == 0) load w = go{i}; }} "
                f"cs: skip; got{i} = cas(tail, 3, me{i}, zero{i}); flush(3); load t = got{i}; "
                f"if (t != {i}) {{ x = 0; {wait.format(i=i)} if (x != 0) {{ {go.format(i=i, j=j)} }} }}")
        # The tail holds 0, or who came last: 2 and 3 stand for them, so that 1 is nobody's.
        body = body.replace(f"if (t != {i})", f"if (t != {i + 1})")
        return process(i, f"me{i} = {i + 1}, zero{i} = 0, exp{i} = 0, got{i} = 0, next{i} = 0, go{i} = 0, g{i} = 0, "
                       f"one{i} = 1", "e, t, w, x", body)
    return pair(make, "tail = 0", "ends")


def peterson(count, ask, flush: str) -> str:
    def make(i, j):
        body = (f"try: store flag{i} = 1; put(turn, 3, other{i}); {flush} f = 1; t = {j}; "
                f"while (f == 1 && t == {j}) {{ F{i} = get(flag{j}, {j}); flush({j}); load f = F{i}; "
                f"T{i} = get(turn, 3); flush(3); load t = T{i}; }} cs: skip; store flag{i} = 0;")
        return process(i, f"flag{i} = 0, other{i} = {j}, F{i} = 0, T{i} = 0", "f, t", rounds(body, count))
    return pair(make, "turn = 1", ask)


def dekker(count, ask, flush: str) -> str:
    def make(i, j):
        body = (f"try: store flag{i} = 1; F{i} = get(flag{j}, {j}); flush({j}); load f = F{i}; "
                f"while (f == 1) {{ T{i} = get(turn, 3); flush(3); load t = T{i}; "
                f"if (t != {i}) {{ store flag{i} = 0; while (t != {i}) {{ T{i} = get(turn, 3); flush(3); "
                f"load t = T{i}; }} store flag{i} = 1; }} "
                f"F{i} = get(flag{j}, {j}); flush({j}); load f = F{i}; }} "
                f"cs: skip; put(turn, 3, other{i}); {flush} store flag{i} = 0;")
        return process(i, f"flag{i} = 0, other{i} = {j}, F{i} = 0, T{i} = 0", "f, t", rounds(body, count))
    return pair(make, "turn = 1", ask)


def bakery() -> str:
    def make(i, j):
        before = "<" if i > j else "<="
        body = (f"store choosing{i} = 1; N{i} = get(number{j}, {j}); flush({j}); load m = N{i}; m = m + 1; "
                f"store number{i} = m; store choosing{i} = 0; c = 1; "
                f"while (c == 1) {{ C{i} = get(choosing{j}, {j}); flush({j}); load c = C{i}; }} "
                f"k = 1; h = 0; while (k != 0 && !(m {before.replace('<', '<')} h)) {{ N{i} = get(number{j}, {j}); "
                f"flush({j}); load h = N{i}; k = h; }} cs: skip; store number{i} = 0;")
        return process(i, f"number{i} = 0, choosing{i} = 0, N{i} = 0, C{i} = 0", "m, c, k, h", body)
    return pair(make, "", "ends")


def hyman(count, ask) -> str:
    def make(i, j):
        body = (f"try: store flag{i} = 1; T{i} = get(turn, 3); flush(3); load t = T{i}; "
                f"while (t != {i}) {{ f = 1; while (f == 1) {{ F{i} = get(flag{j}, {j}); flush({j}); load f = F{i}; }} "
                f"put(turn, 3, me{i}); flush(3); T{i} = get(turn, 3); flush(3); load t = T{i}; }} "
                f"cs: skip; store flag{i} = 0;")
        return process(i, f"flag{i} = 0, me{i} = {i}, F{i} = 0, T{i} = 0", "f, t", rounds(body, count))
    return pair(make, "turn = 1", ask)


def flags(flush: str) -> str:
    def make(i, j):
        f = flush.format(j=j)
        return process(i, f"F{i} = 0, one{i} = 1, zero{i} = 0", "f",
                       f"put(F{j}, {j}, one{i}); {f} put(F{j}, {j}, zero{i}); {f} f = 1; while (f == 1) load f = F{i};")
    return pair(make, "", "ends")


def barrier(last: str) -> str:
    def make(i, _):
        sense = f"if (n == 0) put(sense, 3, one{i}); else put(sense, 3, zero{i});"
        body = (f"got{i} = rga(count, 3, one{i}); flush(3); load c = got{i}; "
                f"if (c == 1) {{ {last.format(i=i, sense=sense)} }} else {{ s = n; while (s == n) "
                f"{{ seen{i} = get(sense, 3); flush(3); load s = seen{i}; }} }}")
        return process(i, f"one{i} = 1, zero{i} = 0, got{i} = 0, seen{i} = 0", "c, s", rounds(body, 2))
    return pair(make, "count = 0, sense = 0", "ends")


def message(after: str) -> str:
    return (process(1, "box = 0", "b", "wait: while (b == 0) load b = box;")
            + process(2, "m = 1", "", f"put(box, 1, m); {after}")
            + "assert leads_to (in(1, wait), !in(1, wait));\n")


def two_puts(awaited: int, between: str = "") -> str:
    return (process(1, "box = 0", "b", f"while (b != {awaited}) load b = box;")
            + process(2, "one = 1, two = 2", "", f"put(box, 1, one); {between} put(box, 1, two); ") + "assert ends;\n")


def sleeper(again: bool, flush: str) -> str:
    look = "load r = ready; " if again else ""
    return (process(1, "ready = 0, asleep = 0, wakeup = 0", "r, w",
                    f"load r = ready; if (r == 0) {{ store asleep = 1; {look}if (r == 0) {{ "
                    f"wait: while (w == 0) load w = wakeup; }} }}")
            + process(2, "one = 1, A = 0", "a", f"put(ready, 1, one); {flush} A = get(asleep, 1); flush(1); load a = A; "
                      f"if (a == 1) {{ put(wakeup, 1, one); {'' if flush else 'flush(1);'} }}")
            + "assert leads_to (in(1, wait), !in(1, wait));\n")


def producer(ask, item: str = "", rest: str = "") -> str:
    return (process(1, "ack = 0, v = 0, k = 0", "a", rounds(
                f"store v = n + 1; put(item, 2, v); {item} store k = n + 1; put(full, 2, k); {rest} "
                f"while (a != n + 1) load a = ack;", 2))
            + process(2, "item = 0, full = 0, done = 0", "f, x", rounds(
                f"while (f != n + 1) load f = full; load x = item; store done = n + 1; put(ack, 1, done); "
                f"{rest.replace('2', '1')}", 2))
            + f"assert {ask};\n")


def server(then: str) -> str:
    return (process(1, "ans = 0, req = 0", "a", rounds(
                "store req = n + 1; put(box, 2, req); flush(2); while (a != n + 1) load a = ans;", 2))
            + process(2, "box = 0, out = 0", "b", rounds(f"b = 0; while (b == 0) load b = box; store out = b; {then}",
                                                         None))
            + "assert ends (1);\n")


def count(ask) -> str:
    def make(i, _):
        return process(i, f"seen{i} = 0, exp{i} = 0, new{i} = 0, got{i} = 0", "c, g", rounds(
            f"seen{i} = get(total, 3); flush(3); load c = seen{i}; store exp{i} = c; "
            f"if (c == 2) store new{i} = 0; else store new{i} = c + 1; "
            f"got{i} = cas(total, 3, exp{i}, new{i}); flush(3); load g = got{i}; if (g == c) done: skip; ", None))
    return pair(make, "total = 0", ask)


LEADS = "leads_to (at(1, try), at(1, cs))"
PROGRESS = "progress (at(1, cs), at(2, cs))"
UNFLUSHED = "put(lock, 3, free{i});"
OVERWRITTEN = "store rel{i} = 0; put(lock, 3, rel{i}); store rel{i} = 7;"
RELEASE = "store rel{i} = m + 1; put(serving, 3, rel{i});"
WAIT = "while (x == 0) load x = next{i};"
GO = "put(go{j}, {j}, one{i}); flush({j});"
ANSWER = "put(ans, 1, out); flush(1);"

CLASSICS = {
    # Whoever has the lock lets it go, and the others' cas then finds it free.
    "cas_lock_one_round": Classic(spin_lock(1, "ends"), "++++"),
    "cas_lock_two_rounds": Classic(spin_lock(2, "ends"), "++++"),
    "cas_lock_release_unflushed": Classic(spin_lock(2, "ends", UNFLUSHED), "++++"),
    # The other one may be faster each time.
    "cas_lock_starves": Classic(spin_lock(None, LEADS), "----", "livelock"),
    "cas_lock_progress": Classic(spin_lock(None, PROGRESS), "++++"),
    "cas_lock_progress_nic": Classic(spin_lock(None, PROGRESS + " under nic"), "----"),
    # The put reads 7, which is not free.
    "cas_lock_source_overwritten": Classic(spin_lock(1, "ends", OVERWRITTEN), "---+", "deadlock"),
    "cas_lock_kept": Classic(spin_lock(1, "ends", "skip;"), "----", "deadlock"),
    "ticket": Classic(ticket(RELEASE + " flush(3);"), "++++"),
    "ticket_release_unflushed": Classic(ticket(RELEASE), "++++"),
    "ticket_source_overwritten": Classic(ticket(RELEASE + " store rel{i} = 0;"), "---+", "deadlock"),
    "ticket_without_next_number": Classic(ticket("put(serving, 3, rel{i}); flush(3);"), "----", "deadlock"),
    "mcs": Classic(mcs(WAIT, GO), "++++"),
    "mcs_looks_once": Classic(mcs("load x = next{i};", GO), "----", "deadlock"),
    "mcs_source_overwritten": Classic(mcs(WAIT, "store g{i} = 1; put(go{j}, {j}, g{i}); store g{i} = 0;"), "---+",
                                      "deadlock"),
    # Without the flush they exclude nobody, but nobody waits for ever: flags are down in the end, turn is somebody's.
    "dekker_ends": Classic(dekker(1, "ends", "flush(3);"), "++++"),
    "dekker_ends_unflushed": Classic(dekker(1, "ends", ""), "++++"),
    "dekker_endless": Classic(dekker(None, LEADS, "flush(3);"), "++++"),
    "dekker_endless_unflushed": Classic(dekker(None, LEADS, ""), "++++"),
    "peterson_ends": Classic(peterson(1, "ends", "flush(3);"), "++++"),
    "peterson_ends_unflushed": Classic(peterson(1, "ends", ""), "++++"),
    "peterson_endless": Classic(peterson(None, LEADS, "flush(3);"), "++++"),
    "peterson_endless_unflushed": Classic(peterson(None, LEADS, ""), "++++"),
    "bakery_ends": Classic(bakery(), "++++"),
    "hyman_ends": Classic(hyman(1, "ends"), "++++"),
    "hyman_endless": Classic(hyman(None, LEADS), "----", "livelock"),
    # 0 comes before 1, and 1 stays.
    "flags_flushed": Classic(flags("flush({j});"), "++++", needed=(2, 4)),
    "flags_unflushed": Classic(flags(""), "-+++", "deadlock"),
    "barrier_flushed": Classic(barrier("put(count, 3, zero{i}); flush(3); {sense} flush(3);"), "++++"),
    # The next round's rga comes before the reset of this one's count: puts and atomics keep no order under verbs.
    "barrier_unflushed": Classic(barrier("put(count, 3, zero{i}); {sense}"), "--++"),
    "barrier_sense_first": Classic(barrier("{sense} flush(3); put(count, 3, zero{i}); flush(3);"),
                                   "----"),
    "message": Classic(message(""), "++++"),
    "message_source_overwritten": Classic(message("store m = 0;"), "---+"),
    "two_puts_second": Classic(two_puts(2), "-+++", "deadlock"),
    "two_puts_flushed": Classic(two_puts(2, "flush(1);"), "++++", needed=(1, 1)),
    "two_puts_first": Classic(two_puts(1), "----"),
    "polled_by_get": Classic(process(1, "F = 0", "f", "while (f == 0) { F = get(flag, 2); load f = F; }")
                             + process(2, "flag = 0", "", "store flag = 1;") + "assert ends;\n", "++++"),
    # `asleep` is got before it is set, and `ready` looked at before it is.
    "sleeper": Classic(sleeper(False, "flush(1);"), "----"),
    "sleeper_looks_again": Classic(sleeper(True, "flush(1);"), "++++", needed=(2, 2)),
    "sleeper_unflushed": Classic(sleeper(True, ""), "--++"),
    "producer_ends": Classic(producer("ends"), "++++"),
    "producer_last_item": Classic(producer("eventually (x == 2)"), "-+++", "stopped"),
    "producer_item_flushed": Classic(producer("eventually (x == 2)", "flush(2);"), "++++"),
    "producer_all_flushed": Classic(producer("eventually (x == 2)", "flush(2);", "flush(2);"), "++++", needed=(1, 3)),
    # The second request is wiped away.
    "server_clears_last": Classic(server(ANSWER + " store box = 0;"), "----"),
    "server_clears_first": Classic(server("store box = 0; " + ANSWER), "++++"),
    # A cas fails because the other one's succeeded.
    "count_lock_free": Classic(count("progress (at(1, done), at(2, done)) under nic"), "++++"),
    "count_not_wait_free": Classic(count("progress (at(1, done)) under nic"), "----", "livelock"),
}
