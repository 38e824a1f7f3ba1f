# SPDX-License-Identifier: Apache-2.0
"""A unity build that is configured but not compiled, for tools that only parse the sources."""
import json
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def configure(build, *options):
    """Configures `build` and makes the generated sources. Returns the entries of its database."""
    subprocess.run(
        ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DTENCH_UNITY=ON",
         "-DTENCH_PRECOMPILE=OFF", "--log-level=WARNING", *options],
        check=True, stdout=subprocess.DEVNULL)
    listed = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"],
                            check=True, capture_output=True, text=True).stdout
    generated = re.findall(r"^((?:generated|src)/\S+\.(?:h|cc)): CUSTOM_COMMAND", listed, re.MULTILINE)
    subprocess.run(["ninja", "-C", build, *generated], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        return json.load(file)
