# SPDX-License-Identifier: Apache-2.0
"""The program `tench`: where it is, and its answers. Needs no package."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any, NoReturn, Optional, Sequence

# Where a wheel has the program: this package's own folder.
INSTALLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program", "bin", "tench")


class ProgramError(Exception):
    """The one line that `tench` printed, or how to get the program."""


def find_program() -> str:
    """TENCH_PROGRAM, the program of the installed wheel, or `tench` on PATH."""
    named = os.environ.get("TENCH_PROGRAM")
    if named:
        return named
    if os.access(INSTALLED, os.X_OK):
        return INSTALLED
    found = shutil.which("tench")
    if found is None:
        raise ProgramError("the program tench is not on PATH; set TENCH_PROGRAM to its path")
    return found


def answer(arguments: Sequence[str], program: Optional[str] = None) -> Any:
    """The JSON that `tench ARGUMENTS --json` prints."""
    command = [program or find_program(), *arguments, "--json"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise ProgramError("%s: %s" % (command[0], error.strerror)) from None
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ProgramError(lines[-1] if lines else "%s ended with exit code %d" %
                           (" ".join(command), done.returncode))
    return json.loads(done.stdout.decode("utf-8"))


def main() -> NoReturn:
    """The console script of the wheel: the program, with this Python's frameworks."""
    if not os.access(INSTALLED, os.X_OK):
        sys.stderr.write("tench: %s is missing; install the wheel again\n" % INSTALLED)
        sys.exit(2)
    # Of a virtual environment, sys.executable is the link in it, which is what selects it.
    os.environ.setdefault("TENCH_PYTHON", sys.executable)
    os.execv(INSTALLED, ["tench", *sys.argv[1:]])
