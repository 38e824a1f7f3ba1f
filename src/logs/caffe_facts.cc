// SPDX-License-Identifier: Apache-2.0
#include "logs/caffe_facts.h"

#include "base/text.h"

namespace tench {
namespace {

// The text after `key`, or nullopt if the line does not have it.
std::optional<std::string_view> After(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  return line.substr(at + key.size());
}

int64_t PositiveOr(std::string_view text, int64_t fallback) {
  const Result<int64_t> number = ParseInteger(Trim(text));
  return number.ok() && *number > 0 ? *number : fallback;
}

// A field of the solver's text, such as "base_lr: 0.01"; the first counts.
void ReadReal(std::string_view line, std::string_view key, std::optional<double>& to) {
  if (to || !line.starts_with(key)) return;
  const std::string_view rest = Trim(line.substr(key.size()));
  const Result<double> number = ParseReal(rest.substr(0, rest.find(' ')));
  if (number.ok()) to = *number;
}

// "tench train: worker native, network LeNet, device cpu, batch 64, threads 2"
void ReadTenchLine(std::string_view text, CaffeFacts& facts) {
  for (const std::string& part : Split(text, ',')) {
    const std::string_view fact = Trim(part);
    const size_t space = fact.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string_view key = fact.substr(0, space);
    const std::string value(Trim(fact.substr(space + 1)));
    if (key == "worker") facts.worker = value;
    if (key == "network") facts.network = value;
    if (key == "device") facts.device = value == "cpu" ? "cpu" : "gpu";
    if (key == "batch") facts.batch = PositiveOr(value, 0);
    if (key == "threads") facts.threads = PositiveOr(value, 0);
  }
}

}  // namespace

CaffeFacts ReadCaffeFacts(std::string_view text) {
  CaffeFacts facts;
  bool in_solver = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const auto tench = After(line, "] tench train: ")) ReadTenchLine(*tench, facts);
    if (line.ends_with("Use CPU.") || line == "solver_mode: CPU") facts.device = "cpu";
    if (After(line, "] Using GPUs ") || line == "solver_mode: GPU") facts.device = "gpu";
    if (After(line, "*** Benchmark begins ***")) facts.timing = true;
    if (After(line, "] Initializing solver from parameters")) in_solver = true;
    if (in_solver) {
      ReadReal(line, "base_lr:", facts.lr);
      ReadReal(line, "momentum:", facts.momentum);
      ReadReal(line, "weight_decay:", facts.weight_decay);
    }
    // The text of the network follows that of the solver.
    if (After(line, "] Initializing net from parameters")) in_solver = false;
    if (facts.network.empty() && line.starts_with("name: \"") && line.ends_with('"'))
      facts.network = line.substr(7, line.size() - 8);
    if (const auto solving = After(line, "] Solving "); solving && !solving->empty())
      facts.network = *solving;
    // The first is that of the data.
    if (const auto shape = After(line, "] Top shape: "); shape && facts.batch == 0)
      facts.batch = PositiveOr(shape->substr(0, shape->find(' ')), 0);
    // Everything else is before the first step.
    if (After(line, "] Iteration ")) break;
  }
  return facts;
}

}  // namespace tench
