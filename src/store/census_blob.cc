// SPDX-License-Identifier: Apache-2.0
#include "store/census_blob.h"

#include <limits>

#include "record/ceiling_json.h"

namespace tench {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Json RowToJson(const CensusRow& row) {
  return {{"layer", row.layer},
          {"direction", row.direction},
          {"group", Name(row.group)},
          {"primitive", row.primitive},
          {"implementation", row.implementation},
          {"problem", row.problem},
          {"layouts", row.layouts},
          {"calls", row.calls},
          {"time_ns", row.time_ns},
          {"flops", row.flops},
          {"bytes", row.bytes},
          {"bytes_from_shapes", row.bytes_from_shapes}};
}

Result<CensusRow> RowFromJson(const Json& json) {
  Fields fields(json, "census row");
  fields.AllowUnknown();
  CensusRow row;
  row.layer = fields.String("layer");
  row.direction = fields.String("direction");
  const std::string group = fields.String("group");
  row.primitive = fields.String("primitive");
  row.implementation = fields.String("implementation");
  row.problem = fields.String("problem");
  row.layouts = fields.String("layouts");
  row.calls = fields.Integer("calls", 0, kMost);
  row.time_ns = fields.Integer("time_ns", 0, kMost);
  row.flops = fields.Integer("flops", 0, kMost);
  row.bytes = fields.Integer("bytes", 0, kMost);
  row.bytes_from_shapes = fields.Bool("bytes_from_shapes");
  TENCH_TRY(fields.Finish());
  row.group = TENCH_TRY(ParseKernelGroup(group));
  return row;
}

}  // namespace

std::string EncodeCensus(const Census& census) {
  if (census.steps == 0) return "";
  Json rows = Json::array();
  for (const CensusRow& row : census.rows) rows.push_back(RowToJson(row));
  return PrintJson({{"source", census.source},
                    {"steps", census.steps},
                    {"rows", rows},
                    {"ceilings", CeilingsToJson(census.ceilings)}});
}

Result<Census> DecodeCensus(std::string_view blob) {
  Census census;
  if (blob.empty()) return census;
  const Json json = TENCH_TRY(ParseJson(blob, "census"));
  if (!json.is_object()) return Failed("census: not an object");
  Fields fields(json, "census");
  fields.AllowUnknown();
  census.source = fields.String("source");
  census.steps = fields.Integer("steps", 1, kMost);
  for (const Json& row : fields.Array("rows")) census.rows.push_back(TENCH_TRY(RowFromJson(row)));
  for (const Json& ceiling : fields.Array("ceilings"))
    census.ceilings.push_back(TENCH_TRY(CeilingFromJson(ceiling)));
  TENCH_TRY(fields.Finish());
  return census;
}

}  // namespace tench
