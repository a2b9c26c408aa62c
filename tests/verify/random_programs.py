"""Small random `.rma` programs, the same for the same seed: `program(seed)` or `python3 random_programs.py SEED...`.

Each is of one of a few classes (the seed decides), small enough for exhaustive search: straight lines as in litmus
tests, branches, loops, atomics, three processes, odd but legal syntax, and longer mixtures. Loops mostly flush what they start, so that
few programs have endlessly many operations pending. The property mostly
forbids values that a few variables end with under one network and not under a stronger one, if there are such values: so
programs are safe, or unsafe, or safe under the stronger networks only.
"""

import random

import reference

CLASSES = ("litmus", "branch", "loop", "atomics", "wide", "odd", "long")


class Writer:
    def __init__(self, seed):
        self.rng = random.Random(f"rma {seed}")
        self.kind = CLASSES[seed % len(CLASSES)]
        count = 3 if self.kind == "wide" or self.rng.random() < 0.15 else 2
        numbers = self.rng.sample(range(-3, 40), count) if self.kind == "odd" else range(1, count + 1)
        self.pids = list(numbers)
        self.own = {}      # pid: its shared variables
        self.locals = {}   # pid: its locals
        names = iter("XYZWVUTSRQPO")
        for pid in self.pids:
            most = 2 if count == 3 else 3
            self.own[pid] = [next(names) for _ in range(self.rng.randint(1, most))]
            self.locals[pid] = self.local_names(pid)
        self.initial = {v: self.rng.choice([0, 0, 0, 1, 2]) for pid in self.pids for v in self.own[pid]}
        self.labels = 0

    def local_names(self, pid):
        count = self.rng.randint(1, 2)
        if self.kind == "odd" and self.rng.random() < 0.5:
            return ["u", "v"][:count]  # several processes may use the same name
        return [f"{letter}{self.pids.index(pid)}" for letter in "ab"[:count]]

    def pick(self, **weights):
        return self.rng.choices(list(weights), list(weights.values()))[0]

    # Expressions over the locals of a process.
    def atom(self, pid):
        if self.rng.random() < 0.6:
            return self.rng.choice(self.locals[pid])
        return str(self.rng.choice([0, 1, 1, 2, 3]))

    def value(self, pid):
        shape = self.pick(number=5, atom=3, sum=1, product=0.3)
        if shape == "number":
            return str(self.rng.choice([0, 1, 1, 2, 2, 3]))
        if shape == "atom":
            return self.atom(pid)
        if shape == "product":
            return f"{self.atom(pid)} * {self.rng.choice(['2', '-1', self.atom(pid)])}"
        return f"{self.atom(pid)} {self.rng.choice('+-')} {self.atom(pid)}"

    def condition(self, pid):
        local = self.rng.choice(self.locals[pid])
        simple = f"{local} {self.rng.choice(['==', '!=', '<', '<=', '>', '>='])} {self.rng.choice([0, 0, 1, 1, 2])}"
        shape = self.pick(simple=6, both=1, negated=0.5, bare=0.5)
        if shape == "both":
            return f"{simple} {self.rng.choice(['&&', '||'])} {self.atom(pid)} != {self.atom(pid)}"
        if shape == "negated":
            return f"!({simple})"
        return f"{local} == {self.atom(pid)}" if shape == "bare" else simple

    # Statements.
    def target(self, pid):
        """A process and a variable there: seldom the process itself."""
        others = [p for p in self.pids if p != pid]
        loopback = self.rng.random() < {"odd": 0.3, "wide": 0.05}.get(self.kind, 0.1)
        there = pid if loopback else self.rng.choice(others)
        return there, self.rng.choice(self.own[there])

    def remote(self, pid):
        there, variable = self.target(pid)
        here = self.own[pid]
        atomics = 3 if self.kind == "atomics" else 0.5
        kind = self.pick(put=3, get=3, rga=atomics, cas=atomics)
        if kind == "put":
            text = f"put({variable}, {there}, {self.rng.choice(here)});"
        elif kind == "get":
            text = f"{self.rng.choice(here)} = get({variable}, {there});"
        else:
            operands = ", ".join(self.rng.choice(here) for _ in range(1 if kind == "rga" else 2))
            text = f"{self.rng.choice(here)} = {kind}({variable}, {there}, {operands});"
        return [text] + ([f"flush({there});"] if self.rng.random() < 0.4 else [])

    def statement(self, pid, depth):
        branching = {"litmus": 0, "branch": 3, "loop": 1, "atomics": 0.5, "wide": 0.3, "odd": 2,
                     "long": 1}[self.kind]
        looping = {"loop": 2.5, "odd": 0.7, "atomics": 0.4, "long": 0.7}.get(self.kind, 0)
        deep = 0 if depth > 1 else 1
        kind = self.pick(remote=7 if self.kind in ("litmus", "wide") else 5, load=3, store=3, assign=1, choose=0.4 if branching else 0.1, assume=0.3,
                         check=0.3 if branching else 0, flush=0.3, test=branching * deep, loop=looping * deep,
                         jump=0.7 if self.kind in ("odd", "long") else 0)
        return getattr(self, f"make_{kind}")(pid, depth)

    def make_remote(self, pid, depth):
        return self.remote(pid)

    def make_load(self, pid, depth):
        return [f"load {self.rng.choice(self.locals[pid])} = {self.rng.choice(self.own[pid])};"]

    def make_store(self, pid, depth):
        return [f"store {self.rng.choice(self.own[pid])} = {self.value(pid)};"]

    def make_assign(self, pid, depth):
        return [f"{self.rng.choice(self.locals[pid])} = {self.value(pid)};"]

    def make_choose(self, pid, depth):
        values = ", ".join(str(v) for v in self.rng.sample([0, 1, 2, -1], 2))
        return [f"{self.rng.choice(self.locals[pid])} = choose({values});"]

    def make_assume(self, pid, depth):
        return [f"assume ({self.condition(pid)});"]

    def make_check(self, pid, depth):
        return [f"assert ({self.condition(pid)});"] if self.rng.random() < 0.3 else ["skip;"]

    def make_flush(self, pid, depth):
        return [f"flush({self.rng.choice(self.pids)});"]

    def body(self, pid, depth, most=2):
        return sum((self.statement(pid, depth + 1) for _ in range(self.rng.randint(1, most))), [])

    @staticmethod
    def indented(lines):
        return ["  " + line for line in lines]

    def make_test(self, pid, depth):
        condition = "*" if self.rng.random() < 0.25 else self.condition(pid)
        lines = [f"if ({condition}) {{"] + self.indented(self.body(pid, depth))
        if self.rng.random() < 0.5:
            lines += ["} else {"] + self.indented(self.body(pid, depth))
        return lines + ["}"]

    def make_jump(self, pid, depth):
        """Ahead, over statements or into a block."""
        self.labels += 1
        label = f"on{self.labels}"
        ahead = self.body(pid, depth)
        inside = [f"if ({self.condition(pid)}) {{"] + self.indented([f"{label}: skip;"]) + ["}"]
        there = inside if self.rng.random() < 0.4 else [f"{label}: skip;"]
        return [f"if ({self.condition(pid)}) goto {label};"] + ahead + there

    def make_loop(self, pid, depth):
        shape = self.pick(poll=3, spin=1, count=2, either=1, back=1)
        local, here = self.rng.choice(self.locals[pid]), self.rng.choice(self.own[pid])
        there, variable = self.target(pid)
        wait = [f"flush({there});"] if self.rng.random() < 0.8 else []
        if shape == "poll":
            head = f"while ({local} == {self.rng.choice([0, 0, 1])}) {{"
            return [head] + self.indented([f"{here} = get({variable}, {there});"] + wait + [f"load {local} = {here};"]) + ["}"]
        if shape == "spin":
            return [f"while ({local} != {self.rng.choice([1, 2])}) load {local} = {here};"]
        if shape == "count":
            step = [f"{local} = {local} + 1;"]
            return [f"while ({local} < {self.rng.choice([1, 2])}) {{"] + self.indented(self.body(pid, depth, 1) + step) + ["}"]
        inner = self.remote(pid)[:1]
        flushes = [f"flush({p});" for p in self.pids if f", {p}" in inner[0]] if self.rng.random() < 0.8 else []
        if shape == "either":
            leave = [f"if ({self.condition(pid)}) break;"] if self.rng.random() < 0.5 else []
            return ["while (*) {"] + self.indented(inner + flushes + leave) + ["}"]
        self.labels += 1
        label = f"again{self.labels}"
        return [f"{label}: {inner[0]}"] + flushes + [f"load {local} = {here};", f"if ({self.condition(pid)}) goto {label};"]

    # Programs.
    def process(self, pid):
        most = {"wide": 3, "long": 7}.get(self.kind, 4)
        least = 4 if self.kind == "long" else 2
        lines = sum((self.statement(pid, 0) for _ in range(self.rng.randint(least, most))), [])
        if self.kind == "odd":
            lines = self.oddities(lines)
        marked = [i for i, line in enumerate(lines) if line.endswith(";") and ":" not in line and line[0] != " "]
        self.marks[pid] = []
        for i in self.rng.sample(marked, min(len(marked), self.rng.randint(0, 2))):
            self.labels += 1
            self.marks[pid].append(f"L{self.labels}")
            lines[i] = f"L{self.labels}: {lines[i]}"
        declared = ", ".join(f"{v} = {self.initial[v]}" for v in self.own[pid])
        locals_ = ", ".join(u + (f" = {self.rng.choice([1, 2, -1])}" if self.rng.random() < 0.1 else "")
                            for u in self.locals[pid])
        return [f"process {pid} {{"] + self.indented([f"shared {declared};", f"local {locals_};"] + lines) + ["}"]

    def oddities(self, lines):
        odd = []
        for line in lines:
            choice = self.rng.random()
            simple = line.endswith(";") and line[0] != " "
            if simple and choice < 0.08:
                line = "{ " + line + " }"
            elif simple and choice < 0.16:
                line = line + " // flush(1); not a statement"
            elif simple and choice < 0.2:
                line = "/* a; b */ " + line.replace(", ", " ,\n  ")
            elif simple and choice < 0.24:
                line = line + " # skip;"
            odd.append(line)
        return odd

    def text(self):
        self.marks = {}
        lines = sum((self.process(pid) for pid in self.pids), [])
        program = "\n".join(lines) + "\n"
        return program + "\n".join(self.properties(program)) + "\n"

    # Properties.
    def values(self, program):
        """For each network, the values of all variables: in all states, and where all processes have ended. Of large
        programs only the first few thousand states are looked at."""
        parsed = reference.parse(program + "assert always (1);")
        names = self.observable(parsed)
        always, final = {}, {}
        for network in reference.NETWORKS:
            always[network], final[network] = {}, {}
            for state in reference.reachable(parsed, network, pending=2, max_states=1500):
                values = tuple(read(state) for read in names.values())
                always[network][values] = dict(zip(names, values))
                if all(pc == -1 for pc in state.pcs):
                    final[network][values] = always[network][values]
        return [{network: list(found.values()) for network, found in kind.items()} for kind in (always, final)]

    def observable(self, parsed):
        names = {v: (lambda s, i=index: s.memory[i]) for v, (index, _) in parsed.shared.items()}
        everyone = [u for p in parsed.processes for u in p.locals]
        for process in parsed.processes:
            for local, index in process.locals.items():
                name = local if everyone.count(local) == 1 else f"{local}@{process.pid}"
                names[name] = lambda s, i=index: s.locals[i]
        return names

    def outcome(self, seen, count):
        """Values of a few variables: that one network shows and a stronger one does not, if there are such values; or
        that no network shows; or just any."""
        networks = list(seen)
        weaker = range(len(networks) - 1)
        pairs = [(shows, hidden) for shows in weaker for hidden in range(shows + 1, len(networks))
                 if any(values not in seen[networks[hidden]] for values in seen[networks[shows]])]
        everything = sum(seen.values(), [])
        aim = self.pick(between=6, nowhere=2, anywhere=1) if pairs else self.pick(nowhere=2, anywhere=1)
        for attempt in range(40):
            shown, hidden = everything, []
            if aim == "between":
                shown, hidden = (seen[networks[i]] for i in self.rng.choice(pairs))
            if aim == "nowhere":
                hidden = everything
            names = self.rng.sample(sorted(shown[0]), min(self.rng.randint(1, count), len(shown[0])))
            one, other = self.rng.choice(shown), self.rng.choice(shown)
            values = {name: (one if aim != "nowhere" or self.rng.random() < 0.5 else other)[name] for name in names}
            if aim == "nowhere" and attempt > 20:
                values[names[0]] += self.rng.choice([-1, 1])
            if not any(all(ended[name] == values[name] for name in names) for ended in hidden):
                break
        return " && ".join(f"{name} == {value}" for name, value in values.items())

    def properties(self, program):
        always, final = self.values(program)
        kind = self.pick(final=3 if all(final.values()) else 0, always=1,
                         at=1 if sum(map(bool, self.marks.values())) > 1 else 0)
        if kind == "at":
            pids = self.rng.sample([p for p, marks in self.marks.items() if marks], 2)
            places = " && ".join(f"at({p}, {self.rng.choice(self.marks[p])})" for p in pids)
            extra = f" && {self.outcome(always, 2)}" if self.rng.random() < 0.8 else ""
            return [f"assert always (!({places}{extra}));"]
        if kind == "always":
            shape = self.pick(outcome=3, bound=1, order=1)
            if shape == "bound":
                network = self.rng.choice(reference.NETWORKS)
                name = self.rng.choice(sorted(always[network][0]))
                return [f"assert always ({name} <= {max(values[name] for values in always[network])});"]
            if shape == "order":
                one, other = self.rng.choices(sorted(always["sc"][0]), k=2)
                return [f"assert always ({one} <= {other} + {self.rng.randint(0, 3)} || {one} > 2);"]
            return [f"assert always (!({self.outcome(always, 4)}));"]
        properties = [f"assert final (!({self.outcome(final, 4)}));"]
        if self.rng.random() < 0.15:
            properties.append(f"assert final (!({self.outcome(final, 4)}));")
        return properties


def program(seed):
    return Writer(seed).text()


if __name__ == "__main__":
    import sys
    for number in sys.argv[1:]:
        print(program(int(number)), end="")
