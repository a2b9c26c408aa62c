"""perftest's measurements: latency and bandwidth of verbs between two simulated hosts."""

from __future__ import annotations

import operator
import os
from contextlib import suppress
from numbers import Integral
from typing import Any, Iterable, Mapping, Sequence

from . import _core
from .errors import InputError, RunError, _input_error
from .scenario import yaml_text
from .units import WORD_MAX, parse_quantity

__all__ = ["perf"]

_COUNT_MAX = 2**32 - 1


def perf(test: str, *, connection: str = "RC", size: int | str | Sequence[int | str] | None = None,
         hardware: str | os.PathLike[str] | Mapping[str, Any] = "cx5-roce-25g", topology: str = "back_to_back",
         iterations: int | None = None, queue_pairs: int = 1, threads: int = 1, depth: int = 128, post_list: int = 1,
         inline_max: int | None = None, region: int | str | None = None, device_memory: bool = False,
         copy: bool = False, seed: int = 1) -> list[dict[str, Any]]:
    """Measures verbs between two hosts as perftest does: the rows of ``loco-sim perf TEST --json``, one for each size.

    Args:
        test: "write_lat", "read_lat", "send_lat", "atomic_lat", "write_bw", "read_bw", "send_bw", "atomic_bw"; bare
            DMA: "dma_read_lat", "dma_write_read_lat", "dma_read_bw", "dma_write_bw".
        connection: "RC"; "UC", which has writes and sends; or "UD", sends up to the MTU. Without reliability messages that
            find no receive are lost, and the figures are the sender's.
        size: bytes of a message, or text such as "4KiB", or several; "all" is 2, 4, ... 8388608 bytes. Perftest's when
            left out: 2 for latency, 65536 for bandwidth. Atomics always have 8.
        hardware: a profile's name or file, or a mapping that starts from one:
            ``{"base": "cx5-roce-25g", "link": {"mtu": 1024}}``.
        topology: "back_to_back", "star" or "loopback" (both sides on one host); bare DMA has no network.
        iterations: messages of each queue pair; perftest's number when left out.
        queue_pairs: in all; latency tests have one.
        threads: that share the queue pairs out among them.
        depth: messages of a queue pair under way. Latency tests have one.
        post_list: work requests behind one doorbell.
        inline_max: largest message, in bytes, that goes into the work request; perftest's when left out.
            Writes and sends.
        region: bytes of remote memory over which messages are spread, or text; one place each when left out. Not of
            write_lat and sends; of bare DMA the host's own memory.
        device_memory: the remote memory is on its NIC. Not of write_lat, send_lat and bare DMA.
        copy: both sides copy each message, as MPI does with short ones: write_lat and send_lat.
        seed: of the places in `region`; without one there is nothing to draw.

    Returns:
        Rows with ``bytes``, ``iterations`` (messages in all) and ``cache_misses`` (of both NICs). Latency tests:
        ``t_min_us``, ``t_max_us``, ``t_typical_us`` (the median), ``t_avg_us``, ``t_stdev_us``, ``t_99_us``, ``t_999_us``,
        in microseconds; of writes and sends half a round trip. Bandwidth tests: ``bw_peak_mib_s``, ``bw_average_mib_s``
        (2**20 bytes a second), ``bw_average_gbps``, ``msg_rate_mpps`` (million messages a second of simulated time),
        ``limited_by`` (text) and ``busiest`` (resources and the share of the time in which each was busy).

    Raises:
        InputError: a test, a profile or a number that does not exist or does not fit, an option that the test has not.
        RunError: a work request failed.

    >>> [row] = perf("write_lat", size=64, iterations=100)
    >>> 0 < row["t_min_us"] <= row["t_typical_us"] <= row["t_max_us"]
    True
    """
    _one_of("test", test, _core.PERF_TESTS)
    _one_of("connection", connection, _core.PERF_CONNECTIONS)
    _one_of("topology", topology, _core.PERF_TOPOLOGIES)
    counts = {"iterations": 1 if iterations is None else iterations, "queue_pairs": queue_pairs, "threads": threads,
              "depth": depth, "post_list": post_list}
    for key, count in counts.items():
        _in_range(key, count, 1, _COUNT_MAX)
    if inline_max is not None:
        _in_range("inline_max", inline_max, 0, _COUNT_MAX)
    _in_range("seed", seed, 0, WORD_MAX)
    if isinstance(size, (bytes, bytearray)):  # lists of numbers, to Python
        raise TypeError(f"size: expected a number, text such as 4KiB, or several, found {size!r}")
    sizes: list[int | None] = [None]
    if isinstance(size, str) and size == "all":
        sizes = list(_core.perf_sizes(test, connection, yaml_text(hardware)))
    elif isinstance(size, str) or (size is not None and not isinstance(size, Iterable)):
        sizes = [_bytes("size", size)]
    elif size is not None:
        sizes = [_bytes("size", s) for s in size]
    if not sizes:
        raise ValueError("size: expected one value or more, found none")
    try:
        return [_core.run_perf(test, connection, yaml_text(hardware), topology, s, iterations or 0, queue_pairs, threads,
                               depth, post_list, inline_max, 0 if region is None else _bytes("region", region),
                               device_memory, copy, seed) for s in sizes]
    except InputError:
        raise
    except ValueError as error:
        raise _input_error(f"perf {test}: {error}") from None
    except RuntimeError as error:
        raise RunError(f"perf {test}: {error}") from None


def _wrong(key: str, expected: str, found: object) -> InputError:
    return _input_error(f"perf: {key}: expected {expected}, found {found!r}", key=key, expected=expected, found=repr(found))


def _in_range(key: str, found: object, least: int, most: int) -> None:
    if not hasattr(found, "__index__") or not least <= operator.index(found) <= most:  # type: ignore[arg-type]
        raise _wrong(key, f"an integer from {least} to {most}", found)


def _one_of(key: str, found: str, known: Sequence[str]) -> None:
    if found not in known:
        raise _wrong(key, f"one of {', '.join(known)}", found)


def _bytes(key: str, value: int | str) -> int:
    amount, kind = 0, ""
    if isinstance(value, Integral):
        amount, kind = int(value), "size"
    elif isinstance(value, str):
        with suppress(ValueError):
            amount, kind = parse_quantity(value, of_size=True)
    if kind != "size" or not 1 <= amount < 2**63:
        raise _wrong(key, "a size of at least 1 byte, such as 64 or 4KiB", value)
    return amount
