#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws Vega-Lite charts without a browser, by the vl-convert-python wheel that stands beside this file (in charts/).

  figures.py --bundle FILE      the JavaScript that draws charts in a page, as one file
  figures.py FOLDER JOB         JOB is a file, {"figures": [{"name": …, "spec": {…}}, …]}: each as FOLDER/name.svg, .pdf and .png

Prints a line per figure that it has drawn. `tench report --figures` is who calls it.
"""
import json
import os
import sys

VEGA_LITE = "6.4"


def load():
    here = os.path.dirname(os.path.abspath(sys.argv[0]))
    for folder in (os.path.join(here, "charts"), os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../deps/fetched/charts")):
        if os.path.isdir(folder):
            sys.path.insert(0, folder)
    try:
        import vl_convert
    except ImportError as error:
        sys.exit(f"cannot load vl-convert-python: {error}")
    return vl_convert


def replace(path, content):
    with open(path + ".part", "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    os.replace(path + ".part", path)


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--bundle":
        # Inside a page nothing may look like the end of its script.
        replace(arguments[1], load().javascript_bundle(vl_version=VEGA_LITE).replace("</script", "<\\/script"))
        return
    if len(arguments) != 2 or arguments[0].startswith("-"):
        sys.exit(__doc__)
    with open(arguments[1], encoding="utf-8") as file:
        job = json.load(file)
    vl_convert = load()
    for figure in job["figures"]:
        base = os.path.join(arguments[0], figure["name"])
        spec = figure["spec"]
        # Nothing may come from outside, whatever a specification says.
        svg = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])
        replace(base + ".svg", svg)
        replace(base + ".pdf", vl_convert.svg_to_pdf(svg))
        replace(base + ".png", vl_convert.svg_to_png(svg, scale=2))
        print(figure["name"], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
