// SPDX-License-Identifier: Apache-2.0
#include "record/evaluation.h"

#include "base/json.h"

namespace tench {
namespace {

constexpr size_t kRowValues = 8;

Result<std::optional<double>> OptionalReal(const Json& json) {
  if (json.is_null()) return std::optional<double>();
  return std::optional<double>(TENCH_TRY(RealFromJson(json)));
}

Result<Evaluation> EvaluationOf(const Json& row) {
  if (!row.is_array() || row.size() != kRowValues)
    return Failed("evaluations: a row is not a list");
  for (const size_t integer : {0, 1, 2, 3}) {
    if (!row[integer].is_number_integer()) return Failed("evaluations: a value is not an integer");
  }
  Evaluation evaluation;
  evaluation.step = row[0].get<int64_t>();
  evaluation.samples = row[1].get<int64_t>();
  evaluation.eval_ns = row[2].get<int64_t>();
  evaluation.train_ns = row[3].get<int64_t>();
  evaluation.loss = TENCH_TRY(RealFromJson(row[4]));
  evaluation.top1 = TENCH_TRY(OptionalReal(row[5]));
  evaluation.top5 = TENCH_TRY(OptionalReal(row[6]));
  evaluation.epochs = TENCH_TRY(OptionalReal(row[7]));
  return evaluation;
}

}  // namespace

std::string EncodeEvaluations(const std::vector<Evaluation>& evaluations) {
  if (evaluations.empty()) return "";
  Json json = Json::array();
  for (const Evaluation& one : evaluations)
    json.push_back({one.step, one.samples, one.eval_ns, one.train_ns, RealToJson(one.loss),
                    OptionalToJson(one.top1), OptionalToJson(one.top5),
                    OptionalToJson(one.epochs)});
  return PrintJson(json);
}

Result<std::vector<Evaluation>> DecodeEvaluations(std::string_view text) {
  std::vector<Evaluation> evaluations;
  if (text.empty()) return evaluations;
  const Json json = TENCH_TRY(ParseJson(text, "evaluations"));
  if (!json.is_array()) return Failed("evaluations: not a list");
  for (const Json& row : json) evaluations.push_back(TENCH_TRY(EvaluationOf(row)));
  return evaluations;
}

}  // namespace tench
