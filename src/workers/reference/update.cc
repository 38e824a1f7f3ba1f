// SPDX-License-Identifier: Apache-2.0
#include "workers/reference/update.h"

#include <algorithm>
#include <cmath>

#include "workers/reference/kernel.h"

namespace tench {

Update::Update(Network& network, const Solver& solver)
    : network_(network),
      solver_(solver),
      momenta_(network.graph().parameters.size()),
      momenta2_(momenta_.size()) {
  for (size_t i = 0; i < momenta_.size(); ++i) {
    momenta_[i].resize(network.gradient(i).size());
    if (HasSecondHistory(solver.type)) momenta2_[i].resize(network.gradient(i).size());
  }
}

void Update::Reset() {
  updates_ = batches_ = 0;
  for (auto* group : {&momenta_, &momenta2_}) {
    for (std::vector<float>& momenta : *group) std::ranges::fill(momenta, 0.0f);
  }
}

// Sums the gradients of the step's batches in double. After the last, sums_f32_ has their rounded
// sum: clipping needs the sum, and Run divides it.
bool Update::Accumulate() {
  if (solver_.iter_size == 1) return false;
  sums_.resize(momenta_.size());
  sums_f32_.resize(momenta_.size());
  const bool first = batches_ == 0, last = ++batches_ == solver_.iter_size;
  for (size_t i = 0; i < momenta_.size(); ++i) {
    const std::vector<float>& gradient = network_.gradient(i);
    if (first) sums_[i].assign(gradient.size(), 0);
    for (size_t at = 0; at < gradient.size(); ++at) sums_[i][at] += gradient[at];
    if (last) sums_f32_[i].assign(sums_[i].begin(), sums_[i].end());
  }
  if (last) batches_ = 0;
  return !last;
}

const std::vector<float>& Update::Gradient(size_t i) const {
  return solver_.iter_size == 1 ? network_.gradient(i) : sums_f32_[i];
}

// The factor for all gradients that limits their global norm to solver.clip_gradients.
double Update::ClipScale() const {
  if (solver_.clip_gradients <= 0) return 1;
  double squares = 0;
  for (size_t i = 0; i < momenta_.size(); ++i) {
    if (network_.graph().parameters[i].lr_mult == 0) continue;
    for (const float gradient : Gradient(i)) squares += static_cast<double>(gradient) * gradient;
  }
  const double norm = std::sqrt(squares);
  return norm > solver_.clip_gradients ? solver_.clip_gradients / norm : 1;
}

// rule(gradient with weight decay, momentum, second momentum) updates the momenta and returns the
// decrement of the weight.
template <class Rule>
void Update::Apply(size_t i, double clip, const Rule& rule) {
  float* weights = network_.parameter(i).data();
  float *momenta = momenta_[i].data(), *momenta2 = momenta2_[i].data();
  const float* gradients = Gradient(i).data();
  const double decay = solver_.weight_decay * network_.graph().parameters[i].decay_mult;
  const bool l1 = solver_.regularization == Regularization::kL1;
  network_.pool().Split(
      static_cast<int64_t>(momenta_[i].size()), kElementGrain, [&](int64_t first, int64_t last) {
        float unused = 0;
        for (int64_t at = first; at < last; ++at) {
          const double weight = weights[at], pull = l1 ? (weight > 0) - (weight < 0) : weight,
                       gradient = clip * gradients[at] + decay * pull;
          weights[at] =
              static_cast<float>(weights[at] - rule(gradient, momenta[at],
                                                    momenta2 == nullptr ? unused : momenta2[at]));
        }
      });
}

void Update::Run() {
  if (Accumulate()) return;
  ++updates_;
  const double clip = ClipScale() / static_cast<double>(solver_.iter_size),
               momentum = solver_.momentum, momentum2 = solver_.momentum2;
  const double correction =
      std::sqrt(1 - std::pow(momentum2, updates_)) / (1 - std::pow(momentum, updates_));
  for (size_t i = 0; i < momenta_.size(); ++i) {
    const Parameter& parameter = network_.graph().parameters[i];
    if (!parameter.trained) continue;
    const double rate = solver_.lr * parameter.lr_mult;
    switch (solver_.type) {
      case SolverType::kSgd:
        Apply(i, clip, [&](double gradient, float& v, float&) -> double {
          return v = static_cast<float>(momentum * v + rate * gradient);
        });
        break;
      case SolverType::kNesterov:
        Apply(i, clip, [&](double gradient, float& v, float&) {
          const double before = v, after = momentum * before + rate * gradient;
          v = static_cast<float>(after);
          return (1 + momentum) * after - momentum * before;
        });
        break;
      case SolverType::kAdam:
        Apply(i, clip, [&](double gradient, float& v, float& s) {
          const double mean = momentum * v + (1 - momentum) * gradient,
                       square = momentum2 * s + (1 - momentum2) * gradient * gradient;
          v = static_cast<float>(mean);
          s = static_cast<float>(square);
          return rate * correction * mean / (std::sqrt(square) + solver_.delta);
        });
        break;
      case SolverType::kRmsprop:
        Apply(i, clip, [&](double gradient, float& v, float&) {
          const double decay = solver_.rms_decay,
                       square = decay * v + (1 - decay) * gradient * gradient;
          v = static_cast<float>(square);
          return rate * gradient / (std::sqrt(square) + solver_.delta);
        });
        break;
      case SolverType::kAdagrad:
        Apply(i, clip, [&](double gradient, float& v, float&) {
          const double square = v + gradient * gradient;
          v = static_cast<float>(square);
          return rate * gradient / (std::sqrt(square) + solver_.delta);
        });
        break;
      case SolverType::kAdadelta:
        Apply(i, clip, [&](double gradient, float& v, float& s) {
          const double square = momentum * v + (1 - momentum) * gradient * gradient,
                       step = gradient * std::sqrt((s + solver_.delta) / (square + solver_.delta));
          v = static_cast<float>(square);
          s = static_cast<float>(momentum * s + (1 - momentum) * step * step);
          return rate * step;
        });
        break;
    }
  }
}

Status Update::ForEachState(
    size_t i, const std::function<Status(const std::string&, std::vector<float>&)>& visit) {
  const std::string& name = network_.graph().parameters[i].name;
  if (!momenta_[i].empty()) TENCH_TRY(visit(name + ".momentum", momenta_[i]));
  if (!momenta2_[i].empty()) TENCH_TRY(visit(name + ".momentum2", momenta2_[i]));
  return Ok();
}

int64_t Update::bytes() const {
  size_t elements = 0;
  for (const auto* group : {&momenta_, &momenta2_}) {
    for (const std::vector<float>& momenta : *group) elements += momenta.size();
  }
  return static_cast<int64_t>(elements * sizeof(float));
}

}  // namespace tench
