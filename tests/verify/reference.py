"""A naive interpreter of `.rma` programs: what the verifier's answers are held against.

It is written from the language and its semantics alone (docs/verify.md) and shares nothing with the verifier: a small
parser, exact states, breadth-first search. It reduces nothing, so that it can be read beside the rules:

- A step of a process executes one statement or one test of a condition, at once and on memory itself; `goto`, `break`
  and `skip` are steps too. A remote statement only adds a pending operation.
- A step of a NIC moves any pending operation by one part. The parts of an operation happen in this order:
  put: read X, write Y. get: read Y, write X. rga: read Y, add to Z (one step), write the old Z to X.
  cas: read Y, read W, compare and swap Z (one step), write the old Z to X.
- `flush(q)` waits until no operation of the process to q is pending in any part.

Networks:

- `unordered`: any pending operation moves.
- `in-order`: the part that touches the target's memory (put: write Y, get: read Y, rga and cas: the update of Z) waits
  for those of all earlier operations from the same process to the same target. A process is no target of its own here:
  operations to one's own process stay unordered (rule IR of coreRMA: dst differs from src).
- `verbs`: the same among puts only and among gets only; rga and cas wait for nobody, and nobody for them.
- `sc`: a remote statement happens in one step, in full.

The verdict is about every schedule: `unsafe` comes with a shortest one; `safe` means that the whole state space was
seen; `unknown` that a bound cut it (the number of operations of one process pending at a time, or the number of states).
"""

import collections
import dataclasses
import itertools
import re

NETWORKS = ("unordered", "verbs", "in-order", "sc")  # from the weakest to the strongest

REMOTE = ("put", "get", "rga", "cas")
PARTS = {"put": ("read", "target"), "get": ("target", "write"), "rga": ("read", "target", "write"),
         "cas": ("read", "read second", "target", "write")}
KEYWORDS = {"process", "shared", "local", "if", "else", "while", "load", "store", "get", "put", "flush", "rga", "cas",
            "choose", "assume", "assert", "goto", "break", "skip"}


class BadProgram(Exception):
    def __init__(self, place, message):
        super().__init__(f"{place[0]}:{place[1]}: {message}")
        self.place = place


# --- Tokens ---------------------------------------------------------------------------------------------------------

Token = collections.namedtuple("Token", "kind text place")
TOKEN = re.compile(r"(?P<space>[ \t\r\n]+|//[^\n]*|\#[^\n]*|/\*.*?\*/)|(?P<name>[A-Za-z_]\w*)|(?P<int>\d+)"
                   r"|(?P<op>&&|\|\||==|!=|<=|>=|[-+*<>!=(){},;:@])", re.DOTALL | re.ASCII)


def tokens(text):
    result, at, line, start = [], 0, 1, 0
    while at < len(text):
        found = TOKEN.match(text, at)
        place = (line, at - start + 1)
        if not found:
            raise BadProgram(place, f"unexpected {text[at]!r}")
        if found.lastgroup != "space":
            result.append(Token(found.lastgroup, found.group(), place))
        line += found.group().count("\n")
        if "\n" in found.group():
            start = at + found.group().rindex("\n") + 1
        at = found.end()
    return result + [Token("end", "", (line, at - start + 1))]


# --- Programs: every process is a graph of nodes ----------------------------------------------------------------------

@dataclasses.dataclass
class Node:
    """One step of a process. `next` follows it, and `other` when the condition of a test is false; -1 is the end."""
    op: str
    place: tuple
    args: tuple = ()
    next: int = -1
    other: int = -1
    index: int = -1


@dataclasses.dataclass
class Process:
    pid: int
    nodes: list = dataclasses.field(default_factory=list)
    entry: int = -1
    labels: dict = dataclasses.field(default_factory=dict)
    locals: dict = dataclasses.field(default_factory=dict)  # name: index among all locals of the program
    flushes: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Program:
    processes: list
    shared: dict           # name: (index in memory, number of its process among `processes`)
    memory: tuple          # initial values
    locals: tuple          # initial values of all locals
    properties: list       # ("always" or "final", function of pcs, memory, locals)
    flushes: list          # nodes of the flush statements, in textual order


