// SPDX-License-Identifier: Apache-2.0
#include "axis/axis.h"

#include <algorithm>

#include "axis/device_name.h"
#include "axis/learning_rate.h"
#include "axis/optimizer_name.h"
#include "axis/placement_name.h"
#include "base/text.h"
#include "record/phase.h"

namespace tench {
namespace {

constexpr size_t kMaxTextBytes = 4096;
// The bounds are doubles, and workers in other languages may represent every number as a double.
constexpr double kMaxSeed = 9007199254740992;

Result<std::string> PlainText(std::string_view text) {
  const bool plain = text.size() <= kMaxTextBytes &&
                     std::none_of(text.begin(), text.end(),
                                  [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
  if (!plain) return Failed("'{}' is not a text without control characters", Printable(text, 60));
  return std::string(text);
}

Result<std::string> CanonicalDevice(std::string_view text) {
  return ToString(TENCH_TRY(ParseDevice(text)));
}

Result<std::string> CanonicalPlacement(std::string_view text) {
  return ToString(TENCH_TRY(ParsePlacement(text)));
}

Result<std::string> CanonicalOptimizer(std::string_view text) {
  return ToString(TENCH_TRY(ParseOptimizer(text)));
}

Result<std::string> CanonicalRatePolicy(std::string_view text) {
  return RatePolicyText(TENCH_TRY(ParseRatePolicy(text)));
}

Axis TextAxis(std::string name, std::string help, std::string fallback,
              decltype(Axis::canonical) canonical = PlainText) {
  Axis axis;
  axis.name = axis.column = std::move(name);
  axis.help = std::move(help);
  axis.fallback = std::move(fallback);
  axis.canonical = canonical;
  return axis;
}

Axis ChoiceAxis(std::string name, std::string help, std::string fallback,
                std::vector<std::string> choices) {
  Axis axis;
  axis.name = axis.column = std::move(name);
  axis.help = std::move(help);
  axis.kind = AxisKind::kChoice;
  axis.fallback = std::move(fallback);
  axis.choices = std::move(choices);
  return axis;
}

Axis NumberAxis(std::string name, std::string help, AxisValue fallback, double low, double high) {
  Axis axis;
  axis.name = axis.column = std::move(name);
  axis.help = std::move(help);
  axis.kind = std::holds_alternative<int64_t>(fallback) ? AxisKind::kInteger : AxisKind::kReal;
  axis.fallback = std::move(fallback);
  axis.low = low;
  axis.high = high;
  return axis;
}

// The column "isa" of a run is the CPU's widest instruction set.
Axis IsaAxis() {
  Axis axis = ChoiceAxis("isa", "widest vector instructions that libraries may use", "widest",
                         {"widest", "sse41", "avx", "avx2", "avx512"});
  axis.column = "isa_limit";
  return axis;
}

std::vector<Axis> MakeAxes() {
  const auto phases = PhaseNames();
  return {
      TextAxis("worker", "framework to measure: NAME or NAME@VERSION", ""),
      TextAxis("network", "network of the zoo, or a network file", ""),
      TextAxis("data", "synthetic data set, or files as FORMAT:PATH; empty = the network's default",
               ""),
      TextAxis("device", std::string(kDeviceForms), "cpu", CanonicalDevice),
      NumberAxis("threads", "CPU threads; 0 = all CPUs that the process may use", int64_t{0}, 0,
                 65536),
      NumberAxis("batch", "samples per step", int64_t{16}, 1, 1048576),
      ChoiceAxis("precision", "number format of the computation", "f32", {"f32", "bf16", "f16"}),
      ChoiceAxis(
          "phase",
          "computation of one step; gradient = forward + backward, train = gradient + update",
          "train", {phases.begin(), phases.end()}),
      ChoiceAxis("input", "fixed: one resident batch; cycled: a new batch every step", "fixed",
                 {"fixed", "cycled"}),
      NumberAxis("images", "samples in the synthetic data set; 0 = the data set's size", int64_t{0},
                 0, 1e12),
      NumberAxis("labels", "distinct classes in the synthetic labels; 0 = all classes", int64_t{0},
                 0, 1e9),
      NumberAxis("length", "sequence length of recurrent networks; 0 = the data set's", int64_t{0},
                 0, 1048576),
      NumberAxis("lr", "learning rate", 0.01, 0, 1000),
      NumberAxis("momentum", "momentum of the update", 0.9, 0, 1),
      NumberAxis("weight_decay", "L2 weight decay of the update", 0.0005, 0, 1),
      NumberAxis("seed", "seed of weights and synthetic data", int64_t{1}, 0, kMaxSeed),
      ChoiceAxis("tuned", "yes: settings that trials found fastest, under --tune-budget", "no",
                 {"no", "yes"}),
      TextAxis(
          "placement",
          "CPUs of the threads: first = lowest numbers; spread = over all NUMA nodes; compact = "
          "few NUMA nodes; node:N",
          "first", CanonicalPlacement),
      NumberAxis("data_threads",
                 "threads that load batches during the steps; 0 = batches are made off the clock",
                 int64_t{0}, 0, 256),
      NumberAxis("prefetch", "batches that data_threads keep ready for the next steps", int64_t{2},
                 0, 1024),
      TextAxis(
          "optimizer",
          "update rule: sgd, nesterov, adam, rmsprop, adagrad or adadelta, with settings as in "
          "adam,momentum2=0.99",
          "sgd", CanonicalOptimizer),
      TextAxis("lr_policy",
               "learning rate over the steps, a policy of Caffe with its settings, such as "
               "step,gamma=0.1,stepsize=1000",
               "fixed", CanonicalRatePolicy),
      IsaAxis(),
  };
}

std::string Bounds(const Axis& axis) {
  return axis.kind == AxisKind::kInteger ? fmt::format("{} to {}", static_cast<int64_t>(axis.low),
                                                       static_cast<int64_t>(axis.high))
                                         : fmt::format("{} to {}", axis.low, axis.high);
}

}  // namespace

Result<AxisValue> Axis::Parse(std::string_view text) const {
  const std::string shown = Printable(text, 60);
  switch (kind) {
    case AxisKind::kText: {
      Result<std::string> value = canonical(text);
      if (!value.ok()) return Failed("{}: {}", name, value.error().message);
      return AxisValue(*std::move(value));
    }
    case AxisKind::kChoice:
      if (std::find(choices.begin(), choices.end(), text) == choices.end())
        return Failed("{}: '{}' is not one of {}{}", name, shown, Join(choices, ", "),
                      Hint(text, choices));
      return AxisValue(std::string(text));
    case AxisKind::kInteger: {
      const Result<int64_t> value = ParseInteger(text);
      // Every bound is an integer that a double represents exactly, so the comparison is exact.
      if (!value.ok() || *value < static_cast<int64_t>(low) || *value > static_cast<int64_t>(high))
        return Failed("{}: '{}' is not an integer from {}", name, shown, Bounds(*this));
      return AxisValue(*value);
    }
    case AxisKind::kReal: {
      const Result<double> value = ParseReal(text);
      if (!value.ok() || !(*value >= low && *value <= high))
        return Failed("{}: '{}' is not a number from {}", name, shown, Bounds(*this));
      return AxisValue(*value + 0.0);  // -0 becomes 0, which prints differently
    }
  }
  Check(false, "an axis has no kind");
  return AxisValue();
}

std::string Axis::Print(const AxisValue& value) const {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  // fmt prints the shortest form that reads back as the same number.
  return fmt::format("{}", std::get<double>(value));
}

std::span<const Axis> Axes() {
  static const std::vector<Axis> axes = MakeAxes();
  return axes;
}

Result<size_t> FindAxis(std::string_view name) {
  std::vector<std::string> names;
  for (size_t i = 0; i < Axes().size(); ++i) {
    if (Axes()[i].name == name) return i;
    names.push_back(Axes()[i].name);
  }
  return Failed("unknown axis '{}'{}", Printable(name, 60), Hint(name, names));
}

}  // namespace tench
