// SPDX-License-Identifier: Apache-2.0
#include "parity/answer.h"

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "net/fill.h"
#include "protocol/tensor_path.h"

namespace tench {
namespace {

constexpr uint64_t kSampleSeed = 0x73616d70;
constexpr int64_t kSamples = 64;

std::vector<float> SampleElements(const std::string& key, const std::vector<float>& values) {
  std::vector<float> samples;
  const Generator random(kSampleSeed, key);
  const int64_t count = static_cast<int64_t>(values.size());
  for (int64_t i = 0; i < std::min(kSamples, count); ++i)
    samples.push_back(values[static_cast<size_t>(
        count <= kSamples ? i : random.Integer(static_cast<uint64_t>(i), 0, count))]);
  return samples;
}

TensorAnswer Summarise(const WantedTensor& wanted, const Trial& trial, std::vector<float>& values) {
  TensorAnswer answer;
  answer.group = wanted.group;
  answer.elements = wanted.elements;
  answer.terms = wanted.terms;
  if (trial.kind == TrialKind::kOps && wanted.start == nullptr)
    answer.samples = SampleElements(wanted.key(), values);
  double squares = 0, sum = 0;
  for (const float value : values) {
    squares += double{value} * value;
    sum += value;
  }
  answer.scale = std::sqrt(squares);
  answer.mean = values.empty() ? 0 : sum / static_cast<double>(values.size());
  if (wanted.start != nullptr) {
    const std::vector<float> start = trial.Start(*wanted.start);
    for (size_t i = 0; i < values.size(); ++i) values[i] -= start[i];
  }
  answer.sketch = MakeSketch(wanted.key(), values);
  return answer;
}

}  // namespace

Answer ReadAnswer(const Trial& trial, const std::filesystem::path& folder,
                  std::vector<double> losses) {
  Answer answer;
  answer.losses = std::move(losses);
  answer.loss_changes.assign(answer.losses.size(), 0);
  std::vector<float> values;
  for (const WantedTensor& wanted : trial.Wanted()) {
    values.resize(static_cast<size_t>(wanted.elements));
    if (const Status status =
            ReadRaw(TensorPath(folder, wanted.kind, wanted.name), std::span<float>(values));
        !status) {
      if (answer.missing.empty()) {
        const std::string file = TensorPath(folder, wanted.kind, wanted.name).string();
        std::string reason = status.error().message;
        if (reason.starts_with(file))
          reason = reason.substr(std::min(reason.size(), file.size() + 2));
        answer.missing = fmt::format("{} of {}: {}", wanted.kind, wanted.name, reason);
      }
      continue;
    }
    answer.order.push_back(wanted.key());
    answer.tensors[wanted.key()] = Summarise(wanted, trial, values);
  }
  return answer;
}

void NoteChanges(const Answer& jittered, Answer& answer) {
  for (auto& [key, tensor] : answer.tensors) {
    const auto found = jittered.tensors.find(key);
    if (found != jittered.tensors.end())
      tensor.change = std::max(tensor.change, Distance(tensor.sketch, found->second.sketch));
  }
  for (size_t i = 0; i < answer.losses.size() && i < jittered.losses.size(); ++i)
    answer.loss_changes[i] =
        std::max(answer.loss_changes[i], std::abs(answer.losses[i] - jittered.losses[i]));
}

Json ToJson(const Answer& answer) {
  Json tensors = Json::array();
  for (const std::string& key : answer.order) {
    const TensorAnswer& tensor = answer.tensors.at(key);
    Json entry = {{"tensor", key},
                  {"group", tensor.group},
                  {"elements", tensor.elements},
                  {"terms", tensor.terms},
                  {"norm", RealToJson(tensor.sketch.norm)},
                  {"scale", RealToJson(tensor.scale)},
                  {"mean", RealToJson(tensor.mean)},
                  {"change", RealToJson(tensor.change)},
                  {"projections", EncodeProjections(tensor.sketch)}};
    if (!tensor.samples.empty()) entry["samples"] = EncodeReals(tensor.samples);
    tensors.push_back(std::move(entry));
  }
  Json losses = Json::array(), changes = Json::array();
  for (const double loss : answer.losses) losses.push_back(RealToJson(loss));
  for (const double change : answer.loss_changes) changes.push_back(RealToJson(change));
  return {{"losses", losses}, {"loss_changes", changes}, {"tensors", tensors}};
}

Result<Answer> AnswerFromJson(const Json& json, const std::string& path) {
  Fields fields(json, path);
  Answer answer;
  answer.losses = fields.Reals("losses");
  answer.loss_changes = fields.Reals("loss_changes");
  const Json& tensors = fields.Array("tensors");
  TENCH_TRY(fields.Finish());
  if (answer.losses.size() != answer.loss_changes.size())
    return Failed("{}: losses and loss_changes differ in length", path);
  for (const Json& entry : tensors) {
    Fields tensor(entry, path + ".tensors");
    const std::string key = tensor.String("tensor");
    TensorAnswer read;
    read.group = tensor.String("group");
    read.elements = tensor.Integer("elements", 0, kMaxElements);
    read.terms = tensor.Integer("terms", 1, kMaxElements);
    read.sketch.norm = tensor.Real("norm");
    read.scale = tensor.Real("scale");
    read.mean = tensor.Real("mean", 0);
    read.change = tensor.Real("change");
    const std::string projections = tensor.String("projections"),
                      samples = tensor.String("samples", "");
    TENCH_TRY(tensor.Finish());
    if (!samples.empty()) {
      read.samples.resize(static_cast<size_t>(std::min(read.elements, kSamples)));
      TENCH_TRY(DecodeReals(samples, read.samples).In(path + ": samples of " + key));
    }
    TENCH_TRY(DecodeProjections(projections, read.sketch).In(path + ": " + key));
    answer.order.push_back(key);
    answer.tensors[key] = std::move(read);
  }
  return answer;
}

}  // namespace tench
