// SPDX-License-Identifier: Apache-2.0
#pragma once
// The axis table: one row per dimension of the matrix. A row drives the command-line flag, the
// suite's key, the cell's id, the store's column and the report's heading, so that adding an axis
// is adding a row in axis.cc. Settings of one framework only are not axes; they are a cell's
// `options`. Not aware of which networks, data sets or workers exist: the planner checks those
// names. The table is constant; any thread may read it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"

namespace tench {

enum class AxisKind { kText, kChoice, kInteger, kReal };

// A cell's value for one axis: a string for kText and kChoice.
using AxisValue = std::variant<std::string, int64_t, double>;

struct Axis {
  std::string name;    // "batch": YAML key; the flag is "--batch" ('_' becomes '-')
  std::string column;  // of the store, CSV and JSON: the name, unless another column has it
  std::string help;    // one line for --help and `tench list axes`
  AxisKind kind = AxisKind::kText;
  AxisValue fallback;                // the default; a cell's id omits axes at their default
  std::vector<std::string> choices;  // kChoice only
  double low = 0, high = 0;          // kInteger and kReal: inclusive bounds
  // kText only: the canonical spelling of a value; an error says what the accepted values are.
  Result<std::string> (*canonical)(std::string_view) = nullptr;

  // Two spellings of one value parse to the same value. Error: "batch: '0' is not an integer from 1
  // to 1048576".
  Result<AxisValue> Parse(std::string_view text) const;
  std::string Print(const AxisValue& value) const;  // Parse(Print(v)) == v
};

// Every axis, in the order in which cells are printed and sorted.
std::span<const Axis> Axes();

// Positions in Axes(). A test checks that each names its row.
enum AxisIndex : size_t {
  kAxisWorker,       // text, required; "name" or "name@version"
  kAxisNetwork,      // text, required
  kAxisData,         // text; "" = the network's own
  kAxisDevice,       // text: "cpu" or "gpu:N" (axis/device_name.h); default cpu
  kAxisThreads,      // integer; 0 = every CPU that the process may use
  kAxisBatch,        // integer, 1 … 1048576; default 16
  kAxisPrecision,    // choice f32, bf16, f16; default f32
  kAxisPhase,        // choice forward, gradient, train; default train
  kAxisInput,        // choice fixed, cycled; default fixed
  kAxisImages,       // integer: images in the synthetic data set; 0 = the data set's own size
  kAxisLabels,       // integer: distinct classes in the labels; 0 = all classes of the network
  kAxisLength,       // integer: sequence length of recurrent networks; 0 = the network's own
  kAxisLr,           // real
  kAxisMomentum,     // real
  kAxisWeightDecay,  // real
  kAxisSeed,         // integer
  kAxisTuned,        // choice no, yes: settings that trials found fastest
  kAxisPlacement,    // text: first, spread, compact or node:N (axis/placement_name.h)
  kAxisDataThreads,  // integer: threads that load batches; 0 = input is made off the clock
  kAxisPrefetch,     // integer: batches that these threads keep ready
  kAxisOptimizer,    // text: type and settings (axis/optimizer_name.h)
  kAxisLrPolicy,     // text: learning-rate policy (axis/learning_rate.h)
  kAxisIsa,          // choice widest, sse41, avx, avx2, avx512: the limit of vector instructions
  kAxisCount,
};

// The row with that name; an error for an unknown name suggests the nearest one.
Result<size_t> FindAxis(std::string_view name);

}  // namespace tench