class Parser:
    def __init__(self, text):
        self.tokens, self.at = tokens(text), 0
        self.processes, self.shared, self.memory, self.locals = [], {}, [], []
        self.later = []  # checks that need all declarations
        self.flushes = []

    # Tokens.
    def peek(self, *texts):
        return self.tokens[self.at].text in texts and self.tokens[self.at].kind != "end"

    def take(self, *texts):
        if self.peek(*texts):
            self.at += 1
            return self.tokens[self.at - 1]
        return None

    def need(self, *texts):
        return self.take(*texts) or self.wrong(" or ".join(repr(t) for t in texts))

    def need_kind(self, kind):
        token = self.tokens[self.at]
        if token.kind != kind or kind == "name" and token.text in KEYWORDS:
            self.wrong({"name": "a name", "int": "a number"}[kind])
        self.at += 1
        return token

    def wrong(self, expected):
        token = self.tokens[self.at]
        raise BadProgram(token.place, f"expected {expected}, found {token.text or 'the end of the file'!r}")

    def integer(self):
        sign = -1 if self.take("-") else 1
        return sign * int(self.need_kind("int").text)

    # Programs.
    def program(self):
        while self.take("process"):
            self.process()
        if not self.processes:
            self.wrong("'process'")
        properties = []
        while self.take("assert"):
            kind = self.need("final", "always").text
            self.need("(")
            properties.append((kind, self.expression(self.property_name)))
            self.need(")")
            self.need(";")
        if not properties or self.tokens[self.at].kind != "end":
            self.wrong("'assert'")
        for check in self.later:
            check()
        return Program(self.processes, self.shared, tuple(self.memory), tuple(self.locals),
                       [(kind, compiled(e)) for kind, e in properties], self.flushes)

    def process(self):
        token = self.tokens[self.at]
        pid = self.integer()
        if any(p.pid == pid for p in self.processes):
            raise BadProgram(token.place, f"process {pid} is there already")
        self.processes.append(Process(pid))
        self.need("{")
        self.loops = []
        statements = []
        while not self.take("}"):
            if self.take("shared"):
                self.declare_shared()
            elif self.take("local"):
                self.declare_locals()
            else:
                statements.append(self.statement())
        process = self.processes[-1]
        process.entry = sequence(statements)(-1)
        for node in process.nodes:
            if node.op == "goto":
                label, place = node.args
                if label not in process.labels:
                    raise BadProgram(place, f"no label {label} in process {pid}")
                node.next = process.labels[label]

    def declare_shared(self):
        while True:
            name = self.need_kind("name")
            if name.text in self.shared:
                raise BadProgram(name.place, f"{name.text} is there already")
            self.need("=")
            self.shared[name.text] = (len(self.memory), len(self.processes) - 1)
            self.memory.append(self.integer())
            if not self.take(","):
                break
        self.need(";")

    def declare_locals(self):
        while True:
            name = self.need_kind("name")
            if name.text in self.processes[-1].locals:
                raise BadProgram(name.place, f"{name.text} is there already")
            self.processes[-1].locals[name.text] = len(self.locals)
            self.locals.append(self.integer() if self.take("=") else 0)
            if not self.take(","):
                break
        self.need(";")

    # Statements: each parser returns a function that makes its nodes, given what follows, and returns the first node.
    def node(self, op, place, *args):
        process = self.processes[-1]
        process.nodes.append(Node(op, place, args, index=len(process.nodes)))
        return process.nodes[-1]

    def statement(self):
        token = self.tokens[self.at]
        if token.kind == "name" and token.text not in KEYWORDS and self.tokens[self.at + 1].text == ":":
            self.at += 2
            process = self.processes[-1]
            if token.text in process.labels:
                raise BadProgram(token.place, f"label {token.text} is there already")
            process.labels[token.text] = None
            inner = self.unlabelled()

            def labelled(then):
                process.labels[token.text] = inner(then)
                return process.labels[token.text]
            return labelled
        return self.unlabelled()

    def unlabelled(self):
        if self.peek("{"):
            return self.block()
        if self.peek("if", "while"):
            return self.test()
        made = self.simple()
        self.need(";")
        if callable(made):
            return made

        def link(then):
            if made.op != "goto":
                made.next = then
            return made.index
        return link

    def block(self):
        if not self.take("{"):
            return self.statement()
        statements = []
        while not self.take("}"):
            statements.append(self.statement())
        return sequence(statements)

    def test(self):
        word = self.need("if", "while")
        self.need("(")
        if self.peek("*") and self.tokens[self.at + 1].text == ")":
            self.at += 1
            node = self.node("either", word.place)
        else:
            node = self.node("test", word.place, compiled(self.expression(self.local_name)))
        self.need(")")
        if word.text == "while":
            self.loops.append([])
            body = self.block()
            breaks = self.loops.pop()

            def loop(then):
                node.other = then
                for b in breaks:
                    b.next = then
                node.next = body(node.index)
                return node.index
            return loop
        body = self.block()
        otherwise = self.block() if self.take("else") else None

        def branch(then):
            node.next = body(then)
            node.other = otherwise(then) if otherwise else then
            return node.index
        return branch

    def simple(self):
        word = self.tokens[self.at]
        if self.take("skip"):
            return self.node("skip", word.place)
        if self.take("break"):
            if not self.loops:
                raise BadProgram(word.place, "break outside of a loop")
            node = self.node("break", word.place)
            self.loops[-1].append(node)
            return lambda then: node.index
        if self.take("goto"):
            label = self.need_kind("name")
            return self.node("goto", word.place, label.text, label.place)
        if self.take("load"):
            local = self.own_local()
            self.need("=")
            return self.node("load", word.place, local, self.shared_name(own=True))
        if self.take("store"):
            variable = self.shared_name(own=True)
            self.need("=")
            return self.node("store", word.place, variable, compiled(self.expression(self.local_name)))
        if self.take("assume", "assert"):
            self.need("(")
            node = self.node(word.text, word.place, compiled(self.expression(self.local_name)))
            self.need(")")
            return node
        if self.take("flush"):
            self.need("(")
            node = self.node("flush", word.place, self.pid())
            self.need(")")
            self.flushes.append((len(self.processes) - 1, node.index))
            return node
        if self.take("put"):
            self.need("(")
            there, target = self.remote_variable()
            self.need(",")
            here = self.shared_name(own=True)
            self.need(")")
            return self.remote("put", word.place, target, (here,), there, None)
        return self.assignment(word)

    def assignment(self, word):
        name = self.need_kind("name")
        self.need("=")
        if self.take("choose"):
            self.need("(")
            values = [self.integer()]
            while self.take(","):
                values.append(self.integer())
            self.need(")")
            return self.node("choose", word.place, self.own_local(name), tuple(values))
        kind = self.take("get", "rga", "cas")
        if not kind:
            return self.node("assign", word.place, self.own_local(name), compiled(self.expression(self.local_name)))
        self.need("(")
        there, target = self.remote_variable()
        operands = []
        for _ in range({"get": 0, "rga": 1, "cas": 2}[kind.text]):
            self.need(",")
            operands.append(self.shared_name(own=True))
        self.need(")")
        return self.remote(kind.text, word.place, target, tuple(operands), there, self.shared_name(True, name))

    def remote(self, kind, place, target, operands, there, result):
        return self.node(kind, place, target, operands, there, result)

    # Names. Shared variables and processes may be declared later: they are boxes that are filled at the end.
    def shared_name(self, own, name=None):
        name = name or self.need_kind("name")
        box, me = Box(), len(self.processes) - 1

        def resolve():
            if name.text not in self.shared:
                raise BadProgram(name.place, f"no shared variable {name.text}")
            box.value, home = self.shared[name.text]
            if own and home != me:
                raise BadProgram(name.place, f"{name.text} is on another process")
        self.later.append(resolve)
        return box

    def remote_variable(self):
        name = self.need_kind("name")
        there = self.shared_name(False, name)
        self.need(",")
        token = self.tokens[self.at]
        target = self.pid()

        def resolve():
            if self.shared[name.text][1] != target.value:
                raise BadProgram(token.place, f"{name.text} is on another process")
        self.later.append(resolve)
        return there, target

    def pid(self):
        token, box = self.tokens[self.at], Box()
        number = self.integer()

        def resolve():
            found = [i for i, p in enumerate(self.processes) if p.pid == number]
            if not found:
                raise BadProgram(token.place, f"no process {number}")
            box.value = found[0]
        self.later.append(resolve)
        return box

    def own_local(self, name=None):
        name = name or self.need_kind("name")
        process, box = self.processes[-1], Box()

        def resolve():
            if name.text not in process.locals:
                raise BadProgram(name.place, f"no local {name.text}")
            box.value = process.locals[name.text]
        self.later.append(resolve)
        return box

    # Expressions: closures of (pcs, memory, locals); truth is 1 and falsehood 0, and all but 0 is true.
    def local_name(self, name):
        box = self.own_local(name)
        return f"locals_[{box.key()}]", {box.key(): box}

    def property_name(self, name):
        if name.text == "at" and self.take("("):
            pid = self.pid()
            self.need(",")
            label, box = self.need_kind("name"), Box()
            self.need(")")

            def resolve():
                labels = self.processes[pid.value].labels
                if label.text not in labels:
                    raise BadProgram(label.place, f"no label {label.text}")
                box.value = (pid.value, labels[label.text])
            self.later.append(resolve)
            return f"int(pcs[{box.key()}[0]] == {box.key()}[1])", {box.key(): box}
        box = Box()
        if self.take("@"):
            pid = self.pid()

            def resolve():
                if name.text not in self.processes[pid.value].locals:
                    raise BadProgram(name.place, f"no local {name.text} there")
                box.value = self.processes[pid.value].locals[name.text]
            self.later.append(resolve)
            return f"locals_[{box.key()}]", {box.key(): box}
        if name.text in self.shared:
            box.value = self.shared[name.text][0]
            return f"memory[{box.key()}]", {box.key(): box}
        found = [p.locals[name.text] for p in self.processes if name.text in p.locals]
        if len(found) != 1:
            raise BadProgram(name.place, f"{len(found)} locals are called {name.text}")
        box.value = found[0]
        return f"locals_[{box.key()}]", {box.key(): box}

    LEVELS = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*",))

    def expression(self, names, level=0):
        if level == len(self.LEVELS):
            return self.unary(names)
        left, boxes = self.expression(names, level + 1)
        while self.peek(*self.LEVELS[level]):
            op = self.need(*self.LEVELS[level]).text
            right, more = self.expression(names, level + 1)
            boxes = {**boxes, **more}
            if op in ("||", "&&"):
                left = f"int(bool({left}) {'or' if op == '||' else 'and'} bool({right}))"
            elif op in ("+", "-", "*"):
                left = f"({left} {op} {right})"
            else:
                left = f"int({left} {op} {right})"
        return left, boxes

    def unary(self, names):
        if self.take("("):
            inner = self.expression(names)
            self.need(")")
            return inner
        if self.take("!"):
            inner, boxes = self.unary(names)
            return f"int(not {inner})", boxes
        if self.take("-"):
            inner, boxes = self.unary(names)
            return f"(-{inner})", boxes
        if self.tokens[self.at].kind == "int":
            return str(int(self.need_kind("int").text)), {}
        return names(self.need_kind("name"))


