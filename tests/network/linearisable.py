"""Is a history of a key-value store linearisable? Each key by itself (Herlihy and Wing, 1990, locality), by search.

An operation takes effect once between its beginning and its end. The search puts next any operation that begins before
all that are left have ended (Wing and Gong, 1993), and remembers where it has been (Lowe, 2017).
"""

from typing import NamedTuple


class Operation(NamedTuple):
    kind: str
    key: int
    value: int
    result: int
    begin: int
    end: int


def read(text: str) -> list[Operation]:
    rows = (line.split() for line in text.splitlines() if line)
    return [Operation(kind, *map(int, rest)) for kind, *rest in rows]


def after(op: Operation, held: int) -> int | None:
    """What the key holds after the operation, 0 for none; None: it cannot give that result there."""
    if op.kind == "lookup":
        return held if op.result == held else None
    there = held != 0
    done = {"insert": not there, "update": there, "erase": there}[op.kind]
    if bool(op.result) != done:
        return None
    return held if not done else 0 if op.kind == "erase" else op.value


def linearisable(history: list[Operation]) -> bool:
    return all(one_key([op for op in history if op.key == key]) for key in {op.key for op in history})


def one_key(ops: list[Operation]) -> bool:
    todo, seen = [(frozenset(range(len(ops))), 0)], set()
    while todo:
        left, held = todo.pop()
        if not left:
            return True
        if (left, held) in seen:
            continue
        seen.add((left, held))
        first_end = min(ops[i].end for i in left)
        for i in left:
            if ops[i].begin <= first_end and (now := after(ops[i], held)) is not None:
                todo.append((left - {i}, now))
    return False
