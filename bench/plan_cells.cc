// SPDX-License-Identifier: Apache-2.0
// Measures the planning of a suite of 50,000 cells, from YAML text to cells with ids.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/clock.h"
#include "plan/matrix.h"

namespace {

constexpr std::string_view kSuite = R"(
worker: [w0, w1, w2, w3, w4]
network: [n0, n1, n2, n3, n4]
batch: {from: 1, to: 512, times: 2}
threads: {from: 1, to: 25, step: 1}
lr: [0.01, 0.1]
phase: [forward, gradient]
option: {layout: [nchw, nhwc]}
)";
constexpr int kRepeats = 5;

}  // namespace

int main() {
  tench::Catalog catalog;
  catalog.workers = {"w0", "w1", "w2", "w3", "w4"};
  catalog.networks = {"n0", "n1", "n2", "n3", "n4"};
  catalog.resolve_data = [](const std::string&, const std::string&) {
    return std::string("imagenet");
  };
  std::vector<int64_t> times_ns;
  size_t cells = 0;
  for (int i = 0; i < kRepeats; ++i) {
    const int64_t start_ns = tench::NowNs();
    const auto suite = tench::ParseSuite(kSuite, "plan_cells.yaml");
    tench::Check(suite.ok(), suite.ok() ? "" : suite.error().message);
    const auto planned = tench::Expand(*suite, catalog);
    tench::Check(planned.ok(), planned.ok() ? "" : planned.error().message);
    times_ns.push_back(tench::NowNs() - start_ns);
    cells = planned->size();
  }
  std::sort(times_ns.begin(), times_ns.end());
  fmt::print("{} cells planned in {:.0f} ms (median of {}; at most {:.0f} ms)\n", cells,
             times_ns[kRepeats / 2] / 1e6, kRepeats, times_ns.back() / 1e6);
  return 0;
}
