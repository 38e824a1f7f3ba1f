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

    def interpreter(self, version):
        """An executable that says it is Python `version`."""
        path = os.path.join(self.folder.name, "python")
        with open(path, "w") as file:
            file.write("#!/bin/sh\necho %s\n" % version)
        os.chmod(path, 0o700)
        return path

    def test_a_variable_names_an_interpreter(self):
        os.environ["TENCH_PYTHON_9_9"] = path = self.interpreter("9.9")
        self.assertEqual(self.set_up.find_interpreter("9.9"), path)

    def test_an_interpreter_of_another_version_is_not_taken(self):
        os.environ["TENCH_PYTHON_9_9"] = self.interpreter("9.8")
        with self.assertRaises(self.set_up.Missing) as missing:
            self.set_up.find_interpreter("9.9")
        self.assertIn("pyenv install 9.9", str(missing.exception))
        self.assertIn("TENCH_PYTHON_9_9", str(missing.exception))

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
