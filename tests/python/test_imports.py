"""The modules of the package import one another without a circle, those in functions included."""

import ast
import pathlib

import loco_sim

ROOT = pathlib.Path(loco_sim.__file__).parent


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def runs(node):
    """The nodes below that a program runs: what is for type checkers alone is not."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        yield child
        yield from runs(child)


def imports_of(path, known):
    package = module_of(path).split(".")[:-1] if path.name != "__init__.py" else module_of(path).split(".")
    package = [p for p in package if p]
    for node in runs(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        base = package[:len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
        for alias in node.names:
            for name in (".".join([*base, alias.name]), ".".join(base)):
                if name in known and name:
                    yield name
                    break


def circle(graph):
    """The modules of one circle, or nothing."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return path[path.index(module):]
        if module in done:
            return []
        path.append(module)
        for other in sorted(graph.get(module, ())):
            if found := visit(other):
                return found
        path.pop()
        done.add(module)
        return []

    for module in sorted(graph):
        if found := visit(module):
            return found
    return []


def test_no_circle():
    paths = {module_of(path): path for path in ROOT.rglob("*.py")}
    graph = {module: set(imports_of(path, paths)) - {module} for module, path in paths.items()}
    assert "errors" in graph["_optional"] and "outcome" in graph["plot._times"], "imports are found"
    assert circle(graph) == []


def test_a_circle_is_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
