// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/net_state.h"

#include <algorithm>

namespace tench {
namespace {

bool Meets(const caffe::NetState& state, const caffe::NetStateRule& rule) {
  const auto has = [&](const std::string& stage) {
    return std::find(state.stage().begin(), state.stage().end(), stage) != state.stage().end();
  };
  if (rule.has_phase() && rule.phase() != state.phase()) return false;
  if (rule.has_min_level() && state.level() < rule.min_level()) return false;
  if (rule.has_max_level() && state.level() > rule.max_level()) return false;
  return std::all_of(rule.stage().begin(), rule.stage().end(), has) &&
         std::none_of(rule.not_stage().begin(), rule.not_stage().end(), has);
}

}  // namespace

Result<bool> BelongsTo(const caffe::LayerParameter& layer, const caffe::NetState& state) {
  if (layer.include_size() > 0 && layer.exclude_size() > 0)
    return Failed("it has both include and exclude rules; Caffe allows one kind");
  const auto met = [&](const caffe::NetStateRule& rule) { return Meets(state, rule); };
  if (layer.include_size() > 0)
    return std::any_of(layer.include().begin(), layer.include().end(), met);
  return std::none_of(layer.exclude().begin(), layer.exclude().end(), met);
}

}  // namespace tench