class Box:
    """An index that is known once all declarations are read."""
    count = 0

    def __init__(self):
        Box.count += 1
        self.number, self.value = Box.count, None

    def key(self):
        return f"box{self.number}"


class compiled:  # noqa: N801 - a function that is made at its first call, when its boxes are filled
    def __init__(self, source):
        self.source, self.function = source, None

    def __call__(self, pcs, memory, locals_):
        if self.function is None:
            text, boxes = self.source
            scope = {key: box.value for key, box in boxes.items()}
            self.function = eval(f"lambda pcs, memory, locals_: {text}", scope)
        return self.function(pcs, memory, locals_)


def sequence(statements):
    def link(then):
        for statement in reversed(statements):
            then = statement(then)
        return then
    return link


def parse(text, without_flushes=()):
    """The program; the flushes with these numbers (in textual order, from 0) are statements that do nothing."""
    program = Parser(text).program()
    for number in without_flushes:
        process, node = program.flushes[number]
        program.processes[process].nodes[node].op = "skip"
    return program


# --- Steps --------------------------------------------------------------------------------------------------------------

# pending[i] holds process i's operations: (node, parts done, value, value) sorted, those in order by group and age.
State = collections.namedtuple("State", "pcs memory locals pending")

# One step, in words. `number` is the place of the process in the file, from 0.
Step = collections.namedtuple("Step", "actor number line op part value")


