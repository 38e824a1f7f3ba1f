# SPDX-License-Identifier: Apache-2.0
"""A results file as pandas frames.

The frames hold the JSON of `tench results`, `runs`, `steps` and `samples`, so they cannot drift
from the program: which run counts, the intervals and the verdicts are computed there, once, and a
column that tench adds appears here. Names of columns carry their units: step_ns, peak_rss_bytes.
"""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Sequence, Union

from .program import ProgramError, answer

if TYPE_CHECKING:
    import pandas as pd

Row = Dict[str, Any]
Study = Union[int, str, None]

# Parts of a run whose entries are columns; a part with a prefix could clash with another.
PARTS = {"cell": "", "summary": "", "budget": "budget_", "limits": "limit_"}
# Parts of a run under a name of their own, since the cell has the short one.
RENAMED = {"worker": "hello", "threads": "threads_used"}


def flatten(run: Row) -> Row:
    """One run of `tench runs --json` as a row: its axes and its summary are columns."""
    row: Row = {RENAMED.get(key, key): value for key, value in run.items() if key not in PARTS}
    for part, prefix in PARTS.items():
        for key, value in (run.get(part) or {}).items():
            row.setdefault(prefix + key, value)
    return row


def frame(rows: Iterable[Row], columns: Sequence[str] = ()) -> "pd.DataFrame":
    """`columns` are those of an empty frame."""
    try:
        import pandas as pd
    except ImportError:
        raise ProgramError("tench.read needs pandas: python -m pip install pandas") from None
    listed: List[Row] = list(rows)
    return pd.DataFrame(listed) if listed else pd.DataFrame(columns=list(columns))


class Results:
    """The studies of one file. Each method reads the file anew, so a running sweep may be read."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], program: Optional[str] = None) -> None:
        self.path = os.fspath(path)
        self.program = program
        if not os.path.exists(self.path):
            raise ProgramError("%s: no such results file; `tench sweep quick --db %s` makes one" %
                               (self.path, self.path))

    def _ask(self, command: str, *arguments: str, study: Study = None,
             only: Iterable[str] = ()) -> Any:
        words = [command, *arguments, "--db", self.path]
        if study is not None:
            words += ["--study", str(study)]
        for term in only:
            words += ["--only", term]
        return answer(words, self.program)

    def studies(self) -> "pd.DataFrame":
        """One row per study: suite, machine, start, builds."""
        return frame(self._ask("results", study="all")["studies"], ["id", "suite"])

    def ranking(self, by: Optional[str] = None, only: Iterable[str] = (), study: Study = None,
                all_roles: bool = True) -> "pd.DataFrame":
        """One row per cell, with its rank, its interval and the verdict against the best.

        `by` is the axis to rank by ("batch", "threads") instead of by worker, `only` terms such as
        "network=lenet,mlp", `study` a number or "all" to pool the studies; default: the latest.
        `all_roles` ranks native (baseline) and reference (oracle) among the frameworks.
        """
        arguments = (["--by", by] if by else []) + (["--all-roles"] if all_roles else [])
        return frame(self._ask("results", *arguments, study=study, only=only)["rows"],
                     ["worker", "network", "batch", "step_ns", "rank"])

    def runs(self, only: Iterable[str] = (), study: Study = "all") -> "pd.DataFrame":
        """One row per run, with every stored value: axes, outcome, summary, environment."""
        rows = self._ask("runs", study=study, only=only)
        return frame(map(flatten, rows), ["id", "study", "worker", "network", "outcome"])

    def _of_runs(self, command: str, run: Union[int, Iterable[int], None],
                 columns: Sequence[str]) -> "pd.DataFrame":
        if run is None:
            run = [row["id"] for row in self._ask("runs", study="all")]
        numbers = [run] if isinstance(run, int) else [int(one) for one in run]
        rows = [dict({"run": number}, **row) for number in numbers
                for row in self._ask(command, str(number))]
        return frame(rows, columns)

    def steps(self, run: Union[int, Iterable[int], None] = None) -> "pd.DataFrame":
        """Every step of a run, of several, or of all: run, step, kind, step_ns, input_ns, loss."""
        return self._of_runs("steps", run, ["run", "step", "kind", "step_ns", "input_ns", "loss"])

    def samples(self, run: Union[int, Iterable[int], None] = None) -> "pd.DataFrame":
        """Memory, CPU time and GPU use over time, sampled from outside of the worker."""
        return self._of_runs("samples", run, ["run", "time_ns", "rss_bytes", "cpu_ns"])


def read(path: Union[str, "os.PathLike[str]"], program: Optional[str] = None) -> Results:
    """The results of a file. `program` is the path of tench, by default find_program()."""
    return Results(path, program)
