"""Packages that are imported at first use only, and how to get the optional ones."""

from __future__ import annotations

import importlib
from types import ModuleType

from .errors import MissingPackageError

_DEBIAN = {"matplotlib": "python3-matplotlib", "pandas": "python3-pandas", "tqdm": "python3-tqdm", "numpy": "python3-numpy",
           "networkx": "python3-networkx"}


def need(module: str, purpose: str) -> ModuleType:
    """The module, or a MissingPackageError that says what it is for and how to install it."""
    package = module.split(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] != package:
            raise
        raise MissingPackageError(
            f"{purpose} needs {package}, which is not installed: pip install {package}"
            + (f" (Debian, Ubuntu: apt install {_DEBIAN[package]})" if package in _DEBIAN else ""),
            name=package) from None