def put_in(values, index, value):
    return values[:index] + (value,) + values[index + 1:]


class Machine:
    """With `many`, that many equal operations of a process stand for any greater number of them as well: such a machine
    shows all that the exact one does, and perhaps more, with finitely many states where only pending operations are
    without bound. That makes sense under `unordered` only."""

    def __init__(self, program, network="unordered", many=None):
        if network not in NETWORKS or many and network != "unordered":
            raise ValueError(f"no network {network}, or not with many equal operations as one")
        self.program, self.network, self.many = program, network, many

    def initial(self):
        p = self.program
        return State(tuple(q.entry for q in p.processes), p.memory, p.locals, ((),) * len(p.processes))

    def broken(self, state):
        """The kind of the first property that does not hold in the state, if any."""
        for kind, holds in self.program.properties:
            if (kind == "always" or all(pc == -1 for pc in state.pcs)) and not holds(*state[:3]):
                return kind
        return None

    def steps(self, state):
        """All (step, next state); the next state is None when an assertion in a process fails."""
        for number, process in enumerate(self.program.processes):
            if state.pcs[number] != -1:
                yield from self.cpu(state, number, process.nodes[state.pcs[number]])
            yield from self.nic(state, number)

    # A process.
    def cpu(self, state, number, node):
        pcs, memory, locals_, pending = state

        def after(value=None, to=node.next, memory=memory, locals_=locals_, pending=pending):
            return (Step("cpu", number, node.place[0], node.op, "", value),
                    State(put_in(pcs, number, to), memory, locals_, pending))

        if node.op in ("skip", "break", "goto"):
            yield after()
        elif node.op == "test":
            value = node.args[0](*state[:3])
            yield after(int(bool(value)), node.next if value else node.other)
        elif node.op == "either":
            yield after(1, node.next)
            yield after(0, node.other)
        elif node.op == "load":
            local, variable = node.args
            value = memory[variable.value]
            yield after(value, locals_=put_in(locals_, local.value, value))
        elif node.op == "store":
            variable, expression = node.args
            value = expression(*state[:3])
            yield after(value, memory=put_in(memory, variable.value, value))
        elif node.op == "assign":
            local, expression = node.args
            value = expression(*state[:3])
            yield after(value, locals_=put_in(locals_, local.value, value))
        elif node.op == "choose":
            local, values = node.args
            for value in values:
                yield after(value, locals_=put_in(locals_, local.value, value))
        elif node.op == "assume":
            if node.args[0](*state[:3]):
                yield after()
        elif node.op == "assert":
            step, then = after()
            yield step, then if node.args[0](*state[:3]) else None
        elif node.op == "flush":
            nodes = self.program.processes[number].nodes
            if all(nodes[op[0]].args[0].value != node.args[0].value for op in pending[number]):
                yield after()
        elif self.network == "sc":
            memory, value = self.at_once(memory, node)
            yield after(value, memory=memory)
        else:
            op = (self.alike(number, node) if self.many else node.index, 0, 0, 0)
            yield after(pending=put_in(pending, number, self.ordered(number, pending[number] + (op,))))

    def alike(self, number, node):
        """The first statement of the process that starts the same operation."""
        def meaning(other):
            target, operands, there, result = other.args
            return (other.op, target.value, [o.value for o in operands], there.value, result and result.value)
        return next(other.index for other in self.program.processes[number].nodes
                    if other.op == node.op and meaning(other) == meaning(node))

    # Operations.
    def at_once(self, memory, node):
        """A whole remote statement: its parts one after the other, nothing in between."""
        op = (node.index, 0, 0, 0)
        while op:
            memory, op, value = self.move(memory, node, op)
        return memory, value

    @staticmethod
    def move(memory, node, op):
        """Memory and the operation (None when it is complete) after its next part, and the value read or written."""
        _, operands, there, result = node.args
        index, done, first, second = op
        part = PARTS[node.op][done]
        there = there.value
        if part == "read":
            first = value = memory[operands[0].value]
        elif part == "read second":
            second = value = memory[operands[1].value]
        elif part == "write":
            value = first
            memory = put_in(memory, result.value, value)
        elif node.op == "put":
            value = first
            memory = put_in(memory, there, value)
        else:  # get, rga, cas: the old value of the target is what comes home
            value = memory[there]
            if node.op == "rga":
                memory = put_in(memory, there, value + first)
            elif node.op == "cas" and value == first:
                memory = put_in(memory, there, second)
            first, second = value, 0
        complete = done + 1 == len(PARTS[node.op])
        return memory, None if complete else (index, done + 1, first, second), value

    def group(self, number, op):
        """What the operation's next touch of the target's memory is ordered with; None: with nothing."""
        node = self.program.processes[number].nodes[op[0]]
        target = node.args[0].value
        if self.network == "unordered" or target == number or op[1] > PARTS[node.op].index("target"):
            return None
        if self.network == "in-order":
            return (target, "")
        return (target, node.op) if node.op in ("put", "get") else None

    def ordered(self, number, ops):
        """The same operations, in an order that only says which of a group is older: equal states are equal tuples."""
        free = sorted(op for op in ops if self.group(number, op) is None)
        if self.many:
            free = [op for i, op in enumerate(free) if free[i - self.many:i] != [op] * self.many]
        grouped = [op for op in ops if self.group(number, op) is not None]
        return tuple(free) + tuple(sorted(grouped, key=lambda op: self.group(number, op)))  # a stable sort

    def nic(self, state, number):
        ops, nodes = state.pending[number], self.program.processes[number].nodes
        seen = set()
        for i, op in enumerate(ops):
            node, group = nodes[op[0]], self.group(number, op)
            part = PARTS[node.op][op[1]]
            if part == "target" and group is not None and any(self.group(number, o) == group for o in ops[:i]):
                continue  # an older one of its group has not touched the target yet
            if group is None:
                if op in seen:
                    continue  # the same operation twice: the same step
                seen.add(op)
            memory, moved, value = self.move(state.memory, node, op)
            after = (moved,) if moved else ()
            step = Step("nic", number, node.place[0], node.op, part, value)
            rests = [ops[:i] + after + ops[i + 1:]]
            if self.many and ops.count(op) == self.many:
                rests.append(ops + after)  # there are still as many
            for rest in rests:
                pending = put_in(state.pending, number, self.ordered(number, rest))
                yield step, State(state.pcs, memory, state.locals, pending)


