// SPDX-License-Identifier: Apache-2.0
#include "profile/census_builder.h"

#include <algorithm>
#include <array>
#include <map>

#include "profile/kernel_class.h"
#include "profile/problem.h"

namespace tench {
namespace {

using KernelKey = std::array<std::string, 3>;

// Rows in the order of their first kernel.
class CensusTable {
 public:
  // The row, and whether it is new.
  std::pair<CensusRow*, bool> At(const std::string& layer, const std::string& direction,
                                 const std::string& implementation) {
    const auto [found, fresh] = places_.emplace(KernelKey{layer, direction, implementation}, 0);
    if (fresh) {
      found->second = rows_.size();
      rows_.emplace_back();
    }
    return {&rows_[found->second], fresh};
  }
  std::vector<CensusRow> Take() { return std::move(rows_); }

 private:
  std::map<KernelKey, size_t> places_;
  std::vector<CensusRow> rows_;
};

void Accumulate(const CensusRow& more, CensusRow& row) {
  row.calls += more.calls;
  row.time_ns += more.time_ns;
  row.flops += more.flops;
  row.bytes += more.bytes;
}

}  // namespace

int64_t ProfiledSteps(std::span<const ProfileRow> rows, int64_t run_steps) {
  std::map<int64_t, int64_t> time_ns;  // by number of calls
  for (const ProfileRow& row : rows) {
    if (row.calls > 0 && row.calls <= run_steps) time_ns[row.calls] += row.time_ns;
  }
  if (time_ns.empty()) return run_steps;
  return std::max_element(time_ns.begin(), time_ns.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

Census MakeCensus(std::span<const ProfileRow> rows, const TypedGraph& graph,
                  const std::string& worker, int64_t run_steps) {
  Census census;
  if (rows.empty()) return census;
  census.source = "profile of " + worker;
  census.steps = ProfiledSteps(rows, run_steps);
  std::map<std::string, size_t> layers;
  for (size_t i = 0; i < graph.layers.size(); ++i) layers[graph.layers[i].layer.name] = i;
  CensusTable table;
  for (const ProfileRow& row : rows) {
    const auto layer = layers.find(row.layer);
    const bool known = layer != layers.end();
    const Op* op = known ? &graph.layers[layer->second].layer.op : nullptr;
    CensusRow one{row.layer,
                  row.direction,
                  GroupOf(op, row),
                  known ? std::string(OpName(*op)) : "",
                  row.kernel,
                  known ? ProblemText(graph, layer->second) : "",
                  "",
                  row.calls,
                  row.time_ns,
                  row.flops,
                  row.bytes,
                  false};
    // Only for the kernel that does the arithmetic: others of the layer move a part of the bytes.
    if (known && row.bytes == 0 && row.flops > 0) {
      one.bytes = LeastBytes(graph, layer->second, row.direction) * census.steps;
      one.bytes_from_shapes = one.bytes > 0;
    }
    const auto [sum, fresh] = table.At(row.layer, row.direction, row.kernel);
    if (fresh) {
      *sum = std::move(one);
    } else {
      if (one.bytes_from_shapes && sum->bytes_from_shapes) one.bytes = 0;
      Accumulate(one, *sum);
    }
  }
  census.rows = table.Take();
  return census;
}

Census Merged(std::span<const Census> censuses) {
  Census all;
  CensusTable table;
  for (const Census& census : censuses) {
    if (all.source.empty()) all.source = census.source;
    all.steps += census.steps;
    if (all.ceilings.empty()) all.ceilings = census.ceilings;
    for (const CensusRow& row : census.rows) {
      const auto [sum, fresh] = table.At(row.layer, row.direction, row.implementation);
      if (fresh) {
        *sum = row;
      } else {
        Accumulate(row, *sum);
      }
    }
  }
  all.rows = table.Take();
  return all;
}

}  // namespace tench
