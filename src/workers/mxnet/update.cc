// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/update.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace tench::mxnet {
namespace {

std::string Tuple(const std::vector<double>& numbers) {
  std::vector<std::string> texts;
  for (const double number : numbers) texts.push_back(fmt::format("{}", number));
  return fmt::format("({},)", Join(texts, ", "));
}

}  // namespace

Result<Update> Update::Make(const Library& library, std::vector<Item> items, double momentum, int64_t aggregate) {
  Update update;
  update.library_ = &library;
  update.multiple_ = aggregate > 1;
  update.op_ = TENCH_TRY(library.Op(update.multiple_ ? "multi_sgd_mom_update" : "sgd_mom_update"));
  update.momentum_ = fmt::format("{}", momentum);
  const size_t stride = update.multiple_ ? static_cast<size_t>(aggregate) : 1;
  for (size_t first = 0; first < items.size(); first += stride) {
    Call call;
    std::vector<double> decays;
    for (size_t i = first; i < std::min(items.size(), first + stride); ++i) {
      call.inputs.insert(call.inputs.end(), {items[i].weight.get(), items[i].gradient.get(), items[i].momentum.get()});
      call.outputs.push_back(items[i].weight.get());
      call.lr_mults.push_back(items[i].lr_mult);
      decays.push_back(items[i].weight_decay);
    }
    call.decays = update.multiple_ ? Tuple(decays) : fmt::format("{}", decays[0]);
    call.count = std::to_string(call.outputs.size());
    update.calls_.push_back(std::move(call));
  }
  update.items_ = std::move(items);
  return update;
}

void Update::SetLearningRate(double lr) {
  for (Call& call : calls_) {
    std::vector<double> rates = call.lr_mults;
    for (double& rate : rates) rate *= lr;
    call.rates = multiple_ ? Tuple(rates) : fmt::format("{}", rates[0]);
  }
}

Status Update::Apply() {
  const std::array<const char*, 4> single = {"lr", "wd", "momentum", nullptr}, multiple = {"lrs", "wds", "momentum", "num_weights"};
  for (Call& call : calls_) {
    std::array<const char*, 4> keys = multiple_ ? multiple : single;
    std::array<const char*, 4> values = {call.rates.c_str(), call.decays.c_str(), momentum_.c_str(), call.count.c_str()};
    int outputs = static_cast<int>(call.outputs.size());
    void** into = call.outputs.data();
    TENCH_TRY(library_->Ask((*library_)->MXImperativeInvoke(op_, static_cast<int>(call.inputs.size()), call.inputs.data(), &outputs, &into,
                                                            multiple_ ? 4 : 3, keys.data(), values.data()),
                            "update"));
  }
  return Ok();
}

}  // namespace tench::mxnet