# --- Search -------------------------------------------------------------------------------------------------------------

@dataclasses.dataclass
class Answer:
    verdict: str                # safe, unsafe, unknown
    why: str                    # the property that is broken, or the bound that was met
    states: int
    trace: list = dataclasses.field(default_factory=list)


def check(program, network="unordered", pending=3, max_states=200_000, many=None):
    """Breadth-first over all states in which no process has more than `pending` operations pending (None: any number)."""
    machine = Machine(program, network, many)
    start = machine.initial()
    came_from = {start: None}
    if machine.broken(start):
        return Answer("unsafe", machine.broken(start), 1)
    cut, queue = "", collections.deque([start])
    while queue:
        state = queue.popleft()
        for step, then in machine.steps(state):
            if then is None:
                return Answer("unsafe", "assert", len(came_from), schedule(came_from, state) + [step])
            if then in came_from:
                continue
            if pending is not None and any(len(ops) > pending for ops in then.pending):
                cut = f"more than {pending} operations pending"
                continue
            came_from[then] = (state, step)
            if machine.broken(then):
                return Answer("unsafe", machine.broken(then), len(came_from), schedule(came_from, then))
            queue.append(then)
        if len(came_from) > max_states:
            return Answer("unknown", f"more than {max_states} states", len(came_from))
    return Answer("unknown" if cut else "safe", cut, len(came_from))


