"""Scenarios: one run as data."""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import shlex
import tempfile
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple

from . import _core
from ._keys import file_name, require_keys, require_utf8, seed_number
from ._shown import shown

if TYPE_CHECKING:
    from .points import Choice, Uniform

__all__ = ["Scenario", "hardware", "list_hardware", "list_topologies", "list_workloads"]

Overrides = Mapping[str, Any]

_LEVELS_MAX = 100  # more than any input has
_PLAIN = re.compile(r"[A-Za-z0-9_./+-]+")
# Characters of four digits that YAML wants escaped, ends of lines among them.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
# What does not change a run: left out of the hash.
_WITHOUT_EFFECT = frozenset({"name", "description", "trace.path", "limits.memory", "limits.wall_time"})


def _quoted(text: str) -> str:
    """Text in quotes: JSON's, but for its escapes by two, which YAML does not know."""
    return _UNPRINTABLE.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(text, ensure_ascii=False))


def yaml_text(value: Any, name: str = "") -> str:
    """A Python value as YAML on one line. Text that is one plain word stays as it is, so that "50ns" is a time.

    Args:
        value: text, a number, a list, a mapping, and so on.
        name: what an error says that it is of: an argument, a dotted key.

    >>> yaml_text({"kind": "star", "nodes": 4, "delays": ["50ns", None, True]})
    '{"kind": star, "nodes": 4, "delays": [50ns, null, true]}'
    """
    try:
        return _yaml_text(value, (), 0)
    except _NoValue as error:
        of = ".".join([*([name] if name else []), *map(shown, error.keys)])
        raise error.kind(f"{of}: {error}" if of else str(error)) from None


class _NoValue(Exception):
    """What YAML has no words for."""

    def __init__(self, kind: type[Exception], keys: tuple[str, ...], text: str) -> None:
        super().__init__(text)
        self.kind = kind
        self.keys = keys


def _yaml_text(value: Any, keys: tuple[str, ...], depth: int) -> str:
    """`keys`: those that lead to the value."""
    if depth > _LEVELS_MAX:  # also of what holds itself, by however many keys
        raise _NoValue(ValueError, (), f"expected at most {_LEVELS_MAX} levels of lists and mappings, found more")
    if value is None or isinstance(value, (bool, float)):
        return json.dumps(value)
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else _quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_quoted(str(k))}: {_yaml_text(v, (*keys, str(k)), depth + 1)}" for k, v in value.items()) + "}"
    if hasattr(value, "tolist"):  # a NumPy scalar or array
        return _yaml_text(value.tolist(), keys, depth)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, (list, tuple, set, frozenset)):
        texts = [_yaml_text(v, keys, depth + 1) for v in value]
        if isinstance(value, (set, frozenset)):  # in one order: that of the values, where they have one
            try:
                texts = [_yaml_text(v, keys, depth + 1) for v in sorted(value)]
            except TypeError:
                texts.sort()
        return "[" + ", ".join(texts) + "]"
    if isinstance(value, os.PathLike):
        return _yaml_text(os.fspath(value), keys, depth)
    raise _NoValue(TypeError, keys, f"expected text, a number, a list or a mapping, found {type(value).__name__}")


def _pairs(overrides: Overrides | None) -> list[tuple[str, str]]:
    if overrides is None:
        return []
    require_keys("overrides", overrides)
    for key, value in overrides.items():
        for text in (key, value):
            if isinstance(text, str):
                require_utf8(f"--set {shown(key)}", text)
    # Text is taken as the command line takes it after `--set key=`: it may be a list such as "[1, 2]".
    return [(key, value if isinstance(value, str) else yaml_text(value, key)) for key, value in overrides.items()]


