"""perftest's measurements: latency and bandwidth of verbs between two simulated hosts."""

from __future__ import annotations

import os
from typing import Any, Iterable, Mapping, Sequence

from . import _core
from .errors import InputError, RunError, _input_error
from .scenario import yaml_text

__all__ = ["perf"]


def perf(test: str, *, connection: str = "RC", size: int | str | Sequence[int | str] | None = None,
         hardware: str | os.PathLike[str] | Mapping[str, Any] = "cx5-roce-25g", topology: str = "back_to_back",
         iterations: int | None = None, duration: int | str | None = None, queue_pairs: int = 1, threads: int = 1,
         depth: int = 128, rx_depth: int = 512, post_list: int = 1, signal_every: int | None = None,
         bidirectional: bool = False, inline_max: int | None = None, region: int | str | None = None,
         relaxed_ordering: bool = False, device_memory: bool = False, copy: bool = False, seed: int = 1) -> list[dict[str, Any]]:
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
        duration: picoseconds of simulated time, or text such as "10ms", to post for in place of `iterations`: bandwidth
            tests over the network.
        queue_pairs: in all; latency tests have one.
        threads: that share the queue pairs out among them.
        depth: messages of a queue pair under way. Latency tests have one.
        rx_depth: receives of a queue pair: send_bw.
        post_list: work requests behind one doorbell.
        signal_every: a completion after so many messages; perftest's number, 100, when left out.
        bidirectional: both hosts send; the figures are sums.
        inline_max: largest message, in bytes, that goes into the work request; perftest's when left out.
            Writes and sends.
        region: bytes of remote memory over which messages are spread, or text; one place each when left out. Not of
            write_lat and sends; of bare DMA the host's own memory.
        relaxed_ordering: memory that NICs write is registered so: bandwidth tests over the network, but of atomics.
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
    given = dict(locals(), hardware=yaml_text(hardware, "hardware"))
    every = isinstance(size, str) and size == "all"
    if every:
        given["size"] = None
    if isinstance(size, Iterable) and not isinstance(size, (str, bytes)):
        given["size"] = list(size)
        if not given["size"]:
            raise ValueError("size: expected one value or more, found none")
    try:
        return _core.run_perf(every, given)
    except InputError:
        raise
    except ValueError as error:
        raise _input_error(f"perf {test}: {error}") from None
    except RuntimeError as error:
        raise RunError(f"perf {test}: {error}") from None
