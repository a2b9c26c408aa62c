"""Helpers that a thread calls and does not run: a generator by itself does nothing, and Python does not say so."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import types
import warnings
from typing import Any, Callable, Iterator

__all__ = ["warn_of_forgotten"]

_seen: set[types.CodeType] = set()


def warn_of_forgotten(thread: Callable[..., Any]) -> None:
    """Warns, with its line, of each call of a generator function as a statement in `thread` or in a helper that it calls:
    `helper(ctx)` where `yield from helper(ctx)` was meant. Each function is looked at once. What has no source file, or
    is called by what only the run will know, is not seen."""
    todo = [thread]
    while todo:
        function = _plain(todo.pop())
        if function is None or function.__code__ in _seen:
            continue
        _seen.add(function.__code__)
        todo.extend(_look_at(function))


def _plain(thing: Any) -> types.FunctionType | None:
    while isinstance(thing, functools.partial):
        thing = thing.func
    thing = inspect.unwrap(getattr(thing, "__func__", thing))
    return thing if isinstance(thing, types.FunctionType) else None


def _look_at(function: types.FunctionType) -> Iterator[Any]:
    """Warns for one function; yields the generator functions that it calls."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    within = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _is_generator(node)}
    names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        helper = _named(call.func, names)
        is_local = isinstance(call.func, ast.Name) and call.func.id in within
        if not (is_local or (helper is not None and inspect.isgeneratorfunction(_plain(helper)))):
            continue
        if id(call) in alone:
            name = ast.unparse(call.func)
            warnings.warn_explicit(f"{name}() makes a generator, which does nothing by itself: put `yield from` in front of "
                                   f"it", RuntimeWarning, function.__code__.co_filename, first + call.lineno - 1)
        if helper is not None:
            yield helper


def _is_generator(function: ast.FunctionDef) -> bool:
    """Has it a yield of its own, outside of the functions in it?"""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            todo.extend(ast.iter_child_nodes(node))
    return False


def _named(expression: ast.expr, names: dict[str, Any]) -> Any:
    """What a name, or a name in a module or class, stands for; None where only a run would tell."""
    if isinstance(expression, ast.Name):
        return names.get(expression.id)
    if isinstance(expression, ast.Attribute):
        owner = _named(expression.value, names)
        if isinstance(owner, (types.ModuleType, type)):
            found = inspect.getattr_static(owner, expression.attr, None)
            return getattr(found, "__func__", found)
    return None