class _Values(NamedTuple):
    """What a scenario's files say, to take the place of their names where there are no such files: on another machine, in
    another folder."""

    after: int = 0  #: overrides that these come after
    hardware: str = ""  #: every value of the profile, as YAML
    files: tuple[tuple[str, str, bytes], ...] = ()  #: key, name and content of other files

    @staticmethod
    def of(scenario: Scenario) -> _Values:
        """Those of a scenario that was read here."""
        files = []
        for key, name in scenario.inputs:
            if key != "hardware":
                with open(name, "rb") as file:
                    files.append((key, name, file.read()))
        return _Values(len(scenario._overrides), yaml_text(scenario.to_dict()["hardware"]), tuple(files))

    def among(self, overrides: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """The overrides with these where they belong."""
        own = [("hardware", self.hardware)] if self.hardware else []
        own += [(key, yaml_text(place)) for key, name, content in self.files if (place := _placed(name, content)) != name]
        return [*overrides[:self.after], *own, *overrides[self.after:]]


def _placed(name: str, content: bytes) -> str:
    """Where a file with this content lies: under its own name, or in the folder for temporary files."""
    copy = os.path.join(tempfile.gettempdir(), f"loco-sim-{hashlib.sha256(content).hexdigest()[:16]}-{os.path.basename(name)}")
    for place in (name, copy):
        try:
            with open(place, "rb") as file:
                if file.read() == content:
                    return place
        except OSError:
            pass
    _core.write_whole_file(os.fsencode(copy), content)
    return copy


class Scenario:
    """A validated scenario: defaults filled, units parsed. Immutable; pickles.

    Args:
        source: the path of a YAML file, the name of a scenario that comes with the package (`scenarios()`), or the
            same content as a mapping.
        overrides: dotted keys and their values, e.g. ``{"topology.nodes": 16, "fabric.link.delay": "1us"}``: what
            ``--set`` does on the command line. Text is read as YAML.
        seed: short for ``overrides={"seed": ...}``.

    Raises:
        InputError: with file, line and column of the mistake.
        TypeError: keys of `overrides` that are no text, a seed that is no integer.
    """

    _values = _Values()
    """What stands for files, where it has come from elsewhere."""

    _stands_alone = True
    """Does it say all of the run? The surroundings of a Python program do not."""

    def __init__(self, source: str | os.PathLike[str] | Mapping[str, Any] | Scenario, *,
                 overrides: Overrides | None = None, seed: int | None = None) -> None:
        self._file: str
        self._text: str
        self._overrides: list[tuple[str, str]]
        self._core: _core.Scenario
        pairs = _pairs(overrides)
        if seed is not None:
            pairs.append(("seed", str(seed_number(seed))))
        if isinstance(source, Scenario):
            if self._stands_alone:
                source._require_alone()
            self._file, self._text, pairs = source._file, source._text, source._overrides + pairs
            self._values = source._values
        elif isinstance(source, Mapping):
            self._file, self._text = "scenario", yaml_text(source, "scenario")
        else:
            self._file = _core.find_scenario(file_name(source, "scenario", "a file, the name of a scenario, a mapping or a Scenario"))
            content = _core.read_document(self._file)  # once, since a pipe has it once; copies are made from it
            self._core = _core.parse_scenario(content, self._file, pairs)
            self._text, self._overrides = content.decode(), pairs
            return
        self._overrides = pairs
        self._core = _core.parse_scenario(self._text, self._file, self._values.among(pairs))

    @classmethod
    def from_yaml(cls, text: str, *, file: str = "(text)", overrides: Overrides | None = None) -> Scenario:
        """A scenario from YAML text; `file` is what error messages call it."""
        if not isinstance(text, str):
            raise TypeError(f"text: expected the text of a scenario, found {text!r}")
        require_utf8("text", text)
        return _rebuild(file, text, _pairs(overrides))

    def override(self, overrides: Overrides | None = None, /, *, seed: int | None = None) -> Scenario:
        """A copy with other values at some dotted keys."""
        return type(self)(self, overrides=overrides, seed=seed)

    def _require_alone(self) -> None:
        if not self._stands_alone:
            raise ValueError("scenario: expected one that says all of the run, found the surroundings of a Python program: "
                             "Program(...).run(...) does it again")

    @property
    def file(self) -> str:
        """Where it was read from."""
        return self._core.file

    @property
    def name(self) -> str:
        """The scenario's `name:`, or that of its file."""
        return self._core.name

    @property
    def description(self) -> str:
        """The scenario's `description:`, or ""."""
        return self._core.description

    @property
    def seed(self) -> int:
        """What all of a run's random draws derive from."""
        return self._core.seed

    @property
    def nodes(self) -> int:
        """Number of hosts."""
        return self._core.nodes

    @property
    def hardware(self) -> str:
        """Name of the hardware profile."""
        return self._core.hardware

    @property
    def workload(self) -> str:
        """Kind of the workload."""
        return self._core.workload

    @property
    def checks(self) -> list[str]:
        """The models that a run is checked against."""
        return self._core.check

    @property
    def sweep_axes(self) -> dict[str, list[str] | Uniform | Choice]:
        """The scenario's own `sweep:`: dotted keys and their values as written, ranges written out, or what they are
        drawn from."""
        from .points import Choice, Uniform

        out: dict[str, list[str] | Uniform | Choice] = {}
        for key, values, kind, log in self._core.sweep:
            out[key] = (Uniform(values[0], values[1], log=log) if kind == "uniform" else Choice(values) if kind == "choice"
                        else values)
        return out

    @property
    def sweep_samples(self) -> tuple[int, int]:
        """The `samples` and `sample_seed` of the scenario's own `sweep:`."""
        return self._core.samples, self._core.sample_seed

    @property
    def inputs(self) -> list[tuple[str, str]]:
        """The files that it was read from beside its own: (key, file) of profiles, those that they start from, a platform."""
        return self._core.inputs

    def effective(self) -> dict[str, Any]:
        """The effective configuration: every dotted key with its value, defaults filled, hardware included.

        Times, sizes and rates are texts with a unit ("50ns"); counts are int, switches bool, lists lists of str.
        """
        return dict(self._core.effective())

    def config_hash(self) -> str:
        """16 hexadecimal digits that are equal for two scenarios which run alike.

        A hash of the effective configuration without name, description, trace path and what a run may take of the machine.
        """
        config = {k: v for k, v in self.effective().items() if k not in _WITHOUT_EFFECT}
        text = json.dumps(config, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """The effective configuration as nested dicts."""
        root: dict[str, Any] = {}
        for key, value in self.effective().items():
            *path, last = key.split(".")
            place = root
            for part in path:
                place = place.setdefault(part, {})
            place[last] = value
        root["hardware"] = {"name": self.hardware, **root["hardware"]}
        return root

    def dump(self) -> str:
        """The effective configuration as YAML that can be read back."""
        return "\n".join(_yaml_lines(self.to_dict(), "")) + "\n"

    def __repr__(self) -> str:
        return (f"Scenario({self.name!r}, workload={self.workload!r}, nodes={self.nodes}, hardware={self.hardware!r}, "
                f"seed={self.seed})")

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.dump())}</pre>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.effective() == other.effective()

    def __hash__(self) -> int:
        return hash(self.config_hash())

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (self._file, self._text, self._overrides, type(self),
                           self._values if self._values.hardware else _Values.of(self)))


