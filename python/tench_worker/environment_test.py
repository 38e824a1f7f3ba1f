# SPDX-License-Identifier: Apache-2.0
import os
import sys
import tempfile
import unittest

from tench_worker import environment


class EnvironmentTest(unittest.TestCase):
    def setUp(self):
        self.before = os.environ.pop(environment.NAME, None)

    def tearDown(self):
        os.environ.pop(environment.NAME, None)
        if self.before is not None:
            os.environ[environment.NAME] = self.before

    def test_a_pinned_environment_changes_nothing(self):
        facts = {"gpu": "none"}
        self.assertEqual(environment.describe(facts, "1.0", ("jax",)), (facts, "1.0"))
        self.assertEqual(environment.loaded_facts(), {})

    def test_the_version_of_a_users_environment_begins_with_its_name(self):
        os.environ[environment.NAME] = "nightly"
        facts, version = environment.describe({}, "0.10.2", ("jax",))
        self.assertEqual(version, "nightly-0.10.2")
        self.assertIn("environment", facts)

    def test_a_missing_framework_names_the_command_and_keeps_the_version_unknown(self):
        os.environ[environment.NAME] = "nightly"
        facts, version = environment.describe({"missing": "no jax"}, "unknown", ("jax", "jax-x"))
        self.assertEqual(version, "unknown")
        self.assertRegex(facts["missing"], "^no jax; to install: .* -m pip install jax$")

    def test_a_version_that_the_worker_does_not_run_is_a_reason(self):
        os.environ[environment.NAME] = "new"
        facts, version = environment.describe({}, "2.21.0", ("tensorflow",), ("1.",))
        self.assertEqual(version, "2.21.0")
        self.assertRegex(facts["missing"],
                         "^tensorflow 2.21.0 is installed for .*, and the worker runs 1.x$")
        self.assertNotIn("missing", environment.describe({}, "1.15.5", ("t",), ("1.",))[0])

    def test_a_broken_package_is_that_whose_code_raised(self):
        with tempfile.TemporaryDirectory() as folder:
            package = os.path.join(folder, "site-packages", "snakes")
            os.makedirs(package)
            with open(os.path.join(package, "__init__.py"), "w") as file:
                file.write("raise ImportError('libsnake.so: no such file\\nmore')\n")
            sys.path.insert(0, os.path.dirname(package))
            try:
                import snakes
                self.fail("%s was loaded" % snakes)
            except ImportError as error:
                self.assertEqual(environment.broken_package(error, "pet"), "snakes")
                self.assertEqual(environment.repair(error, "pet"), "")
                os.environ[environment.NAME] = "new"
                self.assertEqual(environment.repair(error, "pet"), "; to install it again: %s -m "
                                 "pip install --force-reinstall snakes" % sys.executable)
            finally:
                sys.path.remove(os.path.dirname(package))
        try:
            raise OSError("no file")
        except OSError as error:
            self.assertEqual(environment.broken_package(error, "pet"), "pet")

    def test_only_loaded_packages_count_and_the_first_folder_wins(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            for folder, name in ((first, "jax-0.10.2.dist-info"), (second, "jax-0.9.dist-info"),
                                 (second, "opt_einsum-3.4.0.dist-info"),
                                 (second, "paddlepaddle-3.3.1.dist-info"),
                                 (second, "unused-1.0.dist-info"),
                                 (second, "numpy-1.24.2.egg-info")):
                os.mkdir(os.path.join(folder, name))
            with open(os.path.join(second, "paddlepaddle-3.3.1.dist-info", "top_level.txt"),
                      "w") as file:
                file.write("paddle\n")
            found = environment.loaded_packages(["jax", "opt_einsum", "paddle", "numpy", "sys"],
                                                [first, second, "/nonexistent"])
        self.assertEqual(found, {"jax": "0.10.2", "opt-einsum": "3.4.0", "numpy": "1.24.2",
                                 "paddlepaddle": "3.3.1"})


if __name__ == "__main__":
    unittest.main()
