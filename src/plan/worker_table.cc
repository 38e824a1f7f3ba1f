// SPDX-License-Identifier: Apache-2.0
#include "plan/worker_table.h"

#include <algorithm>

#include "base/text.h"

namespace tench {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsName(std::string_view text) {
  const size_t at = text.find('@');
  if (at == std::string_view::npos) return IsWord(text);
  return IsWord(text.substr(0, at)) && IsWord(text.substr(at + 1));
}

}  // namespace

// Names become parts of file names, variables and command lines. A leading digit after '@' is a
// version.
bool IsWord(std::string_view text) {
  constexpr size_t kLongest = 64;
  return !text.empty() && text.size() <= kLongest && IsLetter(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return IsLetter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
         });
}

Result<std::vector<WorkerFile>> ReadWorkerTable(const YamlNode& node, std::string_view origin) {
  if (node.kind != YamlNode::Kind::kMap || node.entries.empty())
    return FailedAt(origin, node.place, "workers: expected a map such as {{caffe@intel: FILE}}");
  std::vector<WorkerFile> table;
  for (const YamlEntry& entry : node.entries) {
    if (!IsName(entry.key))
      return FailedAt(origin, entry.place,
                      "workers: '{}' is neither NAME nor WORKER@BUILD: words of letters, digits, "
                      "'_', '.' and '-' that begin with a letter",
                      Printable(entry.key, 60));
    if (entry.key == "reference")
      return FailedAt(origin, entry.place, "workers: 'reference' is the oracle of every sweep");
    if (entry.value.kind != YamlNode::Kind::kText || entry.value.text.empty())
      return FailedAt(origin, entry.value.place, "workers: {}: expected the path of a program",
                      entry.key);
    table.push_back({entry.key, entry.value.text, entry.place});
  }
  return table;
}

}  // namespace tench
