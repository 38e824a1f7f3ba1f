// SPDX-License-Identifier: Apache-2.0
#include "record/ceiling_json.h"

#include <limits>

namespace tench {

Json CeilingsToJson(std::span<const Ceiling> ceilings) {
  Json rows = Json::array();
  for (const Ceiling& ceiling : ceilings)
    rows.push_back({{"name", ceiling.name},
                    {"threads", ceiling.threads},
                    {"flops_per_s", ceiling.flops_per_s},
                    {"bytes_per_s", ceiling.bytes_per_s},
                    {"disturbed", ceiling.disturbed}});
  return rows;
}

Result<Ceiling> CeilingFromJson(const Json& json) {
  Fields fields(json, "ceiling");
  fields.AllowUnknown();
  Ceiling ceiling;
  ceiling.name = fields.String("name");
  ceiling.threads = fields.Integer("threads", 0, std::numeric_limits<int64_t>::max());
  ceiling.flops_per_s = fields.Real("flops_per_s");
  ceiling.bytes_per_s = fields.Real("bytes_per_s");
  ceiling.disturbed = fields.Bool("disturbed");
  TENCH_TRY(fields.Finish());
  return ceiling;
}

}  // namespace tench
