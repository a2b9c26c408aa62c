"""Liveness by the naive interpreter: what the verifier's answers about it are held against (docs/verify.md, "Liveness").

States and steps are those of reference.py, in full. A run is a walk through the graph of all states; one that counts and
breaks a property either ends, or goes round in a strongly connected component in which every process steps or cannot
step somewhere, and of every operation that is pending everywhere one goes on. Lassos are replayed operation by operation.
"""

import dataclasses

import reference

FAIRNESS = ("weak", "nic", "none")


@dataclasses.dataclass
class Liveness:
    kind: str
    processes: list      # numbers of places in the file
    labels: list         # (process, node)
    when: object         # function of pcs, memory, locals
    then: object
    under: str | None


class Parser(reference.Parser):
    def __init__(self, text):
        super().__init__(text)
        self.inside, self.liveness = {}, []  # (process, label): nodes

    def statement(self):
        token, process = self.tokens[self.at], self.processes[-1]
        named = token.kind == "name" and token.text not in reference.KEYWORDS and self.tokens[self.at + 1].text == ":"
        first = len(process.nodes)
        link = super().statement()
        if named:
            self.inside[len(self.processes) - 1, token.text] = set(range(first, len(process.nodes)))
        return link

    def property_name(self, name):
        if name.text != "in" or not self.peek("("):
            return super().property_name(name)
        self.need("(")
        pid = self.pid()
        self.need(",")
        label, box = self.need_kind("name"), reference.Box()
        self.need(")")

        def resolve():
            box.value = (pid.value, self.inside[pid.value, label.text])
        self.later.append(resolve)
        return f"int(pcs[{box.key()}[0]] in {box.key()}[1])", {box.key(): box}

    def program(self):
        while self.take("process"):
            self.process()
        properties = []
        while self.take("assert"):
            kind = self.tokens[self.at].text
            self.at += 1
            if kind in ("final", "always"):
                self.need("(")
                properties.append((kind, self.expression(self.property_name)))
                self.need(")")
            else:
                self.liveness.append(self.live(kind))
            self.need(";")
        for check in self.later:
            check()
        program = reference.Program(self.processes, self.shared, tuple(self.memory), tuple(self.locals),
                                    [(kind, reference.compiled(e)) for kind, e in properties], self.flushes)
        program.liveness = [make() for make in self.liveness]
        return program

    def live(self, kind):
        pids, labels, expressions = [], [], []
        if kind != "ends" or self.peek("("):
            self.need("(")
            while True:
                if kind == "ends":
                    pids.append(self.pid())
                elif kind == "progress":
                    self.need("at")
                    self.need("(")
                    pids.append(self.pid())
                    self.need(",")
                    labels.append(self.need_kind("name").text)
                    self.need(")")
                else:
                    expressions.append(reference.compiled(self.expression(self.property_name)))
                if not self.take(","):
                    break
            self.need(")")
        under = None
        if self.take("under"):
            under = self.need(*FAIRNESS).text

        def make():
            numbers = [p.value for p in pids] or list(range(len(self.processes)))
            places = [(p.value, self.processes[p.value].labels[label]) for p, label in zip(pids, labels)]
            return Liveness(kind, numbers, places, expressions[0] if kind == "leads_to" else None,
                            expressions[-1] if expressions else None, under)
        return make


def parse(text, without=()):
    program = Parser(text).program()
    for number in without:
        process, node = program.flushes[number]
        program.processes[process].nodes[node].op = "skip"
    return program


class Machine(reference.Machine):
    """Says of a NIC's step which operation went on."""

    def moves(self, state):
        for number, process in enumerate(self.program.processes):
            if state.pcs[number] != -1:
                for _, then in self.cpu(state, number, process.nodes[state.pcs[number]]):
                    yield ("cpu", number), then
            ops, nodes, seen = state.pending[number], process.nodes, set()
            for i, op in enumerate(ops):
                node, group = nodes[op[0]], self.group(number, op)
                part = reference.PARTS[node.op][op[1]]
                if part == "target" and group is not None and any(self.group(number, o) == group for o in ops[:i]):
                    continue
                if group is None and op in seen:
                    continue
                seen.add(op)
                memory, moved, _ = self.move(state.memory, node, op)
                rest = ops[:i] + ((moved,) if moved else ()) + ops[i + 1:]
                yield (("nic", number, op),
                       reference.State(state.pcs, memory, state.locals,
                                       reference.put_in(state.pending, number, self.ordered(number, rest))))


