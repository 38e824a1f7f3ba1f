# SPDX-License-Identifier: Apache-2.0
"""deps/workers, which sets up the environments: interpreters, selections, pinned lists."""
import glob
import importlib.machinery
import importlib.util
import os
import re
import sys
import tempfile
import unittest

DEPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deps")


def load():
    loader = importlib.machinery.SourceFileLoader("workers", os.path.join(DEPS, "workers"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("workers", loader))
    keeps, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = keeps
    return module


class SetUpTest(unittest.TestCase):
    def setUp(self):
        self.set_up = load()
        self.folder = tempfile.TemporaryDirectory()
        os.environ.pop("TENCH_PYTHON_9_9", None)

    def tearDown(self):
        os.environ.pop("TENCH_PYTHON_9_9", None)
        self.folder.cleanup()

    def interpreter(self, version, says="complete", name="python"):
        """An executable that says it is Python `version`."""
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\necho %s %s\n" % (version, says))
        os.chmod(path, 0o700)
        return path

    def why_missing(self):
        with self.assertRaises(self.set_up.Missing) as missing:
            self.set_up.find_interpreter("9.9")
        self.assertNotIn("\n", str(missing.exception))
        return str(missing.exception)

    def test_a_variable_names_an_interpreter(self):
        os.environ["TENCH_PYTHON_9_9"] = path = self.interpreter("9.9")
        self.assertEqual(self.set_up.find_interpreter("9.9"), path)

    def test_a_variable_that_names_another_file_is_not_passed_over(self):
        os.environ["TENCH_PYTHON_9_9"] = self.interpreter("9.8")
        self.assertIn("is Python 9.8, not 9.9", self.why_missing())
        os.environ["TENCH_PYTHON_9_9"] = "/nowhere/python"
        self.assertIn("TENCH_PYTHON_9_9: '/nowhere/python' is no Python", self.why_missing())
        os.environ["TENCH_PYTHON_9_9"] = self.interpreter("9.9", says="")
        self.assertIn("has no ensurepip", self.why_missing())

    def test_a_missing_interpreter_is_a_line_that_says_how_to_get_it(self):
        message = self.why_missing()
        self.assertIn("pyenv install 9.9", message)
        self.assertIn("TENCH_PYTHON_9_9", message)

    def test_a_python_on_path_must_be_able_to_make_environments(self):
        path = self.interpreter("9.9", says="", name="python9.9")
        keeps = os.environ["PATH"]
        os.environ["PATH"] = self.folder.name + os.pathsep + keeps
        try:
            self.assertIn("apt-get install python9.9-venv", self.why_missing())
            self.interpreter("9.9", name="python9.9")
            self.assertEqual(self.set_up.find_interpreter("9.9"), path)
        finally:
            os.environ["PATH"] = keeps

    def test_a_worker_means_all_its_versions(self):
        known = self.set_up.environments()
        names = [each.name for each in self.set_up.chosen(known, ["cntk", "tensorflow1@1.4.0"])]
        self.assertEqual(names, ["cntk@2.5.1", "cntk@2.7", "tensorflow1@1.4.0"])
        self.assertEqual(self.set_up.chosen(known, ["all"]), known)

    def test_every_package_of_every_list_is_pinned_with_a_hash(self):
        for path in glob.glob(os.path.join(DEPS, "python", "*.txt")):
            with open(path) as file:
                text = re.sub(r"\\\n", " ", file.read())
            for line in text.splitlines():
                if line and not line.startswith("#"):
                    self.assertRegex(line, r"^\S+==\S+ +--hash=sha256:[0-9a-f]{64}", path)


if __name__ == "__main__":
    unittest.main()
