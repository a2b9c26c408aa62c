"""Random programs that wait: spin loops, cas loops, endless servers, goto, assume. `python3 random_live.py SEED` prints one."""

import random
import sys

FAIRNESS = ("", "", "", " under weak", " under nic", " under none")


def program(seed: int) -> str:
    draw = random.Random(seed)
    count = draw.choice((2, 2, 2, 3))
    variables = {p: [f"v{p}{i}" for i in range(draw.choice((1, 1, 2)))] for p in range(count)}
    bodies, labels = {}, {}
    for p in range(count):
        maker = _Process(draw, p, variables)
        bodies[p] = maker.body(draw.randint(1, 4))
        if draw.random() < 0.25:
            bodies[p] = f"while (1) {{ {bodies[p]} }}"
        labels[p] = maker.labels
    text = ""
    for p in range(count):
        shared = ", ".join(f"{v} = {draw.choice((0, 0, 1))}" for v in variables[p]) + f", one{p} = 1, zero{p} = 0"
        text += f"process {p} {{\n  shared {shared};\n  local a{p}, b{p};\n  {bodies[p]}\n}}\n"
    everything = [(p, label) for p in labels for label in labels[p]]
    for _ in range(draw.choice((1, 1, 2))):
        text += f"assert {_property(draw, count, variables, everything)}{draw.choice(FAIRNESS)};\n"
    return text


def _condition(draw, count, variables, labels) -> str:
    p = draw.randrange(count)
    if labels and draw.random() < 0.4:
        p, label = draw.choice(labels)
        return draw.choice(("at", "in", "!in")) + f"({p}, {label})"
    name = draw.choice(variables[p] + [f"a{p}"])
    return f"{name} {draw.choice(('==', '!='))} {draw.choice((0, 1, 2))}"


def _property(draw, count, variables, labels) -> str:
    kind = draw.choice(("ends", "ends", "ends", "eventually", "leads_to", "progress" if labels else "ends"))
    if kind == "ends":
        return draw.choice(("ends", f"ends ({draw.randrange(count)})"))
    if kind == "progress":
        chosen = draw.sample(labels, min(len(labels), draw.choice((1, 2))))
        return "progress (" + ", ".join(f"at({p}, {label})" for p, label in chosen) + ")"
    conditions = [_condition(draw, count, variables, labels) for _ in range(2)]
    return f"eventually ({conditions[0]})" if kind == "eventually" else f"leads_to ({conditions[0]}, {conditions[1]})"


class _Process:
    def __init__(self, draw, p, variables):
        self.draw, self.p, self.variables, self.labels, self.loops = draw, p, variables, [], 0

    def body(self, length: int, depth: int = 0) -> str:
        return " ".join(self.statement(depth) for _ in range(length))

    def label(self) -> str:
        if self.draw.random() < 0.6:
            return ""
        self.labels.append(f"L{len(self.labels)}")
        return self.labels[-1] + ": "

    def statement(self, depth: int) -> str:
        draw, p = self.draw, self.p
        own = draw.choice(self.variables[p])
        q = draw.choice([x for x in self.variables if x != p] + ([p] if draw.random() < 0.1 else []))
        other = draw.choice(self.variables[q])
        source = draw.choice([own, own, f"one{p}", f"zero{p}"])
        local = draw.choice((f"a{p}", f"b{p}"))
        flush = f" flush({q});" if draw.random() < 0.7 else ""
        value = draw.choice((0, 1, 1, 2))
        kinds = ["put"] * 4 + ["get"] * 2 + ["spin"] * 3 + ["store"] * 2 + ["load", "cas", "cas loop", "poll", "if"]
        if depth == 0:
            kinds += ["goto", "assume", "while", "assign", "rga"]
        kind = draw.choice(kinds)
        head = self.label()
        if kind == "put":
            return f"{head}put({other}, {q}, {source});{flush}"
        if kind == "get":
            return f"{head}{own} = get({other}, {q});{flush}"
        if kind == "rga":
            return f"{head}{own} = cas({other}, {q}, one{p}, {own});{flush}"
        if kind == "cas":
            return f"{head}{own} = cas({other}, {q}, zero{p}, one{p});{flush}"
        if kind == "store":
            return f"{head}store {own} = {draw.choice((str(value), local))};"
        if kind == "load":
            return f"{head}load {local} = {own};"
        if kind == "assign":
            return f"{head}{local} = {value};"
        if kind == "assume":
            return f"{head}assume ({local} == {value});"
        if kind == "spin":
            return f"{local} = {draw.choice((0, 1))}; {head}while ({local} != {value}) load {local} = {own};"
        if kind == "poll":
            return f"{local} = 0; {head}while ({local} != {value}) {{ {own} = get({other}, {q});{flush} load {local} = {own}; }}"
        if kind == "cas loop":
            return (f"{local} = 1; {head}while ({local} != 0) {{ {own} = cas({other}, {q}, zero{p}, one{p}); flush({q}); "
                    f"load {local} = {own}; }}")
        if kind == "goto":
            self.loops += 1
            loop = self.loops
            inner = self.body(1, depth + 1)
            return f"{head}{{ G{loop}: {{ {inner} }} if ({local} == {value}) goto G{loop}; }}"
        if kind == "while":
            inner = self.body(draw.choice((1, 2)), depth + 1)
            return f"{head}while ({draw.choice(('*', local + ' == 0'))}) {{ {inner} {draw.choice(('', 'break;'))} }}"
        return f"{head}if ({local} == {value}) {{ {self.body(1, depth + 1)} }}"


if __name__ == "__main__":
    print(program(int(sys.argv[1])), end="")
