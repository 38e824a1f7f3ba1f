// SPDX-License-Identifier: Apache-2.0
#include "axis/environment_name.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace tench {
namespace {

constexpr std::array<std::string_view, 5> kThreadCounts = {
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS"};
constexpr size_t kLongest = 200;

bool IsName(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return !name.empty() && name.size() <= kLongest &&
         name.find_first_not_of(kAllowed) == std::string_view::npos &&
         (name[0] < '0' || name[0] > '9');
}

}  // namespace

std::span<const std::string_view> ThreadCountVariables() { return kThreadCounts; }

Status CheckEnvironmentName(std::string_view name) {
  if (!IsName(name))
    return Failed("'{}' is not the name of an environment variable", Printable(name, 60));
  if (std::ranges::find(kThreadCounts, name) != kThreadCounts.end())
    return Failed("{} follows from the axis threads", name);
  if (name == "TENCH_CPUS" || name == "TENCH_WORKER_VERSION")
    return Failed("{} is set by tench for every run", name);
  return Ok();
}

}  // namespace tench
