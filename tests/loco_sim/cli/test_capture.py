"""loco-sim run --pcap: a file of RoCE v2 packets that an own reader, and tshark where there is one, take apart."""

import collections
import pathlib
import shutil
import struct
import subprocess

import pytest


def blocks(data: bytes):
    """(type, body) of each block of a pcapng file; its two lengths agree."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0
        assert struct.unpack_from("<I", data, at + length - 4) == (length,)
        yield kind, data[at + 8 : at + length - 4]
        at += length
    assert at == len(data)


def options(body: bytes):
    at = 0
    while True:
        code, length = struct.unpack_from("<HH", body, at)
        if code == 0:
            return
        yield code, body[at + 4 : at + 4 + length]
        at += 4 + (length + 3) // 4 * 4


Packet = collections.namedtuple("Packet", "interface time length bytes")


def read(path: pathlib.Path):
    """Names of the interfaces, their digits, packets."""
    names, digits, packets = [], [], []
    for kind, body in blocks(path.read_bytes()):
        if kind == 1:
            assert struct.unpack_from("<H", body) == (1,)  # Ethernet
            found = dict(options(body[8:]))
            names.append(found[2].decode())
            digits.append(found[9][0])
        elif kind == 6:
            interface, high, low, kept, length = struct.unpack_from("<IIIII", body)
            packets.append(Packet(interface, high << 32 | low, length, body[20 : 20 + kept]))
    return names, digits, packets


def roce(packet: Packet):
    """Opcode, PSN, extension headers and payload; lengths of IPv4 and UDP fit the frame's."""
    frame = packet.bytes
    assert frame[12:14] == b"\x08\x00" and frame[23] == 17
    assert struct.unpack_from(">H", frame, 16) == (packet.length - 14,)
    assert struct.unpack_from(">HH", frame, 36) == (4791, packet.length - 34)
    header = sum(struct.unpack(">10H", frame[14:34]))
    assert (header & 0xFFFF) + (header >> 16) == 0xFFFF
    return frame[42], int.from_bytes(frame[51:54], "big"), frame[54:]


WRITE_ONLY, ACK = 0x0A, 0x11


@pytest.fixture(scope="module")
def quickstart(program, tmp_path_factory):
    path = tmp_path_factory.mktemp("capture") / "run.pcapng"
    done = subprocess.run([program, "run", "quickstart", "--pcap", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return path


def test_each_packet_is_on_each_link_once_and_in_order(quickstart):
    names, digits, packets = read(quickstart)
    assert len(set(names)) == len(names) and set(digits) == {12}
    assert [p.time for p in packets] == sorted(p.time for p in packets)
    count = collections.Counter(names[p.interface] for p in packets)
    # Around one switch what enters it leaves it.
    assert sum(n for name, n in count.items() if name.startswith("h")) == sum(
        n for name, n in count.items() if name.startswith("s"))
    assert {roce(p)[0] for p in packets} >= {WRITE_ONLY, ACK}


def test_requests_of_a_queue_pair_have_consecutive_numbers(quickstart):
    names, _, packets = read(quickstart)
    last = {}
    for p in packets:
        opcode, psn, _ = roce(p)
        if opcode != WRITE_ONLY or not names[p.interface].startswith("h"):
            continue
        flow = (p.bytes[26:34], p.bytes[46:50])  # addresses, queue pair
        assert psn > last.get(flow, -1)
        last[flow] = psn


def test_links_payload_and_nanoseconds_can_be_chosen(loco_sim, tmp_path):
    path = tmp_path / "one.pcapng"
    done = loco_sim("run", "traffic/flows", "--pcap", path, "--set", "capture.links=[s1-s5]", "--set",
                    "capture.payload=16B", "--set", "capture.resolution=ns", "--set", "workload.until=200us")
    assert done.returncode == 0, done.stderr
    names, digits, packets = read(path)
    assert names == ["s1-s5"] and digits == [9]
    long = [p for p in packets if p.length > 1000]
    assert long
    for p in long:
        opcode, _, rest = roce(p)
        assert len(rest) == 16 + (16 if opcode in (0x06, WRITE_ONLY) else 0)  # RETH


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (["--set", "capture.links=[s0-h99]"], "capture.links: expected a direction of a cable of this network"),
        (["--set", "schedule=random"], "capture.path: expected schedule: timed with it"),
        (["--set", "hardware=model-weak"], "capture.path: expected hardware with a network"),
        (["--set", "capture.resolution=us"], "capture.resolution: expected ps or ns"),
    ],
)
def test_what_cannot_be_captured_is_refused(loco_sim, tmp_path, settings, expected):
    path = tmp_path / "no.pcapng"
    done = loco_sim("run", "quickstart", "--pcap", path, *settings)
    assert done.returncode == 2
    assert expected in done.stderr and done.stderr.count("\n") == 1
    assert not path.exists()


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_finds_nothing_malformed(quickstart):
    bad = subprocess.run(["tshark", "-r", quickstart, "-Y", "_ws.malformed || _ws.expert"],
                         capture_output=True, text=True, check=True)
    assert bad.stdout == ""
    known = subprocess.run(["tshark", "-r", quickstart, "-T", "fields", "-e", "_ws.col.Protocol"],
                           capture_output=True, text=True, check=True)
    assert set(known.stdout.split()) == {"RRoCE"}
    shown = subprocess.run(["tshark", "-r", quickstart, "-T", "fields", "-e", "infiniband.bth.opcode"],
                           capture_output=True, text=True, check=True)
    assert len(shown.stdout.split()) == len(read(quickstart)[2])
