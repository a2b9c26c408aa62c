"""The schema that editors use and the loader agree: on every scenario of the tree, on broken ones, on generated ones.

The schema knows keys, types, choices and the ranges of integers. The loader also knows ranges of quantities and what fits
together. So whatever the loader accepts the schema must accept, and whatever is wrong with a key, a type, a choice or an
integer both must refuse.
"""

import json
import os
import pathlib
import re

import pytest

import loco_sim as ls

ROOT = pathlib.Path(__file__).parents[2]
jsonschema = pytest.importorskip("jsonschema")
yaml = pytest.importorskip("yaml")
SCHEMA = json.loads((ROOT / "docs/scenario.schema.json").read_text())
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def loads(data):
    """None, or what the loader says is wrong."""
    try:
        ls.Scenario(data)
    except ls.InputError as error:
        return error
    return None


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").rglob("*.yaml")), ids=lambda p: p.stem)
def test_scenarios_of_the_tree(path):
    data = yaml.safe_load(path.read_text())
    assert VALIDATOR.is_valid(data), next(VALIDATOR.iter_errors(data)).message
    if data.get("workload", {}).get("kind") != "programs":  # `loco-sim exec` reads those
        assert loads(data) is None or loads(path) is None


BARRIER = {"workload": {"kind": "barrier"}}
BROKEN = [
    {}, {"workload": {}}, {"workload": {"kind": "barier"}}, {"workload": "barrier"}, {**BARRIER, "topolgy": {}},
    {**BARRIER, "seed": "one"}, {**BARRIER, "seed": -1}, {**BARRIER, "seed": 1.5}, {**BARRIER, "topology": {"nodes": 1}},
    {**BARRIER, "topology": {"nodes": 4096}}, {**BARRIER, "topology": {"kind": "sphere"}}, {**BARRIER, "topology": [1]},
    {**BARRIER, "fabric": {"link": {"rate": "fast"}}}, {**BARRIER, "fabric": {"link": {"delay": 50}}},
    {**BARRIER, "check": ["sv", "sv"]}, {**BARRIER, "check": ["tso"]}, {**BARRIER, "trace": {"level": "all"}},
    {**BARRIER, "series": {"interval": "soon"}}, {**BARRIER, "sweep": {"seed": 3}}, {**BARRIER, "sweep": {"seed": []}},
    {**BARRIER, "sweep": {"seed": {"range": [1, 2]}}}, {**BARRIER, "sweep": {"seed": {"rnage": [1, 2, 1]}}},
    {**BARRIER, "sweep": {"seed": {"uniform": [1, 2], "log_uniform": [1, 2]}}}, {**BARRIER, "sweep": {"samples": 0}},
    {**BARRIER, "hardware": {"base": "cx5-roce-25g", "nic": {"mtu": 4}}}, {"workload": {"kind": "barrier", "size": 8}},
    {"workload": {"kind": "barrier", "iterations": 0}}, {"workload": {"kind": "barrier", "fence": "some"}},
    {"workload": {"kind": "programs"}}, {"workload": {"kind": "programs", "hosts": {"0": {"after": "1ms"}}}},
    {"workload": {"kind": "programs", "hosts": {"one": ["rping"]}}}, {"workload": {"kind": "programs", "hosts": {"0": []}}},
]


@pytest.mark.parametrize("data", BROKEN, ids=json.dumps)
def test_both_refuse_what_is_broken(data):
    assert not VALIDATOR.is_valid(data)
    assert loads(data) is not None


def leaves(schema, prefix=()):
    """(path, schema) of every key that has a value of its own."""
    for name, below in schema.get("properties", {}).items():
        if "properties" in below:
            yield from leaves(below, (*prefix, name))
        elif "oneOf" not in below and "$ref" not in below and name not in ("hardware", "sweep", "transport"):
            yield (*prefix, name), below


LEAVES = sorted(leaves(SCHEMA), key=lambda leaf: leaf[0])
WORKLOADS = {kind["properties"]["kind"]["const"]: sorted(leaves(kind, ("workload",)), key=lambda leaf: leaf[0])
             for kind in SCHEMA["properties"]["workload"]["oneOf"]
             if kind["properties"]["kind"]["const"] != "programs"}  # `loco-sim exec` reads those


def units(leaf):
    return re.search(r"\(([A-Za-z|]+)\)", leaf["pattern"])[1].split("|")


def put(data, path, value):
    place = data
    for name in path[:-1]:
        place = place.setdefault(name, {})
    place[path[-1]] = value


