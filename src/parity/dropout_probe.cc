// SPDX-License-Identifier: Apache-2.0
#include "parity/dropout_probe.h"

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "net/builder.h"
#include "net/fill.h"
#include "parity/trial.h"
#include "protocol/tensor_path.h"

namespace tench {
namespace {

constexpr uint64_t kProbeSeed = 0x64726f70;
constexpr int64_t kFeatures = 20'000;
constexpr double kNegativeInputs = 0.25;  // of x: the ReLU's share of zeros
// So small that the weight of `reveal` does not change the second step's loss; the weight of
// `values` gets a factor, so that its movement is far above the rounding of x.
constexpr double kProbeRate = 0x1p-24;
constexpr double kValuesFactor = 0x1p14;

constexpr double kMaskSigmas = 4.5;  // 3 would reject a correct generator once in 400 draws
constexpr double kFirstTolerance = 1e-5;
// Of the second step's output, to which the first step's update contributes, and of gradients,
// which are differences of rounded weights.
constexpr double kProbeTolerance = 0.02;

// Workers may fuse dropout with a ReLU before it, so that each ratio has a branch with and one
// without a ReLU.
std::string BranchName(double ratio, bool after_relu) {
  return fmt::format("{}dropout-{}", after_relu ? "relu-" : "", ratio);
}

std::vector<float> ProbeValues(const std::string& name, int64_t count) {
  const Generator random(kProbeSeed, name);
  std::vector<float> values;
  values.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<uint64_t>(2 * i);
    const double size = 0.5 + random.Uniform(index);
    values.push_back(
        static_cast<float>(random.Uniform(index + 1) < kNegativeInputs ? -size : size));
  }
  return values;
}

std::vector<float> ScaledIdentity(int64_t size, float scale) {
  std::vector<float> values(static_cast<size_t>(size * size));
  for (int64_t i = 0; i < size; ++i) values[static_cast<size_t>(i * size + i)] = scale;
  return values;
}

// One branch of the trial, read back.
class Branch {
 public:
  Branch(const Trial& trial, const std::filesystem::path& folder, double ratio, bool after_relu)
      : name_(BranchName(ratio, after_relu)),
        after_relu_(after_relu),
        ratio_(ratio),
        batch_(trial.job.batch),
        before_(trial.reals.at(name_ + ".values.weight")),
        folder_(folder) {}

  Result<std::string> Judge() {
    std::vector<bool> first;
    std::vector<float> revealed(before_.size());
    for (int step = 1; step <= 2; ++step) {
      const std::vector<float> weight = TENCH_TRY(ReadWeight(step, ".values.weight")),
                               reveal = TENCH_TRY(ReadWeight(step, ".reveal.weight"));
      std::vector<double> output(before_.size()), gradient(before_.size());
      for (size_t i = 0; i < before_.size(); ++i) {
        // `values.weight` is (features, N), `reveal.weight` is (N, features).
        const size_t feature = i / Batch(), sample = i % Batch();
        const size_t at = sample * static_cast<size_t>(kFeatures) + feature;
        output[i] = (double{revealed[at]} - reveal[at]) / kProbeRate;
        gradient[i] = (double{before_[i]} - weight[i]) / (kProbeRate * kValuesFactor);
      }
      std::string complaint = JudgeStep(step, output, gradient);
      if (!complaint.empty()) return complaint;
      if (step == 2) complaint = JudgeSteps(first);
      if (!complaint.empty()) return complaint;
      first = kept_;
      before_ = weight;
      revealed = reveal;
    }
    return std::string();
  }

 private:
  size_t Batch() const { return static_cast<size_t>(batch_); }
  // Whether x reaches dropout.
  bool Passes(double x) const { return !after_relu_ || x > 0; }

  Result<std::vector<float>> ReadWeight(int step, std::string_view suffix) const {
    std::vector<float> values(before_.size());
    TENCH_TRY(ReadRaw(
        TensorPath(folder_ / std::to_string(step), "parameters", name_ + std::string(suffix)),
        std::span<float>(values)));
    return values;
  }

  std::string JudgeStep(int step, const std::vector<double>& output,
                        const std::vector<double>& gradient) {
    const double scale = 1 / (1 - ratio_),
                 tolerance = step == 1 ? kFirstTolerance : kProbeTolerance;
    double zeros = 0, count = 0;
    kept_.assign(before_.size(), false);
    for (size_t i = 0; i < before_.size(); ++i) {
      const double x = before_[i];
      if (!std::isfinite(output[i]) || !std::isfinite(gradient[i]))
        return "an output or a gradient is not finite";
      if (!Passes(x)) {
        if (std::abs(output[i]) > kProbeTolerance || std::abs(gradient[i]) > kProbeTolerance)
          return "a negative input passes the ReLU before dropout";
        continue;
      }
      const bool kept = kept_[i] = output[i] / x > 0.5;
      ++count;
      zeros += !kept;
      if (kept && !(std::abs(output[i] / (scale * x) - 1) <= tolerance))
        return fmt::format("a survivor is scaled by {:.6g} instead of {:.6g}", output[i] / x,
                           scale);
      if (!kept && std::abs(output[i]) > kProbeTolerance)
        return fmt::format("an element is scaled by {:.6g}; it must be 0 or {:.6g}", output[i] / x,
                           scale);
      const double expected = kept ? scale * (output[i] + 1) : 0;
      if (!(std::abs(gradient[i] - expected) <=
            kProbeTolerance * scale * (scale * std::abs(x) + 1)))
        return fmt::format(
            "the gradient of an element that is {} in the forward pass is {:.4g} instead of "
            "{:.4g}: "
            "the backward pass does not use the forward mask",
            kept ? "kept" : "dropped", gradient[i], expected);
    }
    const double share = zeros / count,
                 allowed = kMaskSigmas * std::sqrt(ratio_ * (1 - ratio_) / count);
    if (!(std::abs(share - ratio_) <= allowed))
      return fmt::format("a share of {:.4f} is zero instead of {} ± {:.4f}", share, ratio_,
                         allowed);
    return JudgeSamples();
  }

