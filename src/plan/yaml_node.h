// SPDX-License-Identifier: Apache-2.0
#pragma once
// A YAML file as a tree of scalars, lists and maps, each with its place. This is the only wrapper
// of the YAML library; no exception of the library escapes. Not aware of what a suite is.
//
// Invariants: the tree is bounded for every input. Anchors, aliases, tags, duplicate keys,
// several documents, control characters, deep nesting and files above the limits below are
// rejected.
// Thread safety: pure functions.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "plan/text_place.h"

namespace tench {

inline constexpr size_t kMaxYamlBytes = 4 << 20;
inline constexpr size_t kMaxYamlDepth = 32;
inline constexpr size_t kMaxYamlNodes = 100'000;

struct YamlEntry;

struct YamlNode {
  enum class Kind { kEmpty, kText, kList, kMap };

  Kind kind = Kind::kEmpty;
  TextPlace place;
  std::string text;                // kText: as written, without quotes; numbers too
  std::vector<YamlNode> items;     // kList
  std::vector<YamlEntry> entries;  // kMap, in the order of the file, no key twice

  // The entry of that key, or nullptr.
  const YamlEntry* Find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  TextPlace place;  // of the key
  YamlNode value;
};

// "nothing", "a value", "a list" or "a map": for messages.
std::string_view Name(YamlNode::Kind kind);

// `origin` is the file's name for errors. An empty file is a node of kind kEmpty.
Result<YamlNode> ParseYaml(std::string_view text, std::string_view origin);

}  // namespace tench
