// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/update.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace tench::mxnet {
namespace {

std::string Text(double number) { return fmt::format("{}", number); }

std::string Tuple(const std::vector<double>& numbers) {
  std::vector<std::string> texts;
  for (const double number : numbers) texts.push_back(Text(number));
  return fmt::format("({},)", Join(texts, ", "));
}

const char* OpOf(SolverType type, bool multiple) {
  switch (type) {
    case SolverType::kSgd:
      return multiple ? "multi_sgd_mom_update" : "sgd_mom_update";
    case SolverType::kNesterov:
      return "nag_mom_update";
    case SolverType::kAdam:
    case SolverType::kRmsprop:
    case SolverType::kAdagrad:
    case SolverType::kAdadelta:
      break;
  }
  return "adam_update";
}

// Whether the update has no op of its own.
bool IsComposed(SolverType type) {
  return type == SolverType::kAdagrad || type == SolverType::kAdadelta;
}

}  // namespace

Result<Update> Update::Make(const Library& library, std::vector<Item> items, const Solver& solver,
                            int64_t aggregate) {
  Update update;
  update.library_ = &library;
  update.solver_ = solver;
  update.multiple_ = aggregate > 1 && solver.type == SolverType::kSgd;
  update.op_ = TENCH_TRY(library.Op(OpOf(solver.type, update.multiple_)));
  if (solver.clip_gradients > 0) update.norm_op_ = TENCH_TRY(library.Op("multi_sum_sq"));
  const bool l1 = solver.regularization == Regularization::kL1;
  for (Item& item : items) {
    if (solver.iter_size == 1 && (!l1 || item.weight_decay == 0)) continue;
    item.prepared = TENCH_TRY(ArrayOps(library).Of("zeros_like", {&item.gradient}));
  }
  if (solver.type == SolverType::kRmsprop) {
    update.fixed_ = {
        {"beta1", "0"}, {"beta2", Text(solver.rms_decay)}, {"epsilon", Text(solver.delta)}};
  } else if (solver.type == SolverType::kAdam) {
    update.fixed_ = {{"beta1", Text(solver.momentum)},
                     {"beta2", Text(solver.momentum2)},
                     {"epsilon", Text(solver.delta)}};
  } else {
    update.fixed_ = {{"momentum", Text(solver.momentum)}};
  }
  const size_t stride = update.multiple_ ? static_cast<size_t>(aggregate) : 1;
  for (size_t first = 0; first < items.size(); first += stride) {
    Call call;
    std::vector<double> decays;
    for (size_t i = first; i < std::min(items.size(), first + stride); ++i) {
      call.inputs.insert(call.inputs.end(),
                         {items[i].weight.get(), items[i].used().get(), items[i].momentum.get()});
      if (items[i].momentum2) call.inputs.push_back(items[i].momentum2.get());
      call.outputs.push_back(items[i].weight.get());
      call.lr_mults.push_back(items[i].lr_mult);
      decays.push_back(l1 ? 0 : items[i].weight_decay);
    }
    call.decays = update.multiple_ ? Tuple(decays) : Text(decays[0]);
    call.count = std::to_string(call.outputs.size());
    update.calls_.push_back(std::move(call));
  }
  update.items_ = std::move(items);
  return update;
}

void Update::SetLearningRate(double lr) {
  solver_.lr = lr;
  SetRates(lr);
}

void Update::SetRates(double lr) {
  for (Call& call : calls_) {
    std::vector<double> rates = call.lr_mults;
    for (double& rate : rates) rate *= lr;
    call.rates = multiple_ ? Tuple(rates) : Text(rates[0]);
  }
}

Result<double> Update::ClipScale() {
  std::vector<void*> gradients;
  for (const Item& item : items_) {
    if (item.lr_mult != 0) gradients.push_back(item.used().get());
  }
  if (gradients.empty()) return 1.0;
  const std::string count = std::to_string(gradients.size());
  const char *key = "num_arrays", *value = count.c_str();
  int outputs = 0;
  void** made = nullptr;
  TENCH_TRY(library_->Ask(
      (*library_)->MXImperativeInvoke(norm_op_, static_cast<int>(gradients.size()),
                                      gradients.data(), &outputs, &made, 1, &key, &value),
      "norm"));
  const Array squares(*library_, made[0]);
  std::vector<float> parts(gradients.size());
  TENCH_TRY(squares.Read(parts));
  double sum = 0;
  for (const float part : parts) sum += part;
  const double norm = std::sqrt(sum);
  return norm > solver_.clip_gradients ? solver_.clip_gradients / norm : 1.0;
}

Status Update::Accumulate() {
  const ArrayOps ops(*library_);
  for (const Item& item : items_) {
    if (!item.prepared) continue;
    if (batches_ == 0) {
      TENCH_TRY(ops.Into("_copy", {&item.gradient}, item.prepared));
    } else {
      TENCH_TRY(ops.Into("elemwise_add", {&item.prepared, &item.gradient}, item.prepared));
    }
  }
  return Ok();
}

