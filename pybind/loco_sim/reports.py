"""One self-contained HTML page about a run: no script, no network, looks right on a phone and on paper."""

from __future__ import annotations

import html
import importlib.util
import io
import json
import os
from typing import Any, Callable, Mapping

from . import __version__, _core
from ._results import require_result
from ._rows import require_folder_of
from ._shown import shown
from .errors import InputError, _input_error, _wrong_type
from .litmus_tests import LitmusResults
from .measured import Latency, rate_text, time_text
from .outcome import UNTIMED, Outcome

__all__ = ["report"]

_FILE_BYTES_MAX = 1 << 28

_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1f24; background: #fff; max-width: 60rem; margin: 0 auto;
       padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: .5rem 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
.wide { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem; text-align: right; border-bottom: 1px solid #d8dee4; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
pre { background: #f6f8fa; padding: .75rem; border-radius: 6px; white-space: pre-wrap; font-size: .85rem; margin: 0; }
.ok { color: #116329; } .bad { color: #b42318; } .verdict { font-weight: 600; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1rem; }
figure { margin: 0; min-width: 0; } figure svg { width: 100%; height: auto; display: block; }
figcaption { font-size: .9rem; color: #57606a; }
footer { margin: 2rem 0 1rem; color: #57606a; font-size: .85rem; }
@media (max-width: 36rem) {
  .latency, .latency tbody, .latency tr, .latency td { display: block; width: 100%; }
  .latency tr:first-child { display: none; } .latency tr { margin-bottom: .75rem; }
  .latency td { display: flex; justify-content: space-between; gap: 1rem; white-space: normal; }
  .latency td:first-child { font-weight: 600; } .latency td[data-of]::before { content: attr(data-of); color: #57606a; }
}
@media print { body { max-width: none; } pre { border: 1px solid #d8dee4; } }
"""


def report(result: Outcome | LitmusResults | Mapping[str, Any] | str | os.PathLike[str],
           path: str | os.PathLike[str] | None = None) -> str:
    """A page with the scenario, the tables, the plots, the verdict with its cycle drawn, and how to run it again; of
    litmus tests each told in words, with its outcomes and its verdict.

    Args:
        result: a Result; what `litmus` returns; or what `Result.save` or ``loco-sim run --json`` wrote: its content or
            the file's name. Only a Result has a trace, hence the plots of what happened when.
        path: where to write the page, if anywhere.

    Returns:
        The page. The same result gives the same page.

    Raises:
        MissingPackageError: no matplotlib.
        InputError: the file cannot be read, or is no JSON.
        ValueError: what it holds is not a result (a TypeError, too, where it is no mapping), or `path` is in no folder or
            one itself.
        OSError: the page cannot be written; what was there before still is.
    """
    if isinstance(result, LitmusResults):
        return _written(_litmus_page(result), path)
    if isinstance(result, (str, os.PathLike)):
        if path is not None and os.path.isfile(result) and os.path.exists(path) and os.path.samefile(result, path):
            raise ValueError(f"{shown(os.fsdecode(path))}: expected another file to write, found the result itself")
        result = read_result(result)
    data: Any = result.to_dict(everything=True) if isinstance(result, Outcome) else result
    if not isinstance(data, Mapping):
        raise _wrong_type("result", "a Result, what litmus returns, the JSON of one run or its file", type(data).__name__)
    try:
        require_result(data)
    except ValueError as error:
        raise ValueError(f"result: {error}") from None
    data = {key: value for key, value in data.items() if value is not None}  # null is the same as nothing
    return _written(_page(data, result if isinstance(result, Outcome) else None), path)


def _written(page: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        require_folder_of(path)
        _core.write_whole_file(os.fsencode(path), page)
    return page


def read_result(file: str | os.PathLike[str]) -> Any:
    """The JSON of one run in a file. Raises InputError."""
    name = os.fsdecode(file)

    def wrong(line: int, column: int, expected: str, found: str) -> InputError:
        return _input_error(f"{shown(name)}:{line}:{column}: expected {expected}, found {found}", file=name, line=line,
                            column=column, expected=expected, found=found)

    try:
        with open(name, "rb") as opened:
            content = opened.read(_FILE_BYTES_MAX + 1)
    except OSError:
        raise wrong(1, 1, "a readable file", "none") from None
    if len(content) > _FILE_BYTES_MAX:
        raise wrong(1, 1, f"at most {_FILE_BYTES_MAX} bytes", "more")
    try:
        data = json.loads(content.decode("utf-8-sig"))
    except RecursionError:
        raise wrong(1, 1, "a result as JSON", "lists in lists, too many of them") from None
    except UnicodeDecodeError:
        raise wrong(1, 1, "a result as JSON", "bytes that are no UTF-8") from None
    except json.JSONDecodeError as error:
        raise wrong(error.lineno, error.colno, "a result as JSON",
                    f"a mistake ({error.msg.lower().removesuffix(' at')})" if content else "nothing") from None
    except ValueError as error:  # a number of more digits than Python reads
        raise wrong(1, 1, "a result as JSON", str(error)) from None
    try:
        require_result(data)
    except ValueError as error:
        raise _input_error(f"{shown(name)}: {error}", file=name) from None
    return data


def _html(title: str, parts: list[str], footer: str) -> str:
    return ("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
            f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>\n"
            + "\n".join(parts) + f"\n<footer>{footer}</footer>\n</body></html>\n")


def _litmus_page(results: LitmusResults) -> str:
    good = sum(r.ok for r in results)
    parts = ["<h1>Litmus tests</h1>", f"<p>{len(results)} tests, {good} ok</p>"]
    for r in results:
        parts += [f"<h2>{html.escape(r.name)}</h2>", f"<p>{html.escape(r.describe())}</p>",
                  f'<p class="verdict {"ok" if r.ok else "bad"}">{html.escape(f"{r.model}, {r.engine}: {r.verdict}")}</p>',
                  f"<pre>{html.escape(r.text)}</pre>"]
    return _html("Litmus tests", parts, f"loco-sim {html.escape(__version__)}")


def _page(data: Mapping[str, Any], result: Outcome | None) -> str:
    title = shown(f"{data.get('scenario', 'run')}, seed {data.get('seed', '?')}")
    parts = [f"<h1>{html.escape(title)}</h1>", _summary(data), "<h2>Verdict</h2>", *_verdict(data, result),
             "<h2>Latency</h2>", _latency_table(data), *_hints(data), *_why(result)]
    plots = _plots(data, result)
    if plots:
        parts += ["<h2>Pictures</h2>", '<div class="plots">', *plots, "</div>"]
    parts += ["<h2>Counters</h2>", _counters(data)]
    if "config" in data:
        parts += ["<h2>Scenario</h2>", f"<pre>{html.escape(_config_text(data['config']))}</pre>"]
    if data.get("command"):
        parts += ["<h2>Run it again</h2>", f"<pre>{html.escape(data['command'])}</pre>"]
    version = data.get("version", __version__)
    footer = f"loco-sim {html.escape(str(version))}"
    if data.get("config_hash"):
        footer += f", configuration {html.escape(str(data['config_hash']))}"
    return _html(title, parts, footer)


def _summary(data: Mapping[str, Any]) -> str:
    facts = [f"{data['workload']} on {data['nodes']} nodes" if "workload" in data else "", str(data.get("hardware", "")),
             f"{rate_text(data['operations_per_second'])} operations/s",
             f"{data['operations_done']} operation{'s' * (data['operations_done'] != 1)} in {time_text(data['measured_ps'])} of simulated time",
             UNTIMED if data.get("schedule", "timed") != "timed" else "",
             f"deliberate faults: {', '.join(data['faults'])}" if data.get("faults") else ""]
    return f"<p>{html.escape('; '.join(f for f in facts if f))}</p>"


def _latency_table(data: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(o['name'])}</td><td data-of=\"count\">{html.escape(str(o['count']))}</td>"
        + "".join(f'<td data-of="{k[:-3]}">{time_text(o[k])}</td>' for k in ("min_ps", "median_ps", "p99_ps", "max_ps"))
        + "</tr>"
        for o in data["operations"])
    return ('<div class="wide"><table class="latency"><tr><th>operation</th><th>count</th><th>min</th><th>median</th><th>p99</th>'
            f"<th>max</th></tr>{rows}</table></div>")


def _hints(data: Mapping[str, Any]) -> list[str]:
    limits = [f"<p>limited by: {html.escape(data['limited_by'])}</p>"] if data.get("limited_by") else []
    return limits + [f"<p>hint: {html.escape(what)}</p>" for what in data.get("hints", [])]


def _why(result: Outcome | None) -> list[str]:
    """The stages of the median operations, when the trace has packets."""
    if result is None or result._trace is None or not result.timed or not len(result._trace.activities):
        return []
    done = [name for name, times in result.operations.items() if len(times)]
    return (["<h2>What the median operation went into</h2>"] if done else []) + [
        f"<pre>{html.escape(str(result.why(name)))}</pre>" for name in done]


def _counters(data: Mapping[str, Any]) -> str:
    rows = "".join(f"<tr><td>{html.escape(k.replace('_', ' '))}</td><td>{v:,}</td></tr>"
                   for k, v in {**data["counters"], **data.get("workload_counters", {})}.items())
    return f'<div class="wide"><table>{rows}</table></div>'


def _verdict(data: Mapping[str, Any], result: Outcome | None) -> list[str]:
    found = [f'<p class="verdict bad">the workload found: {html.escape(what)}</p>' for what in data.get("broken", [])]
    check = data.get("check")
    return found + (["<p>Not checked.</p>"] if check is None else _checked(check, result))


def _checked(check: Mapping[str, Any], result: Outcome | None) -> list[str]:
    def named(wanted: str) -> str:
        return ", ".join(r["library"] for r in check["libraries"] if wanted == (
            "good" if r["consistent"] else "open" if r.get("undecided") else "bad"))

    good, bad, left_open = named("good"), named("bad"), named("open")
    out = []
    if good or check["consistent"]:
        out.append(f'<p class="verdict ok">consistent: {html.escape(good)} ({check["subevents"]:,} subevents)</p>')
    if bad:
        out.append(f'<p class="verdict bad">not consistent with {html.escape(bad)}</p>')
    if left_open:
        out.append(f'<p class="verdict bad">undecided: {html.escape(left_open)}</p>')
    for library in check["libraries"]:
        for violation in library["violations"]:
            steps = "".join(
                f"<li>{html.escape(s['thread_name'])}: <code>{html.escape(s['call'])}</code>, {html.escape(s['subevent'])}"
                f"<br>then {html.escape(s['edge'])}</li>" for s in violation["cycle"])
            out.append(f"<p>{html.escape(library['library'])}, {html.escape(violation['rule'])}: "
                       f"{html.escape(violation['message'])}</p>" + (f"<ol>{steps}</ol>" if steps else ""))
    if result is not None and result.verdict is not None:
        cycles = [v for v in result.verdict.violations if v.cycle]
        if cycles:
            from . import plot

            out.append(_figure("The cycle: each arrow must come before the next, and the last leads back to the first",
                               lambda: plot.execution_graph(cycles[0])))
    return out


def _plots(data: Mapping[str, Any], result: Outcome | None) -> list[str]:
    from . import plot

    if data.get("schedule", "timed") != "timed":
        return []  # events came in random order: pictures of times would mean nothing
    samples = data.get("samples_ps") or {}
    times = {name: Latency(values) for name, values in samples.items() if len(values)}
    out = []
    if times:
        out.append(_figure("Latency: share of the operations that took at most so long", lambda: plot.latency_cdf(times)))
        out.append(_figure("Latency at some percentiles", lambda: plot.latency_percentiles(times)))
    if result is not None and result.series is not None and len(result.series.times_ps) > 1:
        series = result.series
        out.append(_figure("Share of the time for which links were sending", lambda: plot.link_utilisation(series)))
        out.append(_figure("What waited for links", lambda: plot.queue_occupancy(series)))
    if result is not None and times:
        run = result
        out.append(_figure("Throughput over time", lambda: plot.throughput_over_time(run)))
    if result is not None and len(result._flows) and importlib.util.find_spec("pandas") is not None:
        flows = result
        if flows.flows["slowdown"].notna().any():
            out.append(_figure("How much longer flows took than alone, by size", lambda: plot.slowdown(flows, bins=10)))
    if result is not None and result._trace is not None and len(result._trace):
        trace = result._trace
        out.append(_figure("Payload that each node sends", lambda: plot.link_utilisation(trace)))
        out.append(_figure("Remote operations under way", lambda: plot.queue_occupancy(trace)))
        out.append(_figure("The first remote operations, time going down",
                           lambda: plot.sequence_chart(trace, limit=40)))
    return out


def _figure(caption: str, draw: Callable[[], Any]) -> str:
    import re

    from ._optional import need

    # Text as paths needs no font where the page is read; a fixed salt makes the ids, and so the page, reproducible.
    matplotlib = need("matplotlib", "a report")
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": caption}):
        figure = draw().figure
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    svg = out.getvalue()[out.getvalue().index("<svg"):]
    # Ids are unique in a picture only; several of them share the page.
    prefix = format(sum(ord(c) * 31 ** (i % 7) for i, c in enumerate(caption)) % 16**6, "06x")
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return (f'<figure role="img" aria-label="{html.escape(caption)}">{svg}'
            f"<figcaption>{html.escape(caption)}</figcaption></figure>")


def _config_text(config: Mapping[str, Any]) -> str:
    from .scenario import yaml_text

    return "\n".join(f"{key}: {yaml_text(value)}" for key, value in config.items())
