// SPDX-License-Identifier: Apache-2.0
#pragma once
// The look of a worker in charts: colour, marker and dash. It is a function of the name alone, so
// that a worker looks the same in every report. Workers differ in marker and dash as well as in
// colour, so that a print in grey and a reader with colour-vision deficiency can tell them apart.
// Thread safety: pure functions.

#include <string>
#include <string_view>
#include <vector>

namespace tench {

struct SeriesStyle {
  std::string colour;     // "#e4572e"
  std::string shape;      // of Vega: "circle", "square", …
  std::vector<int> dash;  // lengths of strokes and gaps; {1, 0} = solid
};

// `series` is a worker's name, possibly followed by '@version', a blank and a version, or options.
// Known workers have a style of their own; any other gets one by the hash of its name. Variants of
// a worker share its colour and differ in marker and dash.
SeriesStyle StyleOf(std::string_view series);

}  // namespace tench
