"""loco-sim: simulated RDMA NICs run LOCO code, timed and checked against declarative memory models."""

from ._core import __version__

__all__ = ["__version__"]