def reachable(program, network="unordered", pending=3, max_states=10_000):
    """States that the program reaches, the nearest first, at most that many; properties are not looked at."""
    machine = Machine(program, network)
    seen, queue = {machine.initial()}, collections.deque([machine.initial()])
    while queue:
        state = queue.popleft()
        yield state
        for _, then in machine.steps(state):
            if then and then not in seen and len(seen) < max_states and max(map(len, then.pending)) <= pending:
                seen.add(then)
                queue.append(then)


def schedule(came_from, state):
    steps = []
    while came_from[state]:
        state, step = came_from[state]
        steps.append(step)
    return steps[::-1]


def replay(program, network, constraints):
    """Whether a schedule breaks the program. A constraint is a function of a Step: does it describe this step? Several
    states may fit a schedule so far (two pending operations of one statement look alike); all are kept. Returns
    "breaks", "holds" (it can be followed but breaks nothing) or the number of the first step that no state can take."""
    machine = Machine(program, network)
    states = {machine.initial()}
    failed = False
    for i, fits in enumerate(constraints):
        following = [then for state in states for step, then in machine.steps(state) if fits(step)]
        if not following:
            return i
        failed = None in following
        states = {s for s in following if s is not None}
    return "breaks" if failed or any(machine.broken(s) for s in states) else "holds"


