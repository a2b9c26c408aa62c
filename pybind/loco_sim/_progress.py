"""How far a sweep is, on stderr or in a notebook."""

from __future__ import annotations

import sys
from typing import Any, Callable


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class Progress:
    """A bar with the time left: tqdm's, or a plain counter where tqdm is not installed."""

    def __init__(self, total: int, wanted: bool | None) -> None:
        self._total, self._count = total, 0
        self._bar: Any = None
        # stderr is None when the process began without one
        self._on = sys.stderr is not None and (sys.stderr.isatty() or _in_notebook() if wanted is None else wanted)

    def __enter__(self) -> Progress:
        if self._on:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                print("loco_sim: pip install tqdm shows a progress bar with the time left", file=sys.stderr)
            else:
                self._bar = tqdm(total=self._total, file=sys.stderr, unit="run")
        return self

    def advance(self) -> None:
        """One more is done."""
        self._count += 1
        if self._bar is not None:
            self._show(self._bar.update)
        elif self._on:
            self._show(lambda: print(f"\r{self._count}/{self._total} runs", end="", file=sys.stderr, flush=True))

    def message(self, text: str) -> None:
        """A line beside the bar."""
        if self._bar is not None:
            self._show(lambda: self._bar.write(text, file=sys.stderr))
        elif self._on:
            self._show(lambda: print(f"\n{text}", file=sys.stderr))

    def _show(self, draw: Callable[[], Any]) -> None:
        """A terminal that has gone, or is full, is no reason to end a sweep."""
        try:
            draw()
        except OSError:
            self._on, self._bar = False, None

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._show(self._bar.close)
        elif self._on:
            self._show(lambda: print(file=sys.stderr))
