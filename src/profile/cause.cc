// SPDX-License-Identifier: Apache-2.0
#include "profile/cause.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "profile/kernel_class.h"

namespace tench {
namespace {

// "jit:avx2 at 92 GFLOP/s"
std::string Described(const KernelShare& share) {
  std::string text = Printable(share.implementation, 60);
  if (share.flops > 0 && share.time_ns > 0)
    text += fmt::format(" at {:.3g} {}GFLOP/s", share.flops / share.time_ns,
                        IsFastAlgorithm(share.implementation) ? "effective " : "");
  return text;
}

Cause CauseOfRow(const AlignedRow& row, const Alignment& alignment) {
  Cause cause{row.layer, row.difference_ns(), ""};
  const std::string where = row.layer.empty() ? "kernels of no layer" : row.layer;
  const bool b_slower = cause.difference_ns > 0;
  const std::string& slower = b_slower ? alignment.b_name : alignment.a_name;
  const std::string& faster = b_slower ? alignment.a_name : alignment.b_name;
  const KernelShare& slow = b_slower ? row.b : row.a;
  const KernelShare& fast = b_slower ? row.a : row.b;
  cause.sentence = fmt::format("{} {}: {} takes {} longer; ", where, row.direction, slower,
                               HumanNs(std::abs(cause.difference_ns)));
  cause.sentence +=
      fast.implementation.empty()
          ? fmt::format("it runs {}, {} has no separate kernel", Described(slow), faster)
          : fmt::format("{} runs {}, {} {}", faster, Described(fast), slower, Described(slow));
  return cause;
}

double Calls(const Alignment& alignment, KernelGroup group, KernelShare AlignedRow::*side) {
  return std::accumulate(alignment.rows.begin(), alignment.rows.end(), 0.0,
                         [&](double sum, const AlignedRow& row) {
                           return row.group == group ? sum + (row.*side).calls : sum;
                         });
}

std::string KernelCount(double calls) {
  return fmt::format("{:.4g} kernel{}", calls, calls == 1 ? "" : "s");
}

Cause CauseOfGroup(const GroupTime& group, const Alignment& alignment) {
  const double a = Calls(alignment, group.group, &AlignedRow::a),
               b = Calls(alignment, group.group, &AlignedRow::b);
  const char* what =
      group.group == KernelGroup::kUpdate ? "updates in" : "converts layouts or copies in";
  return {"", group.difference_ns(),
          fmt::format("{} {} {} per step, {} in {} ({})", alignment.b_name, what, KernelCount(b),
                      alignment.a_name, KernelCount(a), SignedMs(group.difference_ns()))};
}

}  // namespace

std::string SignedMs(double ns) {
  return fmt::format("{}{}", ns < 0 ? "-" : "+", HumanNs(std::abs(ns)));
}

std::vector<Cause> LeadingCauses(const Alignment& alignment, size_t most, double least_share) {
  std::vector<Cause> causes;
  const auto summed = [](KernelGroup group) {
    return group == KernelGroup::kUpdate || group == KernelGroup::kConversion;
  };
  for (const AlignedRow& row : alignment.rows) {
    if (!summed(row.group)) causes.push_back(CauseOfRow(row, alignment));
  }
  for (const GroupTime& group : alignment.groups) {
    if (summed(group.group)) causes.push_back(CauseOfGroup(group, alignment));
  }
  const double a_rest = alignment.a_remainder_ns(), b_rest = alignment.b_remainder_ns();
  causes.push_back(
      {"", b_rest - a_rest,
       fmt::format("{} spends {} of a step outside its kernels, {} {} ({})", alignment.b_name,
                   HumanNs(b_rest), alignment.a_name, HumanNs(a_rest), SignedMs(b_rest - a_rest))});
  const double least = least_share * std::max(alignment.a_step_ns, alignment.b_step_ns);
  std::erase_if(causes, [&](const Cause& cause) {
    return cause.difference_ns == 0 || !(std::abs(cause.difference_ns) >= least);
  });
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& x, const Cause& y) {
    return std::abs(x.difference_ns) > std::abs(y.difference_ns);
  });
  if (causes.size() > most) causes.resize(most);
  return causes;
}

}  // namespace tench