class Graph:
    def __init__(self, program, network, pending=2, max_states=20_000):
        machine = Machine(program, network)
        self.program, self.states, self.edges, self.enabled, self.cut = program, [machine.initial()], [], [], False
        index = {self.states[0]: 0}
        for state in self.states:
            edges, enabled = [], set()
            for actor, then in machine.moves(state):
                if actor[0] == "cpu":
                    enabled.add(actor[1])
                if max(map(len, then.pending)) > pending:
                    self.cut = True
                    continue
                if then not in index:
                    if len(index) >= max_states:
                        raise OverflowError
                    index[then] = len(self.states)
                    self.states.append(then)
                edges.append((actor, index[then]))
            self.edges.append(edges)
            self.enabled.append(enabled)

    def classes(self, s):
        return {("nic", number, op) for number, ops in enumerate(self.states[s].pending) for op in ops}


def components(among, edges):
    """Strongly connected components with an edge inside; `edges(s)` are places."""
    number, low, on_stack, stack, found, count = {}, {}, set(), [], [], 0
    for root in among:
        if root in number:
            continue
        work = [(root, iter(edges(root)))]
        number[root] = low[root] = count
        count += 1
        stack.append(root)
        on_stack.add(root)
        while work:
            s, rest = work[-1]
            for to in rest:
                if to not in number:
                    number[to] = low[to] = count
                    count += 1
                    stack.append(to)
                    on_stack.add(to)
                    work.append((to, iter(edges(to))))
                    break
                if to in on_stack:
                    low[s] = min(low[s], number[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[s])
                if low[s] == number[s]:
                    component = set()
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.add(member)
                        if member == s:
                            break
                    if len(component) > 1 or s in edges(s):
                        found.append(component)
    return found


def check(graph, live, fairness):
    """"live", "not live", or "unknown" where a bound on pending operations has cut runs off."""
    program, states = graph.program, graph.states

    def ended(s):
        return all(states[s].pcs[p] == -1 for p in live.processes)

    def labelled(s, actor):
        return actor[0] == "cpu" and (actor[1], states[s].pcs[actor[1]]) in live.labels

    if live.kind in ("ends", "progress"):
        region = {s for s in range(len(states)) if not ended(s)}
    else:
        hopeful = [s for s in range(len(states)) if not live.then(*states[s][:3])]
        if live.kind == "eventually":
            work = [0] if 0 in hopeful[:1] else []
        else:
            work = [s for s in hopeful if live.when(*states[s][:3])]
        hopeful, region = set(hopeful), set(work)
        while work:
            for _, to in graph.edges[work.pop()]:
                if to in hopeful and to not in region:
                    region.add(to)
                    work.append(to)

    def inside(s):
        return [(actor, to) for actor, to in graph.edges[s] if to in region and not labelled(s, actor)]

    def fair(component):
        steps = {actor for s in component for actor, to in inside(s) if to in component}
        if fairness == "weak":
            for p in range(len(program.processes)):
                if ("cpu", p) not in steps and all(p in graph.enabled[s] for s in component):
                    return False
        if fairness == "nic":
            named = range(len(program.processes)) if live.kind in ("eventually", "leads_to") else live.processes
            if not any(("cpu", p) in steps for p in named):
                return False
        everywhere = set.intersection(*(graph.classes(s) for s in component))
        return fairness == "none" or everywhere <= steps

    if any(not graph.edges[s] and not graph.enabled[s] for s in region):
        return "not live"
    if any(fair(c) for c in components(sorted(region), lambda s: [to for _, to in inside(s)])):
        return "not live"
    return "unknown" if graph.cut else "live"


# --- Lassos -----------------------------------------------------------------------------------------------------------


class Numbered:
    """A state with numbered operations, oldest first: (number, process, operation)."""

    def __init__(self, program, network):
        self.program, self.network = program, network
        self.machine = Machine(program, network)
        start = self.machine.initial()
        self.pcs, self.memory, self.locals, self.pending, self.issued = start.pcs, start.memory, start.locals, [], 0

    def plain(self, number=None):
        """The state for reference.py's steps of a process, which look at its own operations only."""
        ops = tuple(tuple(op for _, p, op in self.pending if p == q) for q in range(len(self.pcs)))
        return reference.State(self.pcs, self.memory, self.locals, ops)

    def enabled(self, p):
        if self.pcs[p] == -1:
            return False
        return any(True for _ in self.machine.cpu(self.plain(), p, self.program.processes[p].nodes[self.pcs[p]]))

    def can_step(self):
        return bool(self.pending) or any(self.enabled(p) for p in range(len(self.pcs)))

    def take(self, entry):
        if entry["actor"] == "nic":
            return self.nic(entry["operation"])
        p = [q.pid for q in self.program.processes].index(entry["process"])
        assert self.pcs[p] != -1, "the process has ended"
        node = self.program.processes[p].nodes[self.pcs[p]]
        assert node.place[0] == entry["line"], f"process {entry['process']} stands in line {node.place[0]}"
        results = list(self.machine.cpu(self.plain(), p, node))
        assert results, "the step cannot be taken"
        if node.op == "either":
            results = results[:1] if entry["action"].endswith("goes in") else results[1:]
        if node.op == "choose":
            results = [results[entry["choice"]]]
        then = results[0][1]
        if node.op in reference.REMOTE:
            assert entry["operation"] == self.issued
            if self.network != "sc":
                self.pending.append((self.issued, p, (node.index, 0, 0, 0)))
            self.issued += 1
        self.pcs, self.memory, self.locals = then.pcs, then.memory, then.locals

    def nic(self, number):
        place = [n for n, _, _ in self.pending].index(number)
        _, p, op = self.pending[place]
        node = self.program.processes[p].nodes[op[0]]
        group = self.machine.group(p, op)
        if reference.PARTS[node.op][op[1]] == "target" and group is not None:
            older = [o for _, q, o in self.pending[:place] if q == p and self.machine.group(p, o) == group]
            assert not older, "an older operation of its group has not touched the target"
        self.memory, moved, _ = self.machine.move(self.memory, node, op)
        self.pending[place:place + 1] = [(number, p, moved)] if moved else []

    def operations(self):
        return {number: (p, op) for number, p, op in self.pending}


def more_rounds(now, loop, again, begin, note, rounds=4):
    """Takes a loop that comes back but for numbers that grow some more times: the operations are those that take the
    places of the first round's."""
    issued = sum(1 for entry in loop if entry["actor"] == "cpu" and "operation" in entry)
    first = now.issued - issued  # the number of the first one that the loop issues
    places = {start: end for end, start in again.items()}
    pcs, numbers = now.pcs, dict(places)
    for turn in range(1, rounds):
        shift = turn * issued
        for entry in loop:
            if "operation" in entry:
                number = entry["operation"]
                entry = {**entry, "operation": number + shift if number >= first else numbers[number]}
            now.take(entry)
            note()
        assert now.pcs == pcs
        # Who takes a place in the round to come: one of this round, or one that took that place before.
        numbers = {start: end + shift if end >= first else numbers[end] for start, end in places.items()}


def assert_lasso(text, network, answer, live_index, without=()):
    """Every claim of a lasso, by itself."""
    program = parse(text, without)
    live, fairness, trace = program.liveness[live_index], answer["fairness"], answer["trace"]
    now, seen = Numbered(program, network), []

    def note():
        seen.append((live.when and bool(live.when(now.pcs, now.memory, now.locals)),
                     live.then and bool(live.then(now.pcs, now.memory, now.locals))))

    note()
    for entry in trace["stem"]:
        now.take(entry)
        note()
    if not trace["loop"]:
        assert answer["kind"] == "stopped" and not now.can_step()
    first, before = len(seen) - 1, (now.pcs, now.memory, now.locals)
    begin = now.operations()
    order = [n for n, _, _ in now.pending]
    stepping, waiting, labels = set(), set(), []
    for entry in trace["loop"]:
        waiting |= {p for p in range(len(now.pcs)) if not now.enabled(p)}
        if entry["actor"] == "cpu":
            p = [q.pid for q in program.processes].index(entry["process"])
            stepping.add(p)
            labels.append((p, now.pcs[p]))
        now.take(entry)
        note()
    waiting |= {p for p in range(len(now.pcs)) if not now.enabled(p)}
    if trace["loop"]:
        again = {int(end): int(start) for end, start in trace["again"].items()}
        end, pending = now.operations(), list(now.pending)
        assert again.keys() == end.keys() and sorted(again.values()) == sorted(begin)
        if "recurrent" in answer:
            assert now.pcs == before[0] and (now.memory, now.locals) != before[1:]
            more_rounds(now, trace["loop"], again, begin, note)
        else:
            assert (now.pcs, now.memory, now.locals) == before, "the loop does not come back"
            assert all(end[n] == begin[again[n]] for n in end)
        for i, (n, p, op) in enumerate(pending):  # those that are ordered stay so
            for m, q, other in pending[:i]:
                group = now.machine.group(p, op)
                if p == q and group is not None and group == now.machine.group(q, other):
                    assert order.index(again[m]) < order.index(again[n])
        if fairness == "weak":
            assert stepping | waiting == set(range(len(now.pcs))), "a process could always step and does not"
        if fairness != "none":
            for number in begin:
                rounds = 0
                while number in end:
                    number, rounds = again[number], rounds + 1
                    assert rounds <= len(begin), "an operation is never done"
        if fairness == "nic":
            named = range(len(now.pcs)) if live.kind in ("eventually", "leads_to") else live.processes
            assert stepping & set(named), "nobody who is asked for steps"
        assert not set(labels) & set(live.labels)
    if live.kind in ("ends", "progress"):
        assert not all(now.pcs[p] == -1 for p in live.processes)
    elif live.kind == "eventually":
        assert not any(then for _, then in seen)
    else:
        assert not any(then for _, then in seen[first:]) or not trace["loop"]
        last = max([i for i, (_, then) in enumerate(seen) if then], default=-1)
        assert any(when and not then for when, then in seen[last + 1:])
