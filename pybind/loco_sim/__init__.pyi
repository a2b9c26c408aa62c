"""Types of the names that loco_sim loads at first use."""

from . import errors as errors
from . import plot as plot
from ._core import __version__ as __version__
from .errors import Error as Error
from .errors import InputError as InputError
from .errors import MissingPackageError as MissingPackageError
from .errors import RunError as RunError
from .errors import TraceError as TraceError
from .generated import GeneratedTest as GeneratedTest
from .generated import GeneratedTests as GeneratedTests
from .generated import generate as generate
from .litmus_tests import LitmusResult as LitmusResult
from .litmus_tests import LitmusResults as LitmusResults
from .litmus_tests import litmus as litmus
from .measured import Latency as Latency
from .measured import Series as Series
from .perftest import perf as perf
from .points import Choice as Choice
from .points import Range as Range
from .points import Uniform as Uniform
from .points import sweep_points as sweep_points
from .program import Context as Context
from .program import Program as Program
from .program import ProgramResult as ProgramResult
from .reports import report as report
from .result import Result as Result
from .result import run as run
from .result import stop_flag as stop_flag
from .result import validate as validate
from .scenario import Scenario as Scenario
from .scenario import list_hardware as list_hardware
from .scenario import list_topologies as list_topologies
from .scenario import list_workloads as list_workloads
from .scenario import scenarios as scenarios
from .sweeps import sweep as sweep
from .sweeps import sweep_rows as sweep_rows
from .topologies import custom_topology as custom_topology
from .trace import Trace as Trace
from .trace import call_dtype as call_dtype
from .trace import read_trace as read_trace
from .trace import subevent_dtype as subevent_dtype
from .verdict import Verdict as Verdict
from .verdict import check as check

__all__: list[str]