// The weight decay is L1's: prepared += (weight decay / scale)·sign(weight), because the update
// multiplies by `scale`.
Status Update::Regularize(double scale) {
  const ArrayOps ops(*library_);
  for (const Item& item : items_) {
    if (item.weight_decay == 0) continue;
    const Array sign = TENCH_TRY(ops.Of("sign", {&item.weight}));
    const Array pull = TENCH_TRY(ops.OfScalar("_mul_scalar", sign, item.weight_decay / scale));
    TENCH_TRY(ops.Into("elemwise_add", {&item.prepared, &pull}, item.prepared));
  }
  return Ok();
}

// adagrad and adadelta for one parameter.
Status Update::Compose(const Item& item, double scale) {
  const ArrayOps ops(*library_);
  Array d = TENCH_TRY(ops.OfScalar("_mul_scalar", item.used(), scale));
  if (item.weight_decay != 0 && solver_.regularization == Regularization::kL2) {
    const Array pull = TENCH_TRY(ops.OfScalar("_mul_scalar", item.weight, item.weight_decay));
    TENCH_TRY(ops.Into("elemwise_add", {&d, &pull}, d));
  }
  const auto decayed_square = [&](const Array& value, const Array& history) -> Status {
    const Array square = TENCH_TRY(ops.Of("square", {&value}));
    if (solver_.type == SolverType::kAdagrad)
      return ops.Into("elemwise_add", {&history, &square}, history);
    const Array old = TENCH_TRY(ops.OfScalar("_mul_scalar", history, solver_.momentum)),
                part = TENCH_TRY(ops.OfScalar("_mul_scalar", square, 1 - solver_.momentum));
    return ops.Into("elemwise_add", {&old, &part}, history);
  };
  TENCH_TRY(decayed_square(d, item.momentum));
  Array step;
  if (solver_.type == SolverType::kAdagrad) {
    const Array root = TENCH_TRY(ops.Of("sqrt", {&item.momentum})),
                divisor = TENCH_TRY(ops.OfScalar("_plus_scalar", root, solver_.delta));
    step = TENCH_TRY(ops.Of("elemwise_div", {&d, &divisor}));
  } else {
    const Array above = TENCH_TRY(ops.OfScalar("_plus_scalar", item.momentum2, solver_.delta)),
                below = TENCH_TRY(ops.OfScalar("_plus_scalar", item.momentum, solver_.delta)),
                ratio = TENCH_TRY(ops.Of("elemwise_div", {&above, &below})),
                root = TENCH_TRY(ops.Of("sqrt", {&ratio}));
    step = TENCH_TRY(ops.Of("elemwise_mul", {&d, &root}));
    TENCH_TRY(decayed_square(step, item.momentum2));
  }
  const Array move = TENCH_TRY(ops.OfScalar("_mul_scalar", step, solver_.lr * item.lr_mult));
  return ops.Into("elemwise_sub", {&item.weight, &move}, item.weight);
}

Status Update::Apply() {
  TENCH_TRY(Accumulate());
  if (++batches_ < solver_.iter_size) return Ok();
  batches_ = 0;
  ++updates_;
  const auto count = static_cast<double>(updates_);
  if (solver_.type == SolverType::kAdam)
    SetRates(solver_.lr * std::sqrt(1 - std::pow(solver_.momentum2, count)) /
             (1 - std::pow(solver_.momentum, count)));
  double scale = 1 / static_cast<double>(solver_.iter_size);
  if (norm_op_ != nullptr) scale *= TENCH_TRY(ClipScale());
  if (solver_.regularization == Regularization::kL1) TENCH_TRY(Regularize(scale));
  if (IsComposed(solver_.type)) {
    for (const Item& item : items_) TENCH_TRY(Compose(item, scale));
    return Ok();
  }
  const std::string gradient_scale = scale == 1 ? "" : Text(scale);
  for (Call& call : calls_) TENCH_TRY(Invoke(call, gradient_scale));
  return Ok();
}

Status Update::Invoke(Call& call, const std::string& gradient_scale) {
  std::vector<const char*> keys = {multiple_ ? "lrs" : "lr", multiple_ ? "wds" : "wd"};
  std::vector<const char*> values = {call.rates.c_str(), call.decays.c_str()};
  const auto add = [&](const char* key, const std::string& value) {
    keys.push_back(key);
    values.push_back(value.c_str());
  };
  for (const auto& [key, value] : fixed_) add(key, value);
  if (multiple_) add("num_weights", call.count);
  if (!gradient_scale.empty()) add("rescale_grad", gradient_scale);
  int outputs = static_cast<int>(call.outputs.size());
  void** into = call.outputs.data();
  return library_->Ask((*library_)->MXImperativeInvoke(
                           op_, static_cast<int>(call.inputs.size()), call.inputs.data(), &outputs,
                           &into, static_cast<int>(keys.size()), keys.data(), values.data()),
                       "update");
}

}  // namespace tench::mxnet
