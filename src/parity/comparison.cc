// SPDX-License-Identifier: Apache-2.0
#include "parity/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/file.h"
#include "protocol/tensor_path.h"

namespace tench {
namespace {

// The relative tolerance of a single op and of a loss, and the minimum for a whole network.
constexpr double kRelative = 1e-5;
constexpr double kTimesJitter = 10;
constexpr double kSumUlps = 4 * 0x1p-24;  // for a sum of n terms, times √n
// The absolute floor of a tensor with a near-zero norm, relative to the tolerance of the group's
// typical element.
constexpr double kFloorShare = 0.1;
constexpr double kUlps = 4 * 0x1p-24;  // the rounding of five updates, relative to the weight
// A loss near zero is the logarithm of a softmax near one, whose f32 spacing is 2^-24.
constexpr double kLossFloor = 4 * 0x1p-24;
constexpr double kDropoutSigmas = 4.5;  // 3 would reject a correct generator once in 400 draws
constexpr double kSurvivorTolerance = 1e-5;

struct Group {
  // The largest of an op's branch; the median of a network, which is robust to one large tensor.
  double rms = 0;
  double relative_change = 0;  // the median
};

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

std::map<std::string, Group> Groups(TrialKind kind, const Answer& reference) {
  std::map<std::string, std::vector<double>> rms, changes;
  for (const auto& [key, tensor] : reference.tensors) {
    rms[tensor.group].push_back(
        tensor.sketch.norm / std::sqrt(std::max<double>(1, static_cast<double>(tensor.elements))));
    changes[tensor.group].push_back(tensor.sketch.norm > 0 ? tensor.change / tensor.sketch.norm
                                                           : 0);
  }
  std::map<std::string, Group> groups;
  for (auto& [name, values] : rms) {
    groups[name].rms =
        kind == TrialKind::kOps ? *std::max_element(values.begin(), values.end()) : Median(values);
    groups[name].relative_change = Median(changes[name]);
  }
  return groups;
}

double Allowance(TrialKind kind, const std::string& key, const TensorAnswer& tensor,
                 const Group& group) {
  const double norm = tensor.sketch.norm;
  const double relative =
      std::max(kRelative, kSumUlps * std::sqrt(static_cast<double>(tensor.terms)));
  double allowance = std::max(relative * norm, kFloorShare * relative * group.rms *
                                                   std::sqrt(static_cast<double>(tensor.elements)));
  if (key.starts_with("parameters/")) allowance = std::max(allowance, kUlps * tensor.scale);
  // A small movement of a running statistic does not bound the rounding error of its value.
  if (key.starts_with("state/")) allowance = std::max(allowance, kRelative * tensor.scale);
  if (kind == TrialKind::kOps) return allowance;
  // One jitter may hardly change a small tensor by chance; the change of its group is more robust.
  return std::max(
      {allowance, kTimesJitter * tensor.change, kTimesJitter * group.relative_change * norm});
}

std::string Describe(const std::string& key) {
  const size_t slash = key.find('/');
  return key.substr(0, slash) + " of " + key.substr(slash + 1);
}

}  // namespace

double Deviation::ratio() const {
  if (!(difference <= std::numeric_limits<double>::max()))
    return std::numeric_limits<double>::infinity();
  if (difference == 0) return 0;
  return allowance > 0 ? difference / allowance : std::numeric_limits<double>::infinity();
}

std::vector<Deviation> Compare(TrialKind kind, const Answer& reference, const Answer& worker) {
  std::vector<Deviation> deviations;
  const double infinity = std::numeric_limits<double>::infinity();
  // One jitter may hardly change a single loss by chance, so the largest change of all steps
  // counts.
  const double loss_change =
      reference.loss_changes.empty()
          ? 0
          : *std::max_element(reference.loss_changes.begin(), reference.loss_changes.end());
  // The probe of ops has one loss over all branches, which cannot locate a difference.
  for (size_t i = 0; kind != TrialKind::kOps && i < reference.losses.size(); ++i) {
    const double allowance = std::max(
        {kRelative * std::abs(reference.losses[i]), kTimesJitter * loss_change, kLossFloor});
    const double difference =
        i < worker.losses.size() ? std::abs(worker.losses[i] - reference.losses[i]) : infinity;
    const std::string what =
        reference.losses.size() == 1 ? "the loss" : fmt::format("the loss of step {}", i + 1);
    deviations.push_back({what, difference, allowance});
  }
  const std::map<std::string, Group> groups = Groups(kind, reference);
  for (const std::string& key : reference.order) {
    const TensorAnswer& expected = reference.tensors.at(key);
    const auto found = worker.tensors.find(key);
    const double difference =
        found == worker.tensors.end() ? infinity : Distance(expected.sketch, found->second.sketch);
    deviations.push_back(
        {Describe(key), difference, Allowance(kind, key, expected, groups.at(expected.group))});
  }
  return deviations;
}

std::string JudgeDropout(const Trial& trial, const std::filesystem::path& folder) {
  for (const TypedLayer& layer : trial.graph.layers) {
    const Dropout* dropout = std::get_if<Dropout>(&layer.layer.op);
    if (dropout == nullptr) continue;
    std::vector<float> values(static_cast<size_t>(ElementCount(layer.output.shape)));
    if (const Status read =
            ReadRaw(TensorPath(folder, "outputs", layer.layer.name), std::span<float>(values));
        !read)
      return fmt::format("{}: {}", layer.layer.name, read.error().message);
    const double count = static_cast<double>(values.size()), ratio = dropout->ratio,
                 survivor = 1 / (1 - ratio);
    double zeros = 0;
    for (const float value : values) zeros += value == 0;
    const double share = zeros / count, deviation = std::sqrt(ratio * (1 - ratio) / count);
    if (!(std::abs(share - ratio) <= kDropoutSigmas * deviation))
      return fmt::format("{}: a share of {:.4f} is zero instead of {} ± {:.4f}", layer.layer.name,
                         share, ratio, kDropoutSigmas * deviation);
    for (const float value : values) {
      if (value != 0 && !(std::abs(value - survivor) <= kSurvivorTolerance * survivor))
        return fmt::format("{}: a survivor is scaled by {:.6g} instead of {:.6g}", layer.layer.name,
                           value, survivor);
    }
  }
  return "";
}

}  // namespace tench
