# SPDX-License-Identifier: Apache-2.0
"""Frames from the answers of a program: a scripted one, and the real one where it was built."""
import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

try:
    import pandas as pd
except ImportError:
    pd = None

import tench
from tench import program
from tench.results import flatten, frame

RUN = {"id": 7, "threads": 2, "outcome": "ok", "flags": ["verified"],
       "worker": {"type": "hello", "worker": {"name": "jax"}},
       "cell": {"worker": "jax@old", "network": "lenet", "batch": 64, "threads": 0},
       "summary": {"steps": 3, "step_ns_median": 2.5}, "budget": {"fixed_steps": 3},
       "limits": {"timeout_ns": 600}}
# Writes its arguments to a file, and answers by its first argument.
FAKE = """#!%s
import json, os, sys
with open(os.path.join(os.path.dirname(__file__), "asked"), "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
answers = json.load(open(os.path.join(os.path.dirname(__file__), "answers")))
if sys.argv[1] not in answers:
    sys.exit("tench: %%s is no command here" %% sys.argv[1])
print(json.dumps(answers[sys.argv[1]]))
"""


class Scripted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.program = os.path.join(folder.name, "tench")
        with open(self.program, "w") as file:
            file.write(FAKE % sys.executable)
        os.chmod(self.program, stat.S_IRWXU)
        self.file = os.path.join(folder.name, "my.db")
        open(self.file, "w").close()

    def answers(self, **answers):
        with open(os.path.join(self.folder, "answers"), "w") as file:
            json.dump(answers, file)

    def asked(self):
        with open(os.path.join(self.folder, "asked")) as file:
            return file.read().splitlines()


class ProgramTest(Scripted):
    def test_the_variable_names_the_program(self):
        before = os.environ.get("TENCH_PROGRAM")
        os.environ["TENCH_PROGRAM"] = self.program
        try:
            self.assertEqual(tench.find_program(), self.program)
        finally:
            del os.environ["TENCH_PROGRAM"]
            if before is not None:
                os.environ["TENCH_PROGRAM"] = before

    def test_a_failure_is_the_line_that_the_program_printed(self):
        self.answers()
        with self.assertRaisesRegex(tench.ProgramError, "^tench: runs is no command here$"):
            program.answer(["runs"], self.program)
        with self.assertRaisesRegex(tench.ProgramError, "No such file"):
            program.answer(["runs"], os.path.join(self.folder, "absent"))

    def test_a_missing_file_names_the_command_that_makes_one(self):
        with self.assertRaisesRegex(tench.ProgramError, "no such results file; `tench sweep"):
            tench.read(os.path.join(self.folder, "none.db"))


class FlattenTest(unittest.TestCase):
    def test_axes_and_summary_become_columns(self):
        self.assertEqual(flatten(RUN), {
            "id": 7, "threads_used": 2, "outcome": "ok", "flags": ["verified"],
            "hello": RUN["worker"], "worker": "jax@old", "network": "lenet", "batch": 64,
            "threads": 0, "steps": 3, "step_ns_median": 2.5, "budget_fixed_steps": 3,
            "limit_timeout_ns": 600})

    @unittest.skipIf(pd is not None, "pandas is installed")
    def test_without_pandas_the_error_says_how_to_get_it(self):
        with self.assertRaisesRegex(tench.ProgramError, "needs pandas: python -m pip install"):
            frame([])


@unittest.skipIf(pd is None, "no pandas: make workers W=reader")
class FrameTest(Scripted):
    def test_a_ranking_has_the_rows_of_results(self):
        self.answers(results={"studies": [{"id": 1, "suite": "quick"}],
                              "rows": [{"worker": "jax", "rank": 1, "build": "0123"}]})
        results = tench.read(self.file, self.program)
        ranking = results.ranking(by="batch", only=["network=lenet"], study=3)
        self.assertEqual(ranking.to_dict("records"), [{"worker": "jax", "rank": 1, "build": "0123"}])
        self.assertEqual(list(results.studies()["suite"]), ["quick"])
        self.assertEqual(self.asked()[0], "results --by batch --all-roles --db %s --study 3 "
                         "--only network=lenet --json" % self.file)

    def test_runs_are_flat_and_an_empty_file_has_columns(self):
        self.answers(runs=[RUN])
        runs = tench.read(self.file, self.program).runs()
        self.assertEqual(runs.loc[0, "worker"], "jax@old")
        self.assertEqual(runs.loc[0, "step_ns_median"], 2.5)
        self.answers(runs=[])
        self.assertIn("outcome", tench.read(self.file, self.program).runs().columns)

    def test_steps_of_all_runs_carry_the_runs_number(self):
        self.answers(runs=[RUN, dict(RUN, id=9)],
                     steps=[{"step": 1, "kind": "timed", "step_ns": 5, "loss": 2.0}],
                     samples=[{"time_ns": 1, "rss_bytes": 4096}])
        results = tench.read(self.file, self.program)
        self.assertEqual(list(results.steps()["run"]), [7, 9])
        self.assertEqual(list(results.steps(9)["run"]), [9])
        self.assertEqual(list(results.samples([7])["rss_bytes"]), [4096])


@unittest.skipIf(pd is None, "no pandas: make workers W=reader")
@unittest.skipIf("TENCH_PROGRAM" not in os.environ, "TENCH_PROGRAM names no program")
class RealProgramTest(unittest.TestCase):
    def test_frames_hold_what_was_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            suite, file = os.path.join(folder, "s.yaml"), os.path.join(folder, "my.db")
            with open(suite, "w") as text:
                text.write("rounds: 1\nworker: [reference]\nnetwork: mlp\nbatch: [2, 4]\n"
                           "threads: 1\nsteps: 3\n")
            subprocess.run([tench.find_program(), "sweep", suite, "--db", file, "--no-sentinel",
                            "--no-verify"], check=True, stderr=subprocess.DEVNULL)
            results = tench.read(file)
            ranking, runs, steps = results.ranking(), results.runs(), results.steps()
            self.assertEqual(sorted(ranking["batch"]), [2, 4])
            self.assertEqual(set(ranking["outcome"]), {"ok"})
            self.assertTrue((ranking["step_ns"] > 0).all())
            self.assertEqual(sorted(runs["batch"]), [2, 4])
            timed = steps[steps["kind"] == "timed"]
            self.assertEqual(list(timed.groupby("run").size()), [3, 3])
            for _, run in runs.iterrows():
                median = timed[timed["run"] == run["id"]]["step_ns"].median()
                self.assertEqual(median, run["step_ns_median"])
            self.assertTrue((results.samples(int(runs["id"].iloc[0]))["time_ns"] > 0).all())


if __name__ == "__main__":
    unittest.main()