def decide(program, pending=2, max_states=200_000, many=(1, 2)):
    """The verdict under `unordered` for any number of pending operations: unsafe if a few of them break the property,
    safe if it holds even when one, or two, equal ones stand for any number."""
    answer = check(program, pending=pending, max_states=max_states)
    if answer.verdict != "unknown":
        return answer.verdict
    proved = any(check(program, pending=None, max_states=max_states, many=m).verdict == "safe" for m in many)
    return "safe" if proved else "unknown"


def smallest_placements(text, **bounds):
    """All smallest sets of flushes (numbers in textual order) with which the program is safe under `unordered`, and the
    sets without a verdict of at most that size. Every subset of the flushes is tried, the smallest first, except for
    those that leave out a flush without which all others are not enough: more flushes never show more."""
    everything = set(range(len(parse(text).flushes)))
    needed = {i for i in everything if decide(parse(text, {i}), **bounds) == "unsafe"}
    undecided = []
    for size in range(len(needed), len(everything) + 1):
        found = []
        for others in itertools.combinations(sorted(everything - needed), size - len(needed)):
            kept = needed | set(others)
            verdict = decide(parse(text, everything - kept), **bounds)
            (found if verdict == "safe" else undecided if verdict == "unknown" else []).append(sorted(kept))
        if found:
            return found, undecided
    return [], undecided


if __name__ == "__main__":
    import sys
    for path in sys.argv[1:]:
        with open(path) as file:
            content = file.read()
        for net in NETWORKS:
            answer = check(parse(content), net)
            print(path, net, answer.verdict, answer.why, answer.states, sep="\t")
