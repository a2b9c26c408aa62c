"""Arguments that are none, of another type or out of range: one line that names them, never the text of a binding."""

import numpy
import pytest

import loco_sim as ls
from loco_sim import verbs

SAFE = "process 1 { shared Y = 1; } assert final (Y == 1);"
TEST = 'name: t\nmodel: rdmawait\nlocations: {x: {node: 1}}\nthreads:\n  - {node: 0, code: "put(x, 1)"}\n'


def machine():
    """A machine, memory of each of its two hosts, a completion queue, and two queue pairs that are connected."""
    made = verbs.Machine(nodes=2)
    cqs = [made.create_cq(n) for n in range(2)]
    qps = [made.create_qp(n, cqs[n]) for n in range(2)]
    made.connect(*qps)
    return made, made.register(0, 64), made.register(1, 64), cqs[0], qps[0]


def yields(call):
    """Runs a thread that does one call."""
    made, here, there, cq, qp = machine()

    def program(thread):
        return (yield call(thread, here, there, cq, qp))

    made.spawn(0, program)
    made.run()


def send(**changed):
    yields(lambda thread, here, there, cq, qp: thread.post_send(**{
        "qp": qp, "opcode": "rdma_write", "local": here, "remote": there, **changed}))


def called(name):
    """The method of a machine, with its first arguments where those are not in question."""
    made, here, _, cq, qp = machine()
    return {"create_qp": lambda **a: made.create_qp(**{"node": 0, "send_cq": cq, **a}),
            "create_cq": lambda **a: made.create_cq(**{"node": 0, **a}),
            "register": lambda **a: made.register(**{"node": 0, "length": 8, **a}),
            "activate": lambda **a: made.activate(**{"qp": made.create_qp(0, cq, type="UD"), **a}),
            "post_recv": lambda **a: made.post_recv(**{"qp": qp, **a}), "read": made.read, "word": made.word,
            "write": lambda **a: made.write(**{"region": here, "data": b"", **a}),
            "connect": lambda **a: made.connect(**{"a": qp, "b": qp, **a}),
            "spawn": lambda **a: made.spawn(0, **a), "run": made.run}[name]


HUGE = 10**30
OF_MACHINE = [
    ("register", "node", [None, 1.5, "x", -1, 2, HUGE]), ("register", "length", [None, 0, HUGE]),
    ("create_cq", "entries", [None, 0, HUGE]), ("create_qp", "send_cq", [None, 5]), ("create_qp", "recv_cq", [5]),
    ("create_qp", "type", [None, 5]), ("create_qp", "send", [None, -1, HUGE]), ("create_qp", "recv", ["", 2**32]),
    ("connect", "a", [None]), ("connect", "b", [3]), ("activate", "qkey", [None, -1, 2**32]),
    ("post_recv", "qp", [None]), ("post_recv", "wr_id", ["", -1, 2**64]), ("post_recv", "buffer", [5]),
    ("read", "region", [None]), ("word", "region", [1]), ("write", "region", [None]), ("write", "data", [None, "x", 5]),
    ("spawn", "program", [None, 5]), ("run", "max_events", [None, -1, 2**64]),
]


@pytest.mark.parametrize("method, argument, values", OF_MACHINE, ids=lambda v: v if isinstance(v, str) else "")
def test_of_a_machine(method, argument, values):
    for value in values:
        refused(lambda: called(method)(**{argument: value}), argument)


@pytest.mark.parametrize("argument, values", [
    ("qp", [None, 1]), ("opcode", [None, "nope"]), ("local", ["x", 5]), ("remote", [5]), ("imm", ["", -1, 2**32, 1.5]),
    ("wr_id", [None, -1, 2**64]), ("compare_add", [None, 1.5]), ("swap", ["x"]), ("remote_qp", [5]),
    ("remote_qkey", [None, 2**32])], ids=lambda v: v if isinstance(v, str) else "")
def test_of_a_work_request(argument, values):
    for value in values:
        refused(lambda: send(**{argument: value}), argument)


@pytest.mark.parametrize("argument, values, call", [
    ("place", [None, 1.5, -1, 2**64], lambda t, v: t.load(v)), ("value", [None, 1.5], lambda t, v: t.store(0, v)),
    ("old", ["x"], lambda t, v: t.wait_for_change(0, v)), ("cq", [None, 0], lambda t, v: t.poll_cq(v)),
    ("cq", [None], lambda t, v: t.wait_cq(v)), ("qp", [None], lambda t, v: t.post_recv(v)),
    ("picoseconds", [None, -1, 2**62 + 1, 2**63, 2**64], lambda t, v: t.compute(v))])