  // Two independent masks agree in a share of ratio² + (1 - ratio)² of the elements.
  std::string JudgeAgreement(double agreeing, double count, std::string_view what) const {
    const double expected = ratio_ * ratio_ + (1 - ratio_) * (1 - ratio_), share = agreeing / count;
    const double allowed = kMaskSigmas * std::sqrt(expected * (1 - expected) / count);
    if (std::abs(share - expected) <= allowed) return "";
    return fmt::format("the masks of {} agree in a share of {:.4f} instead of {:.4f} ± {:.4f}",
                       what, share, expected, allowed);
  }

  std::string JudgeSamples() const {
    for (size_t sample = 1; sample < Batch(); ++sample) {
      double agreeing = 0, count = 0;
      for (size_t row = 0; row < before_.size(); row += Batch()) {
        if (!Passes(before_[row]) || !Passes(before_[row + sample])) continue;
        ++count;
        agreeing += kept_[row] == kept_[row + sample];
      }
      std::string complaint =
          JudgeAgreement(agreeing, count, fmt::format("samples 1 and {}", sample + 1));
      if (!complaint.empty()) return complaint;
    }
    return "";
  }

  std::string JudgeSteps(const std::vector<bool>& first) const {
    double agreeing = 0, count = 0;
    for (size_t i = 0; i < before_.size(); ++i) {
      if (!Passes(before_[i])) continue;
      ++count;
      agreeing += kept_[i] == first[i];
    }
    return JudgeAgreement(agreeing, count, "two steps");
  }

  const std::string name_;
  const bool after_relu_;
  const double ratio_;
  const int64_t batch_;
  std::vector<float> before_;  // the weight of `values` before the step, (features, N)
  std::vector<bool> kept_;     // the mask of the last step, where x passes
  const std::filesystem::path& folder_;
};

void AddBranch(double ratio, bool after_relu, int64_t batch, GraphBuilder& b, DropoutProbe& probe) {
  const Fill zero{FillKind::kConstant, 0, 0};
  const std::string name = BranchName(ratio, after_relu), values = name + ".values";
  b.Append(values, FullyConnected{kFeatures, false}, {"eye"}, {zero, kValuesFactor, 1});
  probe.reals[values + ".weight"] = ProbeValues(values + ".weight", kFeatures * batch);
  if (after_relu) b.Append(name + ".relu", Relu{}, {values});
  b.Append(name, Dropout{ratio}, {after_relu ? name + ".relu" : values});
  b.Append(name + ".reveal", FullyConnected{batch, false}, {name}, {zero, 1, 1});
  // Half the number of elements makes the gradient of a mean square the plain difference.
  b.Append(name + ".reveal-loss", MeanSquaredError{0.5 * static_cast<double>(batch * batch)},
           {name + ".reveal", "unit"});
  b.Append(name + ".loss", MeanSquaredError{0.5 * static_cast<double>(batch * kFeatures)},
           {name, "minus-one"});
}

}  // namespace

std::vector<double> DropoutRatios(const Graph& network) {
  std::vector<double> ratios;
  for (const Layer& layer : network.layers) {
    const Dropout* dropout = std::get_if<Dropout>(&layer.op);
    if (dropout != nullptr &&
        std::find(ratios.begin(), ratios.end(), dropout->ratio) == ratios.end())
      ratios.push_back(dropout->ratio);
  }
  return ratios;
}

DropoutProbe MakeDropoutProbe(const std::vector<double>& ratios, int64_t batch) {
  DropoutProbe probe;
  probe.rate = kProbeRate;
  GraphBuilder b("dropout");
  const Fill zero{FillKind::kConstant, 0, 0};
  b.Append("eye", Input{InputRole::kData, {batch}, zero}, {});
  b.Append("unit", Input{InputRole::kData, {batch}, zero}, {});
  b.Append("minus-one", Input{InputRole::kData, {kFeatures}, {FillKind::kConstant, -1, 0}}, {});
  probe.reals["eye"] = ScaledIdentity(batch, 1);
  probe.reals["unit"] = ScaledIdentity(batch, -1);
  for (const double ratio : ratios) {
    for (const bool after_relu : {false, true}) AddBranch(ratio, after_relu, batch, b, probe);
  }
  probe.network = b.Take();
  return probe;
}

std::string JudgeDropout(const Trial& trial, const std::filesystem::path& folder) {
  for (const TypedLayer& layer : trial.graph.layers) {
    const Dropout* dropout = std::get_if<Dropout>(&layer.layer.op);
    if (dropout == nullptr) continue;
    const std::string& name = layer.layer.name;
    const bool after_relu = name == BranchName(dropout->ratio, true);
    const Result<std::string> complaint = Branch(trial, folder, dropout->ratio, after_relu).Judge();
    if (!complaint.ok()) return fmt::format("{}: {}", name, complaint.error().message);
    if (!complaint->empty()) return fmt::format("{}: {}", name, *complaint);
  }
  return "";
}

}  // namespace tench
