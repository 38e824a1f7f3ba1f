// SPDX-License-Identifier: Apache-2.0
#include "parity/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tench {
namespace {

// The relative tolerance of a single op and of a loss, and the minimum for a whole network.
constexpr double kRelative = 1e-5;
// Of a single op's gradient, which is computed from rounded statistics and sums. TensorFlow 1.4's
// batch norm takes rsqrtps and a Newton step, whose error depends on the CPU's maker: 1.1e-5 was
// seen.
constexpr double kOpGradient = 2e-5;
constexpr double kTimesJitter = 10;
constexpr double kSteadyBound = 1e-3;
// Each op of a network may differ by its own tolerance, and a gradient passes through tens of them.
constexpr double kSteadyMinimum = 2e-4;
constexpr double kSumUlps = 4 * 0x1p-24;  // for a sum of n terms, times √n
// Of the reference's jitter: 16 ulps, uniformly distributed in both directions.
constexpr double kJitterRms = 16 * 0x1p-24 / 1.732;
// The absolute floor of an op's near-zero tensor, relative to the tolerance of the branch's
// largest.
constexpr double kFloorShare = 0.1;
constexpr double kUlps = 4 * 0x1p-24;  // the rounding of a few updates, relative to the weight
// A loss near zero is the logarithm of a softmax near one, whose f32 spacing is 2^-24.
constexpr double kLossFloor = 4 * 0x1p-24;
// A single element may exceed the root mean square of all by this factor: of 64 samples of normally
// distributed errors at the bound, one in 10^13 does.
constexpr double kElementFactor = 8;
constexpr double kNoise = 0.02;          // the share by which rounding changes noise
constexpr double kNegligible = 0.01;     // of a group's usual norm
constexpr double kDiscriminating = 0.1;  // the largest tolerance, relative to the norm

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

double Root(int64_t elements) {
  return std::sqrt(std::max<double>(1, static_cast<double>(elements)));
}

std::map<std::string, Group> Groups(TrialKind kind, const Answer& reference) {
  std::map<std::string, std::vector<double>> rms, changes;
  for (const auto& [key, tensor] : reference.tensors) {
    rms[tensor.group].push_back(tensor.sketch.norm / Root(tensor.elements));
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

// The rounding error of a sum in f32, relative to the change of the sum under jitter. Jitter moves
// each of n terms by itself, whereas the partial sums of f32 round n times. They differ where the
// terms cancel, as in the gradient of a shift that the next batch norm removes.
double SumOverJitter(const TensorAnswer& tensor) {
  return kSumUlps * std::sqrt(static_cast<double>(tensor.terms)) / kJitterRms;
}

// A tensor that is zero by the network's definition, or nearly so by cancellation: rounding changes
// it visibly, and it is far below its group.
bool IsNoise(TrialKind kind, const TensorAnswer& tensor, const Group& group) {
  if (kind == TrialKind::kOps)
    return true;  // jitter is unknown; the branch's largest tensor counts
  const double rounding = std::max(1.0, SumOverJitter(tensor)) * tensor.change,
               usual = group.rms * Root(tensor.elements);
  return rounding >= kNoise * tensor.sketch.norm &&
         std::max(tensor.sketch.norm, rounding) <= kNegligible * usual;
}

double RelativeTolerance(const TensorAnswer& tensor) {
  return std::max(kRelative, kSumUlps * std::sqrt(static_cast<double>(tensor.terms)));
}

// The rounding of the values themselves, which a small movement does not bound.
double ValueRounding(const std::string& key, double scale) {
  if (key.starts_with("parameters/")) return kUlps * scale;
  return key.starts_with("state/") ? kRelative * scale : 0;
}

double Allowance(TrialKind kind, const std::string& key, const TensorAnswer& tensor,
                 const Group& group) {
  const double norm = tensor.sketch.norm;
  double relative = RelativeTolerance(tensor);
  if (kind == TrialKind::kOps && key.starts_with("gradients/"))
    relative = std::max(relative, kOpGradient);
  double allowance = std::max(relative * norm, ValueRounding(key, tensor.scale));
  if (IsNoise(kind, tensor, group)) {
    const double floor = kind == TrialKind::kOps ? kFloorShare * relative : kSteadyBound;
    allowance = std::max(allowance, floor * group.rms * Root(tensor.elements));
  }
  if (kind == TrialKind::kOps) return allowance;
  // One jitter may hardly change a small tensor by chance; the change of its group is more robust.
  const double change = std::max(tensor.change, group.relative_change * norm);
  // Ten times the change of a single near tie of a pool would be more than any rounding makes.
  const bool steady = kind == TrialKind::kSteady || kind == TrialKind::kTrain;
  const double limit = steady && !IsNoise(kind, tensor, group)
                           ? std::max(kSteadyBound * norm, 2 * change)
                           : std::numeric_limits<double>::infinity();
  if (steady) allowance = std::max(allowance, kSteadyMinimum * norm);
  const bool sum = key.starts_with("gradients/") || key.starts_with("parameters/");
  return std::max({allowance, std::min(kTimesJitter * change, limit),
                   sum ? SumOverJitter(tensor) * tensor.change : 0});
}

// The norm that a wrong tensor would have.
double UsualNorm(TrialKind kind, const TensorAnswer& tensor, const Group& group) {
  if (kind == TrialKind::kOps || !IsNoise(kind, tensor, group)) return tensor.sketch.norm;
  return std::max(tensor.sketch.norm, group.rms * Root(tensor.elements));
}

std::string Describe(const std::string& key) {
  const size_t slash = key.find('/');
  return key.substr(0, slash) + " of " + key.substr(slash + 1);
}

void CompareLosses(const std::vector<double>& expected, const std::vector<double>& got,
                   const std::vector<double>& changes, std::vector<Deviation>& deviations) {
  // One jitter may hardly change a single loss by chance, so the largest change of all steps
  // counts.
  const double change = changes.empty() ? 0 : *std::max_element(changes.begin(), changes.end());
  for (size_t i = 0; i < expected.size(); ++i) {
    const double allowance =
        std::max({kRelative * std::abs(expected[i]), kTimesJitter * change, kLossFloor});
    const double difference =
        i < got.size() ? std::abs(got[i] - expected[i]) : std::numeric_limits<double>::infinity();
    const std::string what =
        expected.size() == 1 ? "the loss" : fmt::format("the loss of step {}", i + 1);
    deviations.push_back({what, difference, allowance, std::abs(expected[i])});
  }
}

double DistanceTo(const TensorAnswer& expected, const Answer& answer, const std::string& key) {
  const auto found = answer.tensors.find(key);
  return found == answer.tensors.end() ? std::numeric_limits<double>::infinity()
                                       : Distance(expected.sketch, found->second.sketch);
}

// The sampled element that is furthest from its bound.
Deviation CompareSamples(const std::string& key, const TensorAnswer& expected,
                         const std::vector<float>& got, const Group& group) {
  Deviation worst{"an element of the " + Describe(key), 0, 0, 0, ""};
  const double relative = RelativeTolerance(expected),
               rms = expected.sketch.norm / Root(expected.elements);
  for (size_t i = 0; i < expected.samples.size(); ++i) {
    const double value = expected.samples[i];
    Deviation one = worst;
    one.difference =
        i < got.size() ? std::abs(got[i] - value) : std::numeric_limits<double>::infinity();
    one.allowance =
        kElementFactor * relative * std::max({rms, std::abs(value), kFloorShare * group.rms});
    if (i == 0 || one.ratio() > worst.ratio()) worst = one;
  }
  return worst;
}

}  // namespace

double Deviation::ratio() const {
  if (!(difference <= std::numeric_limits<double>::max()))
    return std::numeric_limits<double>::infinity();
  if (difference == 0) return 0;
  return allowance > 0 ? difference / allowance : std::numeric_limits<double>::infinity();
}

bool Deviation::discriminates() const { return norm > 0 && allowance <= kDiscriminating * norm; }

std::vector<Deviation> Compare(TrialKind kind, const Answer& reference, const Answer& worker) {
  std::vector<Deviation> deviations;
  // The probe of ops has one loss over all branches, which cannot locate a difference.
  if (kind != TrialKind::kOps)
    CompareLosses(reference.losses, worker.losses, reference.loss_changes, deviations);
  const std::map<std::string, Group> groups = Groups(kind, reference);
  for (const std::string& key : reference.order) {
    const TensorAnswer& expected = reference.tensors.at(key);
    const Group& group = groups.at(expected.group);
    deviations.push_back({Describe(key), DistanceTo(expected, worker, key),
                          Allowance(kind, key, expected, group), UsualNorm(kind, expected, group),
                          key});
    const auto found = worker.tensors.find(key);
    if (!expected.samples.empty() && found != worker.tensors.end())
      deviations.push_back(CompareSamples(key, expected, found->second.samples, group));
  }
  return deviations;
}

std::vector<Deviation> CompareBuilds(TrialKind kind, const Answer& reference,
                                     const Answer& observed, const Answer& timed) {
  std::vector<Deviation> deviations;
  CompareLosses(observed.losses, timed.losses, reference.loss_changes, deviations);
  const std::map<std::string, Group> groups = Groups(kind, reference);
  const std::map<std::string, Group> here = Groups(kind, observed);
  for (const std::string& key : observed.order) {
    const TensorAnswer& expected = observed.tensors.at(key);
    const auto found = reference.tensors.find(key);
    double relative = kRelative, usual = expected.sketch.norm;
    if (found != reference.tensors.end()) {
      const TensorAnswer& model = found->second;
      const Group& group = groups.at(model.group);
      const double norm = UsualNorm(kind, model, group);
      if (norm > 0) relative = Allowance(kind, key, model, group) / norm;
      if (IsNoise(kind, model, group))
        usual = std::max(usual, here.at(expected.group).rms * Root(expected.elements));
    }
    // Two builds of one worker differ by less than two frameworks, so that each tensor can be
    // discriminated, also where the sums of the reference's trial cancel.
    relative = std::min(relative, kDiscriminating);
    const double allowance = std::max(relative * usual, ValueRounding(key, expected.scale));
    deviations.push_back({Describe(key), DistanceTo(expected, timed, key), allowance, usual, key});
  }
  return deviations;
}

}  // namespace tench
