# SPDX-License-Identifier: Apache-2.0
"""Results of tench as pandas frames (docs/python.md):

    import tench
    results = tench.read("my.db")
    results.ranking()
"""
from .program import ProgramError, find_program
from .results import Results, read

__all__ = ["ProgramError", "Results", "find_program", "read"]
