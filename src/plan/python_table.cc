// SPDX-License-Identifier: Apache-2.0
#include "plan/python_table.h"

#include <algorithm>

#include "base/text.h"
#include "plan/suite.h"
#include "plan/worker_table.h"

namespace tench {
namespace {

Result<PythonPath> ReadPath(const YamlNode& node, std::string name, std::string_view origin) {
  if (node.kind != YamlNode::Kind::kText || node.text.empty())
    return FailedAt(origin, node.place,
                    "python: expected the path of an interpreter or of a virtual environment");
  return PythonPath{std::move(name), node.text, node.place};
}

void Replace(std::span<const std::string> environments, std::span<const std::string> workers,
             AxisList& list) {
  AxisList replaced{list.name, {}, {}};
  const auto add = [&](std::string value, size_t at) {
    if (std::ranges::find(replaced.values, value) != replaced.values.end()) return;
    replaced.values.push_back(std::move(value));
    replaced.places.push_back(at < list.places.size() ? list.places[at] : TextPlace());
  };
  for (size_t i = 0; i < list.values.size(); ++i) {
    const std::string& worker = list.values[i];
    if (std::ranges::find(workers, worker) == workers.end()) {
      add(worker, i);
      continue;
    }
    for (const std::string& name : environments) add(fmt::format("{}@{}", worker, name), i);
  }
  list = std::move(replaced);
}

}  // namespace

Result<std::vector<PythonPath>> ReadPythonTable(const YamlNode& node, std::string_view origin) {
  std::vector<PythonPath> paths;
  if (node.kind == YamlNode::Kind::kList && !node.items.empty()) {
    for (const YamlNode& item : node.items) paths.push_back(TENCH_TRY(ReadPath(item, "", origin)));
  } else if (node.kind == YamlNode::Kind::kMap && !node.entries.empty()) {
    for (const YamlEntry& entry : node.entries) {
      if (!IsWord(entry.key))
        return FailedAt(origin, entry.place,
                        "python: '{}' is no name: a word of letters, digits, '_', '.' and '-' that "
                        "begins with a letter",
                        Printable(entry.key, 60));
      paths.push_back(TENCH_TRY(ReadPath(entry.value, entry.key, origin)));
    }
  } else {
    paths.push_back(TENCH_TRY(ReadPath(node, "", origin)));
  }
  return paths;
}

void RunInEnvironments(std::span<const std::string> environments,
                       std::span<const std::string> workers, Suite& suite) {
  if (environments.empty()) return;
  const auto replace = [&](std::vector<AxisList>& axes) {
    for (AxisList& list : axes)
      if (list.name == Axes()[kAxisWorker].name) Replace(environments, workers, list);
  };
  for (Block& block : suite.blocks) {
    replace(block.axes);
    for (AxisPattern& pattern : block.include) replace(pattern.axes);
  }
}

}  // namespace tench