def test_of_a_thread(argument, values, call):
    for value in values:
        refused(lambda: yields(lambda thread, *_: call(thread, value)), argument)


def test_a_receive_longer_than_a_message_can_be():
    made, _, _, cq, qp = machine()
    long = made.register(0, 2**32)
    refused(lambda: made.post_recv(qp, long), "buffer")
    made.post_recv(qp, long[:2**32 - 1])


def test_numbers_of_numpy_are_numbers():
    made, here, *_ = machine()
    assert made.register(numpy.int64(1), numpy.uint32(8)).length == 8 and here[numpy.int64(8):].length == 56
    for wrong in (slice("a", 8), slice(1.5, 8), slice(0, None, 2), 3):
        with pytest.raises(TypeError, match="expected bytes such as"):
            here[wrong]


def test_time_does_not_turn_round():
    """Half of the time that 63 bits hold is there: 2^62 ps, once."""
    made = verbs.Machine(nodes=2)

    def program(thread):
        yield thread.compute(2**62)
        at = yield thread.now()
        yield thread.compute(1)
        return at

    made.spawn(0, program)
    with pytest.raises(ValueError, match=f"compute: expected to end within {2**62} ps .*, found 1 ps at {2**62}"):
        made.run()


@pytest.mark.parametrize("argument, values", [
    ("network", [None, 5]), ("engine", [None]), ("pending", [None, 1.5, 0, 2**32]), ("max_memory", ["", -1, 2**64]),
    ("max_seconds", [None, "x", -1, float("nan")])], ids=lambda v: v if isinstance(v, str) else "")
def test_of_verify(argument, values):
    for value in values:
        refused(lambda: ls.verify(SAFE, **{argument: value}), argument)


def test_of_others(barrier):
    trace = ls.run(barrier).trace
    refused(lambda: ls.fit("model-weak", routing=5), "routing")
    refused(lambda: ls.litmus(TEST, flip=5), "flip")
    refused(lambda: trace.to_dot(limit=2**64), "limit")
    refused(lambda: ls.check(trace, max_violations=2**64), "max_violations")
    refused(lambda: ls.perf("write_lat", size=b"x"), "size")
    refused(lambda: ls.perf("write_lat", size=[]), "size")
    refused(lambda: ls.litmus([]), "tests")
    refused(lambda: list(ls.sweep_rows(barrier, {"topology.nodes": [2]}, jobs=HUGE)), "jobs")


@pytest.mark.parametrize("value", [3, None, 2.5, [], object()], ids=type)
def test_of_paths(barrier, value):
    """What Python says of them itself is "expected str, bytes or os.PathLike object"."""
    result = ls.run(barrier)
    for call, argument in ((ls.run, "scenario"), (ls.Scenario, "scenario"), (ls.validate, "scenario"),
                           (lambda v: ls.sweep(v, {"seed": [1]}), "scenario"), (ls.litmus, "tests"), (ls.robust, "tests"),
                           (lambda v: ls.litmus([v]), "tests"), (ls.verify, "program"), (ls.read_trace, "path"),
                           (ls.check, "trace"), (result.save, "path"), (result.trace.write, "path")):
        refused(lambda: call(value), argument)


@pytest.mark.parametrize("argument, values", [
    ("hardware", [3, None, []]), ("overrides", [3, None, "x", {1: 2}]), ("environment", [3, None, {"A": 1}, {1: "a"}]),
    ("trace", [3, []]), ("timeout", ["1", [], -1, 0]), ("check", [3, None]), ("every_packet", [3, None])])
def test_of_exec(argument, values):
    for value in values:
        refused(lambda: ls.exec(["true"], hosts=1, **{argument: value}), argument)


def test_of_the_programs_of_exec():
    for value in (3, None, object(), {1: 2}, b"x", 2.5, [], [None], [["true"]]):
        refused(lambda: ls.exec(value), "programs")
        refused(lambda: ls.exec(["true"], value), "programs")
    refused(ls.exec, "programs")
    refused(lambda: ls.exec("true", "true"), "programs")  # whose characters are no words


