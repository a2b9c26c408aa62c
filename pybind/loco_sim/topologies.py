"""Networks of one's own: from a list of cables, or a networkx graph."""

from __future__ import annotations

from typing import Any, Hashable, Iterable, Mapping, Sequence

__all__ = ["custom_topology"]

_OPTIONS = ("rate", "delay")


def _is_cable(cable: Any) -> bool:
    """Two ends, and what there is to say about it; a row of an array will do."""
    return (hasattr(cable, "__getitem__") and not isinstance(cable, str) and len(cable) in (2, 3)
            and all(isinstance(options, Mapping) for options in cable[2:]))


def custom_topology(graph: Any, hosts: Sequence[Hashable] | None = None) -> dict[str, Any]:
    """The `topology` of a scenario, from cables.

    Args:
        graph: a networkx graph, or cables: (a, b) or (a, b, {"rate": "100Gbps", "delay": "1us"}). Names are any
            hashable things. What a cable does not say is that of the other links (`fabric.link`, or the hardware).
            Of a networkx graph, the edge attributes rate and delay count, and others do not.
        hosts: the ends that are hosts, in the order of their node numbers; the others are switches. By default those
            with one cable, in the order in which they are first named.

    Raises:
        ValueError: a host that no cable reaches, fewer than two hosts, or something else than rate and delay of a cable.

    >>> custom_topology([("a", "left"), ("b", "left"), ("left", "right", {"delay": "1us"}), ("right", "c")])
    {'kind': 'custom', 'hosts': 3, 'switches': 2, 'edges': [['h0', 's0'], ['h1', 's0'], ['s0', 's1', {'delay': '1us'}], ['s1', 'h2']]}
    """
    from_graph = hasattr(graph, "edges")
    if not from_graph and not isinstance(graph, Iterable):
        raise TypeError(f"graph: expected a networkx graph, or cables, found {graph!r}")
    cables: Iterable[Sequence[Any]] = graph.edges(data=True) if from_graph else graph
    ends: dict[Hashable, int] = dict.fromkeys(graph.nodes, 0) if hasattr(graph, "nodes") else {}
    found: list[tuple[Hashable, Hashable, Mapping[str, Any]]] = []
    for cable in cables:
        if not _is_cable(cable):
            raise ValueError(f"graph: expected a cable such as (a, b) or (a, b, {{...}}), found {cable!r}")
        a, b = cable[0], cable[1]
        options = dict(cable[2]) if len(cable) == 3 else {}
        unknown = [k for k in options if k not in _OPTIONS]
        if unknown and not from_graph:
            raise ValueError(f"{cable!r}: expected the keys {' and '.join(_OPTIONS)}, found {unknown[0]!r}")
        options = {k: v for k, v in options.items() if k in _OPTIONS}
        found.append((a, b, options))
        for end in (a, b):
            ends[end] = ends.get(end, 0) + 1
    chosen = list(hosts) if hosts is not None else [end for end, degree in ends.items() if degree == 1]
    for host in chosen:
        if ends.get(host, 0) == 0:
            raise ValueError(f"hosts: {host!r}: expected one end of a cable")
    if len(set(chosen)) < 2 or len(set(chosen)) != len(chosen):
        raise ValueError(f"hosts: expected two or more, each once, found {chosen!r}")
    names = {host: f"h{i}" for i, host in enumerate(chosen)}
    for end in ends:
        if end not in names:
            names[end] = f"s{len(names) - len(chosen)}"
    return {"kind": "custom", "hosts": len(chosen), "switches": len(ends) - len(chosen),
            "edges": [[names[a], names[b], dict(options)] if options else [names[a], names[b]]
                      for a, b, options in found]}
