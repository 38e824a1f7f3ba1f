# SPDX-License-Identifier: Apache-2.0
"""The user's own Python environment (`tench run --python`), as far as a description shows it.

The launcher names it in TENCH_WORKER_ENVIRONMENT. A version then begins with the environment's
name, "nightly-0.10.2", so that two environments with one version are two builds. Of an environment
that `make workers` set up, the pins state the packages, and nothing changes here.
"""
import os
import sys
import traceback

NAME = "TENCH_WORKER_ENVIRONMENT"


def describe(facts, version, packages, serves=()):
    """(facts, version) in the environment in use; `packages` and `serves` are the adapter's."""
    name = os.environ.get(NAME, "")
    if not name:
        return facts, version
    facts = dict(facts, environment=sys.prefix)
    if "missing" in facts and packages != ("",):
        facts["missing"] = "%s; to install: %s -m pip install %s" % (
            facts["missing"], sys.executable, packages[0])
    elif serves and not version.startswith(tuple(serves)):
        facts["missing"] = "%s %s is installed for %s, and the worker runs %s" % (
            packages[0], version, sys.executable, ", ".join(prefix + "x" for prefix in serves))
    return facts, version if "missing" in facts else "%s-%s" % (name, version)


def _distribution_of(module):
    """The name that pip knows: paddlepaddle for paddle."""
    try:
        from importlib.metadata import packages_distributions
    except ImportError:  # before Python 3.10
        return module
    return (packages_distributions().get(module) or [module])[0]


def broken_package(error, package):
    """The package whose code raised `error`; `package` if it was raised outside of all packages."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        parts = frame[0].replace("dist-packages", "site-packages").split("site-packages" + os.sep)
        if len(parts) > 1:
            return _distribution_of(parts[-1].split(os.sep)[0].split(".")[0])
    return package


def repair(error, package):
    """What to add to the reason of a framework that is installed in a user's environment and does
    not load: the command that installs it again. An environment of `make workers` adds nothing."""
    if not os.environ.get(NAME) or not package:
        return ""
    return "; to install it again: %s -m pip install --force-reinstall %s" % (
        sys.executable, broken_package(error, package))


def _modules_of(folder, metadata):
    """The top-level modules of a distribution, by its metadata or else by its name."""
    try:
        with open(os.path.join(folder, metadata, "top_level.txt")) as file:
            return file.read().split()
    except (IOError, OSError):
        return [metadata.split("-")[0].replace(".", "/").split("/")[0]]


def loaded_packages(modules=None, path=None):
    """{name: version} of the installed distributions whose modules are loaded, without a JAX or
    NumPy that is in sys.path but not in use."""
    modules = set(name.lower() for name in (sys.modules if modules is None else modules))
    found = {}
    for folder in sys.path if path is None else path:
        try:
            entries = sorted(os.listdir(folder))
        except (IOError, OSError):
            continue
        for entry in entries:
            parts = entry.split("-")
            if not entry.endswith((".dist-info", ".egg-info")) or len(parts) < 2:
                continue
            name = parts[0].lower().replace("_", "-")
            used = any(module.lower() in modules for module in _modules_of(folder, entry))
            if used and name not in found:  # an earlier folder hides a later one
                found[name] = entry[len(parts[0]) + 1:].rsplit(".", 1)[0].split("-")[0]
    return found


def loaded_facts():
    """What the answer to a job states besides the description, once the framework is loaded."""
    if not os.environ.get(NAME):
        return {}
    packages = loaded_packages()
    return {"packages": ", ".join("%s %s" % each for each in sorted(packages.items()))}