@pytest.mark.parametrize("value", [object(), b"x", {"a": object()}, [object()], {1, object()}], ids=type)
def test_values_that_yaml_has_no_words_for(barrier, value):
    """Which key or argument has them is said."""
    refused(lambda: ls.run(barrier, overrides={"topology.nodes": value}), "topology.nodes")
    refused(lambda: ls.run({**barrier, "topology": {"nodes": value}}), "scenario.topology.nodes")
    refused(lambda: ls.exec(["true"], overrides={"link.delay": value}), "link.delay")
    for call, argument in ((ls.hardware, "profile"), (ls.fit, "hardware"), (lambda v: ls.perf("write_lat", hardware=v), "hardware"),
                           (lambda v: ls.verify(SAFE, replay_on=[v]), "replay_on"),
                           (lambda v: ls.litmus(TEST)[0].witness({"x": v}), "outcome.x")):
        refused(lambda: call(value), argument)


@pytest.mark.parametrize("value", [3, object(), [], b"x", {1: 2}], ids=type)
def test_of_files_that_are_written_and_results(barrier, value):
    if not isinstance(value, bytes):
        for sweep in (ls.sweep, lambda *a, **o: list(ls.sweep_rows(*a, **o))):
            refused(lambda: sweep(barrier, {"seed": [1]}, out=value), "out")
        refused(lambda: ls.report(ls.run(barrier), value), "path")
    refused(lambda: ls.report(value), "result")
    if not isinstance(value, (bytes, list, dict)):
        refused(lambda: ls.verify(SAFE, replay_on=value), "replay_on")
        refused(lambda: ls.custom_topology([value]), "graph")


def test_bytes_are_no_tests():
    refused(lambda: ls.litmus(b"name: t"), "tests")
    refused(lambda: ls.robust(b"name: t"), "tests")


@pytest.mark.parametrize("text", ["\ud800", "a\udcffb"])
def test_text_that_no_file_could_hold(barrier, text):
    """Lone surrogates, as os.fsdecode() makes them of bytes that are no UTF-8."""
    for call in (lambda: ls.run(barrier, overrides={"name": text}), lambda: ls.run(barrier, overrides={text: 1}),
                 lambda: ls.run({**barrier, "name": text}), lambda: ls.Scenario.from_yaml(f"name: {text}"),
                 lambda: ls.litmus(TEST + f"# {text}\n"), lambda: ls.verify(SAFE + f"// {text}\n@")):
        refused(call, "")


def test_a_program_that_is_no_text(tmp_path):
    file = tmp_path / "p.rma"
    file.write_bytes(bytes(range(256)))
    with pytest.raises(ls.InputError, match="p.rma:1:1: expected "):
        ls.verify(file)
    with pytest.raises(ls.InputError, match="p.rma:1:1: expected "):
        ls.verify(str(file).encode())


def test_names_of_files_in_messages_are_one_line(barrier, tmp_path):
    name = f"{tmp_path}/no\nfolder/x"
    result = ls.run(barrier)
    for call in (lambda: result.report(name), lambda: ls.report(name), lambda: result.report(f"{tmp_path}/a\0b"),
                 lambda: list(ls.sweep_rows(barrier, {"seed": [1]}, out=name)),
                 lambda: list(ls.sweep_rows(barrier, {"seed": [1]}, out=f"{name}.csv")),
                 lambda: list(ls.sweep_rows(barrier, {"seed": [1]}, out=b"x"))):
        refused(call, "")


def refused(call, name):
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    said = str(error.value)
    assert "expected " in said and "\n" not in said and name in said.split("expected")[0], said


def test_arguments_that_are_none_are_named():
    result = ls.run("quickstart")
    for call, message in (
            (lambda: ls.verify("scenarios/verify/lost_update.rma", where="x"), "where: expected True or False, found 'x'"),
            (lambda: ls.check(result.trace, tower={1: 2}), "tower: expected True or False, found {1: 2}"),
            (lambda: result.throughput_series(2**63), "bucket: expected a time such as 10us, found 9223372036854775808"),
            (lambda: result.why("x"), "operation: expected one of"),
            (lambda: ls.Program({0: lambda ctx: (yield ctx.load(2))}).run(), "name: expected the name of a variable, found 2"),
            (lambda: ls.Program({0: lambda ctx: (yield (0,))}).run(), "expected an operation such as ctx.load")):
        with pytest.raises((TypeError, ValueError)) as raised:
            call()
        assert message in str(raised.value)
