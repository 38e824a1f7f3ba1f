// SPDX-License-Identifier: Apache-2.0
#include "report/html/series_style.h"

#include <array>

#include "base/text.h"

namespace tench {
namespace {

struct KnownStyle {
  std::string_view worker;
  const char *colour, *shape;
  std::array<int, 4> dash;
};

// SVG paths, as Vega accepts them for symbols.
constexpr const char* kBar = "M-1,-0.3L1,-0.3L1,0.3L-1,0.3Z";
constexpr const char* kHourglass = "M-0.8,-0.8L0.8,-0.8L-0.8,0.8L0.8,0.8Z";
constexpr const char* kStar =
    "M0,-1L0.26,-0.36L0.95,-0.31L0.42,0.14L0.59,0.81L0,0.44L-0.59,0.81L-0.42,0.14L-0.95,-0.31"
    "L-0.26,-0.36Z";

constexpr const char* kHexagon = "M1,0L0.5,0.87L-0.5,0.87L-1,0L-0.5,-0.87L0.5,-0.87Z";
constexpr const char* kPentagon = "M0,-1L0.95,-0.31L0.59,0.81L-0.59,0.81L-0.95,-0.31Z";
constexpr const char* kColumn = "M-0.3,-1L0.3,-1L0.3,1L-0.3,1Z";
constexpr const char* kSaltire =
    "M-1,-0.6L-0.6,-1L0,-0.4L0.6,-1L1,-0.6L0.4,0L1,0.6L0.6,1L0,0.4L-0.6,1L-1,0.6L-0.4,0Z";

// Distinguishable with colour-vision deficiency, legible on white and on near-black, and of
// different lightness. The baseline and the oracle have neutral colours.
constexpr std::array<KnownStyle, 17> kKnown = {{
    {"native", "#7a8288", "cross", {2, 3, 2, 3}},
    {"reference", "#9aa5ab", "triangle-down", {1, 4, 1, 4}},
    {"torch", "#d9482b", "circle", {1, 0, 1, 0}},
    {"tensorflow", "#e09f1f", "square", {8, 3, 8, 3}},
    {"mxnet", "#2f6fd0", "triangle-up", {4, 2, 4, 2}},
    {"caffe", "#8f3fb8", "diamond", {8, 3, 2, 3}},
    {"jax", "#1d9a6c", "triangle-right", {12, 3, 12, 3}},
    {"theano", "#5f7f1f", "triangle-left", {6, 2, 1, 2}},
    {"cntk", "#c2457f", "wedge", {3, 1, 3, 1}},
    {"tensorflow1", "#96690f", "arrow", {10, 2, 2, 2}},
    {"torch-python", "#e8907c", kStar, {5, 1, 1, 1}},
    {"mxnet-python", "#86aee8", kHourglass, {2, 1, 2, 1}},
    {"caffe2", "#bf94d8", kBar, {7, 2, 1, 2}},
    {"paddle", "#1d7f9f", kHexagon, {14, 2, 2, 2}},
    {"chainer", "#8fc04d", kPentagon, {4, 4, 4, 4}},
    {"keras", "#4cc2c4", kColumn, {9, 1, 3, 1}},
    {"neon", "#c9b21c", kSaltire, {6, 4, 1, 4}},
}};

constexpr std::array<const char*, 4> kOtherColours = {"#2aa7c9", "#8a6d4b", "#b0306a", "#4a5fae"};
constexpr std::array<const char*, 8> kShapes = {"circle",        "square",        "triangle-up",
                                                "diamond",       "triangle-down", "cross",
                                                "triangle-left", "triangle-right"};
constexpr std::array<std::array<int, 4>, 6> kDashes = {
    {{1, 0, 1, 0}, {8, 3, 8, 3}, {4, 2, 4, 2}, {8, 3, 2, 3}, {12, 3, 12, 3}, {2, 2, 6, 2}}};

SeriesStyle ByHash(std::string_view name, const char* colour) {
  const uint64_t hash = Hash64(name);
  const auto& dash = kDashes[hash / 64 % kDashes.size()];
  return {colour != nullptr ? colour : kOtherColours[hash % kOtherColours.size()],
          kShapes[hash / 8 % kShapes.size()],
          {dash.begin(), dash.end()}};
}

}  // namespace

SeriesStyle StyleOf(std::string_view series) {
  const std::string_view worker = series.substr(0, series.find_first_of("@ "));
  for (const KnownStyle& known : kKnown) {
    if (known.worker != worker) continue;
    if (worker != series) return ByHash(series, known.colour);
    return {known.colour, known.shape, {known.dash.begin(), known.dash.end()}};
  }
  return ByHash(series, nullptr);
}

}  // namespace tench