def _yaml_lines(tree: Mapping[str, Any], indent: str) -> list[str]:
    lines = []
    for key, value in tree.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}{key}:", *_yaml_lines(value, indent + "  ")]
        else:
            lines.append(f"{indent}{key}: {yaml_text(value)}")
    return lines


def _rebuild(file: str, text: str, overrides: list[tuple[str, str]], kind: type[Scenario] = Scenario,
             values: _Values = _Values()) -> Scenario:
    scenario = kind.__new__(kind)
    scenario._file, scenario._text, scenario._overrides = file, text, overrides
    scenario._values = values
    scenario._core = _core.parse_scenario(text, file, values.among(overrides))
    return scenario


def scenarios() -> list[str]:
    """Names of the scenarios that come with the package: what `run`, `Scenario` and the others take in place of a path.

    >>> "quickstart" in scenarios() and "fabric/flow" in scenarios()
    True
    """
    return _core.scenario_names()


def hardware(profile: str | os.PathLike[str] | Mapping[str, Any]) -> dict[str, Any]:
    """A hardware profile as a value: every field by group. It goes wherever a profile does, and to workers that do not have
    its file.

    Args:
        profile: a name, a file, or a mapping such as ``{"base": "cx5-roce-25g", "nic": {"max_rd_atomic": 4}}``.

    Raises:
        InputError: a mistake in it.

    >>> hardware("cx5-roce-25g")["link"]["rate"]
    '25Gbps'
    """
    yaml_text(profile, "profile")  # what it is not, is told by the argument's name
    scenario = Scenario({"hardware": profile, "topology": {"nodes": 2}, "workload": {"kind": "barrier"}})
    values: dict[str, Any] = scenario.to_dict()["hardware"]
    return values


def list_hardware() -> list[str]:
    """Names of the hardware profiles.

    >>> "model-weak" in list_hardware()
    True
    """
    return _core.hardware_names()


def list_topologies() -> list[str]:
    """Kinds of topology.

    >>> "star" in list_topologies()
    True
    """
    return _core.topology_kinds()


def list_workloads() -> list[str]:
    """Kinds of workload.

    >>> "barrier" in list_workloads()
    True
    """
    return _core.workload_kinds()


def command_of(scenario: Scenario) -> str:
    """The command line that does the same run; for a scenario that is no file, the Python call."""
    if not scenario._stands_alone:
        return "a Python program: loco_sim.Program(...).run(...)"
    overrides = " ".join(f"--set {shlex.quote(f'{key}={value}')}" for key, value in scenario._overrides)
    if os.path.exists(scenario.file):
        return f"loco-sim run {shlex.quote(scenario.file)} {overrides}".strip()
    return f"loco-sim run scenario.yaml     # with this configuration in scenario.yaml\n{scenario.dump()}"