def test_generated_scenarios():
    hypothesis = pytest.importorskip("hypothesis")
    st = hypothesis.strategies

    def right(leaf):
        if "const" in leaf:
            return st.just(leaf["const"])
        if "enum" in leaf:
            return st.sampled_from(leaf["enum"])
        if "anyOf" in leaf:
            return st.lists(st.sampled_from(leaf["anyOf"][0]["enum"]), unique=True, max_size=3)
        if "pattern" in leaf:
            return st.builds("{}{}".format, st.integers(0, 2000), st.sampled_from(units(leaf)))
        if leaf["type"] == "integer":
            low = leaf["minimum"]
            return st.integers(low, min(leaf.get("maximum", low + 10**6), low + 10**6))
        if leaf["type"] == "boolean":
            return st.booleans()
        if leaf["type"] == "array":
            return st.just([])
        return st.sampled_from(["a", "some words", "x-1"])

    def wrong(leaf):
        if "enum" in leaf or "anyOf" in leaf or "const" in leaf:
            return st.sampled_from(["no such word", {"a": 1}])
        if "pattern" in leaf:
            return st.sampled_from(["12 parsecs", "-5" + units(leaf)[0], {"a": 1}, [1], True])
        if leaf["type"] == "integer":
            return st.sampled_from([leaf["minimum"] - 1, "many", {"a": 1}, True, 1.5])
        if leaf["type"] == "boolean":
            return st.sampled_from([3, "maybe", {"a": 1}])
        if leaf["type"] == "array":
            return st.sampled_from([{"a": 1}, 3])
        return st.sampled_from([{"a": 1}, [1]])

    @st.composite
    def scenarios(draw):
        """(scenario, is one of its keys wrong by itself)"""
        kind = draw(st.sampled_from(sorted(WORKLOADS)))
        data = {"workload": {"kind": kind}}
        keys = [leaf for leaf in LEAVES + WORKLOADS[kind] if leaf[0] not in (("workload", "kind"), ("workloads",))]
        chosen = draw(st.lists(st.sampled_from(keys), max_size=4, unique_by=lambda leaf: leaf[0]))
        spoilt = draw(st.integers(-4, len(chosen) - 1)) if chosen else -1
        for i, (path, leaf) in enumerate(chosen):
            put(data, path, draw(wrong(leaf) if i == spoilt else right(leaf)))
        return data, spoilt >= 0

    accepted = [0]

    @hypothesis.settings(max_examples=600, deadline=None, derandomize=True, database=None,
                         suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(scenarios())
    def agree(drawn):
        data, spoilt = drawn
        schema_says, loader_says = VALIDATOR.is_valid(data), loads(data)
        accepted[0] += loader_says is None
        if spoilt:
            assert not schema_says and loader_says is not None, data
        else:
            assert schema_says, (data, next(VALIDATOR.iter_errors(data)).message)

    agree()
    assert accepted[0] > 60, "generated scenarios are not all refused for what does not fit together"


def hardware_schema():
    """That of a profile's file, made of what the scenario's says of the key `hardware`."""
    fields = next(s for s in SCHEMA["properties"]["hardware"]["anyOf"] if s.get("type") == "object")["properties"]
    return {"$schema": SCHEMA["$schema"], "$id": "urn:loco-sim:hardware", "title": "loco-sim hardware profile",
            "type": "object", "additionalProperties": False,
            "properties": {"name": {"type": "string"}, "description": {"type": "string"}, **fields}}


def test_hardware_files_have_a_schema():
    path = ROOT / "docs/hardware.schema.json"
    text = json.dumps(hardware_schema(), indent=2) + "\n"
    if os.environ.get("LOCO_SIM_UPDATE"):
        path.write_text(text)
    assert path.read_text() == text
    validator = jsonschema.Draft7Validator(json.loads(text))
    for file in sorted((ROOT / "hardware").glob("*.yaml")):
        text = re.sub(r": (on|off)\b", r": '\1'", file.read_text())  # of YAML 1.2 no booleans
        assert validator.is_valid(yaml.safe_load(text)), file.name
    for wrong in ({"nic": {"mtu": 4}}, {"cpu": {"load": "fast"}}, {"bse": "cx5-roce-25g"}):
        assert not validator.is_valid(wrong)


def test_litmus_files_have_a_schema():
    validator = jsonschema.Draft7Validator(json.loads((ROOT / "docs/litmus.schema.json").read_text()))
    for file in sorted([*(ROOT / "tests/litmus").rglob("*.yaml"), *(ROOT / "scenarios/museum").glob("*.yml")]):
        for document in yaml.safe_load_all(file.read_text()):
            if document is not None:
                assert validator.is_valid(document), (file.name, document.get("name"), next(validator.iter_errors(document)).message)
    good = {"threads": [{"node": 1, "code": "a = x"}], "locations": {"x": {"node": 1}}}
    for wrong in ({}, {**good, "thraeds": []}, {**good, "threads": [{"code": "a = x"}]}, {**good, "atomicity": "some"},
                  {**good, "locations": {"x": {"nod": 1}}}, {**good, "outcomes": {"alowed": []}}):
        assert not validator.is_valid(wrong)
        with pytest.raises(ls.InputError):
            ls.litmus(json.dumps(wrong))


def test_schemas_have_names():
    for file in (ROOT / "docs").glob("*.schema.json"):
        assert json.loads(file.read_text())["$id"] == f"urn:loco-sim:{file.name.removesuffix('.schema.json')}"


@pytest.mark.parametrize("folder, kind, schema", [
    ("scenarios", "yaml", "scenario"), ("scenarios", "yml", "litmus"), ("hardware", "yaml", "hardware"),
    ("tests/litmus", "yaml", "litmus")])
def test_editors_find_the_schema_of_each_file(folder, kind, schema):
    files = sorted((ROOT / folder).rglob(f"*.{kind}"))
    assert files
    for file in files:
        [found] = re.findall(r"^# yaml-language-server: \$schema=(.*)$", file.read_text(), re.MULTILINE)
        assert (file.parent / found).resolve() == ROOT / f"docs/{schema}.schema.json", file
    settings = json.loads((ROOT / ".vscode/settings.json").read_text())
    assert all((ROOT / path).exists() for path in settings["yaml.schemas"])
    patterns = settings["yaml.schemas"][f"docs/{schema}.schema.json"]
    covered = {file for pattern in ([patterns] if isinstance(patterns, str) else patterns) for file in ROOT.glob(pattern)}
    assert set(files) <= covered
