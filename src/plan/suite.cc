// SPDX-License-Identifier: Apache-2.0
#include "plan/suite.h"

#include <algorithm>
#include <set>

#include "axis/cell.h"
#include "base/file.h"
#include "base/text.h"
#include "plan/axis_values.h"
#include "plan/settings.h"
#include "plan/suite_path.h"
#include "plan/yaml_node.h"

namespace tench {
namespace {

constexpr int64_t kMaxRounds = 10'000;

bool IsSetting(std::string_view key) {
  const auto names = SettingNames();
  return std::find(names.begin(), names.end(), key) != names.end();
}

bool IsAxis(std::string_view key) { return SettingKey(key).has_value() || FindAxis(key).ok(); }

// The keys of maps whose entries are settings: "option" and "env".
bool IsSettingMap(std::string_view key) {
  const std::string prefix = fmt::format("{}.", key);
  return prefix == kOptionPrefix || prefix == kEnvironmentPrefix;
}

bool Contains(std::span<const std::string> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> AxisNames() {
  std::vector<std::string> names;
  for (const Axis& axis : Axes()) names.push_back(axis.name);
  return names;
}

// Axes in table order, then options by name, so that the order of keys in the file is irrelevant.
void Sort(std::vector<AxisList>& axes) {
  const auto rank = [](const AxisList& list) {
    const Result<size_t> index = FindAxis(list.name);
    return std::pair(index.ok() ? *index : size_t{kAxisCount}, list.name);
  };
  std::sort(axes.begin(), axes.end(),
            [&](const AxisList& a, const AxisList& b) { return rank(a) < rank(b); });
}

// The keys that `defaults` and blocks share.
struct Part {
  std::vector<AxisList> axes;
  std::vector<const YamlEntry*> settings;
};

class SuiteReader {
 public:
  explicit SuiteReader(std::string_view origin) { suite_.origin = origin; }

  Result<Suite> Read(const YamlNode& root);

 private:
  Status ReadHead(const YamlNode& root);
  Status ReadDefaults(const YamlEntry* entry);
  Status ReadBlocks(const YamlEntry& entry);
  Result<Block> ReadBlock(const YamlNode& node, std::span<const std::string> own_keys,
                          std::string name);
  Result<Part> ReadPart(const YamlNode& node, std::span<const std::string> own_keys);
  Status ReadAxis(const YamlEntry& entry, std::vector<AxisList>& axes);
  Status ReadOptions(const YamlEntry& entry, std::vector<AxisList>& axes);
  Result<std::vector<AxisPattern>> ReadPatterns(const YamlNode& block, std::string_view key);
  Result<std::string> ReadName(const YamlEntry& entry);
  Status CheckBlock(const Block& block);

  Error UnknownKey(const YamlEntry& entry, std::vector<std::string> known) const {
    return FailedAt(suite_.origin, entry.place, "unknown key '{}'{}", Printable(entry.key, 60),
                    Hint(entry.key, known));
  }
  Error WrongKind(std::string_view what, const YamlNode& node, std::string_view wanted) const {
    return FailedAt(suite_.origin, node.place, "{}: expected {}, not {}", what, wanted,
                    Name(node.kind));
  }

  Suite suite_;
  Part defaults_;
  Settings default_settings_;
};

const std::vector<std::string> kHeadKeys = {"name",    "title",  "rounds",  "pairing",
                                            "workers", "python", "defaults"};

Result<Suite> SuiteReader::Read(const YamlNode& root) {
  if (root.kind == YamlNode::Kind::kEmpty)
    return FailedAt(suite_.origin, {1, 1}, "the suite is empty");
  if (root.kind != YamlNode::Kind::kMap) return WrongKind("suite", root, "a map");
  suite_.name = std::filesystem::path(suite_.origin).stem().string();
  TENCH_TRY(ReadHead(root));
  TENCH_TRY(ReadDefaults(root.Find("defaults")));
  if (const YamlEntry* blocks = root.Find("blocks")) {
    for (const YamlEntry& entry : root.entries) {
      if (Contains(kHeadKeys, entry.key) || entry.key == "blocks") continue;
      if (IsAxis(entry.key) || IsSetting(entry.key) || IsSettingMap(entry.key))
        return FailedAt(suite_.origin, entry.place,
                        "'{}' is not allowed beside 'blocks': move it to 'defaults' or to a block",
                        entry.key);
      std::vector<std::string> known = kHeadKeys;
      known.push_back("blocks");
      return UnknownKey(entry, std::move(known));
    }
    TENCH_TRY(ReadBlocks(*blocks));
  } else {
    // A suite without `blocks` is itself one block.
    std::vector<std::string> own_keys = kHeadKeys;
    own_keys.insert(own_keys.end(), {"blocks", "include", "exclude"});
    suite_.blocks.push_back(TENCH_TRY(ReadBlock(root, own_keys, suite_.name)));
  }
  return std::move(suite_);
}

Status SuiteReader::ReadHead(const YamlNode& root) {
  if (const YamlEntry* entry = root.Find("name")) suite_.name = TENCH_TRY(ReadName(*entry));
  if (const YamlEntry* entry = root.Find("title")) {
    if (entry->value.kind != YamlNode::Kind::kText)
      return WrongKind("title", entry->value, "one line of text");
    suite_.title = entry->value.text;
  }
  if (const YamlEntry* entry = root.Find("rounds")) {
    if (entry->value.kind != YamlNode::Kind::kText)
      return WrongKind("rounds", entry->value, "a number");
    const Result<int64_t> rounds = ParseInteger(entry->value.text);
    if (!rounds.ok() || *rounds < 1 || *rounds > kMaxRounds)
      return FailedAt(suite_.origin, entry->value.place,
                      "rounds: '{}' is not an integer from 1 to {}",
                      Printable(entry->value.text, 60), kMaxRounds);
    suite_.rounds = *rounds;
  }
  if (const YamlEntry* entry = root.Find("pairing")) {
    if (entry->value.kind != YamlNode::Kind::kText)
      return WrongKind("pairing", entry->value, "rounds or turns");
    const Result<StudyPairing> pairing = ParsePairing(entry->value.text);
    if (!pairing.ok())
      return FailedAt(suite_.origin, entry->value.place, "pairing: {}", pairing.error().message);
    suite_.pairing = *pairing;
  }
  if (const YamlEntry* entry = root.Find("workers"))
    suite_.workers = TENCH_TRY(ReadWorkerTable(entry->value, suite_.origin));
  if (const YamlEntry* entry = root.Find("python"))
    suite_.python = TENCH_TRY(ReadPythonTable(entry->value, suite_.origin));
  return Ok();
}

Status SuiteReader::ReadDefaults(const YamlEntry* entry) {
  if (entry == nullptr) return Ok();
  if (entry->value.kind != YamlNode::Kind::kMap)
    return WrongKind("defaults", entry->value, "a map of axes and settings");
  for (const std::string_view key : {"include", "exclude"})
    if (const YamlEntry* found = entry->value.Find(key))
      return FailedAt(suite_.origin, found->place, "'{}' is allowed in a block, not in 'defaults'",
                      key);
  defaults_ = TENCH_TRY(ReadPart(entry->value, {}));
  return ApplySettings(defaults_.settings, suite_.origin, default_settings_);
}

Status SuiteReader::ReadBlocks(const YamlEntry& entry) {
  static const std::vector<std::string> kBlockKeys = {"name", "include", "exclude"};
  if (entry.value.kind != YamlNode::Kind::kList) return WrongKind("blocks", entry.value, "a list");
  if (entry.value.items.empty())
    return FailedAt(suite_.origin, entry.value.place, "blocks: the list is empty");
  std::set<std::string> names;
  for (const YamlNode& node : entry.value.items) {
    if (node.kind != YamlNode::Kind::kMap)
      return WrongKind("blocks", node, "a map of axes and settings");
    const YamlEntry* named = node.Find("name");
    std::string name =
        named != nullptr ? TENCH_TRY(ReadName(*named)) : fmt::format("block-{}", names.size() + 1);
    if (!names.insert(name).second)
      return FailedAt(suite_.origin, named != nullptr ? named->place : node.place,
                      "two blocks have the name '{}'", name);
    suite_.blocks.push_back(TENCH_TRY(ReadBlock(node, kBlockKeys, std::move(name))));
  }
  return Ok();
}

Result<Block> SuiteReader::ReadBlock(const YamlNode& node, std::span<const std::string> own_keys,
                                     std::string name) {
  Part part = TENCH_TRY(ReadPart(node, own_keys));
  for (const AxisList& list : defaults_.axes) {
    const auto same = [&](const AxisList& own) { return own.name == list.name; };
    if (std::none_of(part.axes.begin(), part.axes.end(), same)) part.axes.push_back(list);
  }
  Sort(part.axes);
  Settings settings = default_settings_;
  TENCH_TRY(ApplySettings(part.settings, suite_.origin, settings));
  TENCH_TRY(CheckSettings(settings, node.place, suite_.origin));
  Block block;
  block.name = std::move(name);
  block.place = node.place;
  block.axes = std::move(part.axes);
  block.budget = settings.budget;
  block.limits = settings.limits;
  block.include = TENCH_TRY(ReadPatterns(node, "include"));
  block.exclude = TENCH_TRY(ReadPatterns(node, "exclude"));
  TENCH_TRY(CheckBlock(block));
  return block;
}

Result<Part> SuiteReader::ReadPart(const YamlNode& node, std::span<const std::string> own_keys) {
  Part part;
  for (const YamlEntry& entry : node.entries) {
    if (Contains(own_keys, entry.key)) continue;
    if (IsSettingMap(entry.key)) {
      TENCH_TRY(ReadOptions(entry, part.axes));
    } else if (IsAxis(entry.key)) {
      TENCH_TRY(ReadAxis(entry, part.axes));
    } else if (IsSetting(entry.key)) {
      part.settings.push_back(&entry);
    } else {
      std::vector<std::string> known = AxisNames();
      known.insert(known.end(), SettingNames().begin(), SettingNames().end());
      known.insert(known.end(), own_keys.begin(), own_keys.end());
      known.insert(known.end(), {"option", "env"});
      return UnknownKey(entry, std::move(known));
    }
  }
  return part;
}

Status SuiteReader::ReadAxis(const YamlEntry& entry, std::vector<AxisList>& axes) {
  const auto same = [&](const AxisList& list) { return list.name == entry.key; };
  if (std::any_of(axes.begin(), axes.end(), same))
    return FailedAt(suite_.origin, entry.place, "'{}' is given twice", Printable(entry.key, 60));
  axes.push_back(TENCH_TRY(ReadAxisValues(entry.key, entry.value, suite_.origin)));
  return Ok();
}

Status SuiteReader::ReadOptions(const YamlEntry& entry, std::vector<AxisList>& axes) {
  if (entry.value.kind != YamlNode::Kind::kMap || entry.value.entries.empty())
    return FailedAt(suite_.origin, entry.value.place, "{}: expected a map such as {{{}}}",
                    entry.key,
                    entry.key == "option" ? "layout: [nchw, nhwc]" : "OMP_WAIT_POLICY: PASSIVE");
  for (const YamlEntry& option : entry.value.entries) {
    YamlEntry full = option;
    full.key = fmt::format("{}.{}", entry.key, option.key);
    TENCH_TRY(ReadAxis(full, axes));
  }
  return Ok();
}

Result<std::vector<AxisPattern>> SuiteReader::ReadPatterns(const YamlNode& block,
                                                           std::string_view key) {
  std::vector<AxisPattern> patterns;
  const YamlEntry* entry = block.Find(key);
  if (entry == nullptr) return patterns;
  if (entry->value.kind != YamlNode::Kind::kList)
    return WrongKind(key, entry->value, "a list of maps");
  if (entry->value.items.empty())
    return FailedAt(suite_.origin, entry->value.place, "{}: the list is empty", key);
  for (const YamlNode& node : entry->value.items) {
    if (node.kind != YamlNode::Kind::kMap) return WrongKind(key, node, "a map of axes");
    if (node.entries.empty())
      return FailedAt(suite_.origin, node.place, "{}: the map is empty", key);
    Part part = TENCH_TRY(ReadPart(node, {}));
    if (!part.settings.empty())
      return FailedAt(suite_.origin, part.settings[0]->place,
                      "'{}' is a setting of the block and is not allowed in '{}'",
                      part.settings[0]->key, key);
    Sort(part.axes);
    patterns.push_back({std::move(part.axes), node.place});
  }
  return patterns;
}

// Names are used in file names, tables and command lines.
Result<std::string> SuiteReader::ReadName(const YamlEntry& entry) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  constexpr size_t kLongest = 64;
  if (entry.value.kind != YamlNode::Kind::kText) return WrongKind("name", entry.value, "a word");
  const std::string& name = entry.value.text;
  if (name.empty() || name.size() > kLongest ||
      name.find_first_not_of(kAllowed) != std::string::npos)
    return FailedAt(suite_.origin, entry.value.place,
                    "name: '{}' is not a word of up to {} letters, digits, '_', '.' and '-'",
                    Printable(name, 60), kLongest);
  return name;
}

Status SuiteReader::CheckBlock(const Block& block) {
  const auto names = [](const std::vector<AxisList>& axes, AxisIndex axis) {
    return std::any_of(axes.begin(), axes.end(),
                       [&](const AxisList& list) { return list.name == Axes()[axis].name; });
  };
  for (const AxisIndex axis : {kAxisWorker, kAxisNetwork}) {
    if (names(block.axes, axis)) continue;
    if (block.include.empty())
      return FailedAt(suite_.origin, block.place, "block '{}' names no {}", block.name,
                      Axes()[axis].name);
    for (const AxisPattern& pattern : block.include)
      if (!names(pattern.axes, axis))
        return FailedAt(suite_.origin, pattern.place,
                        "include: neither this entry nor block '{}' names a {}", block.name,
                        Axes()[axis].name);
    if (!block.exclude.empty())
      return FailedAt(suite_.origin, block.exclude[0].place,
                      "exclude: block '{}' names no {}, so it has nothing to exclude from",
                      block.name, Axes()[axis].name);
  }
  if (block.budget.epochs > 0 && !names(block.axes, kAxisImages))
    return FailedAt(suite_.origin, block.place,
                    "block '{}': 'epochs' needs 'images', the number of images in an epoch (0 = "
                    "the data set's own)",
                    block.name);
  return Ok();
}

void Print(const AxisList& list, std::string& text) {
  text += list.name;
  for (const std::string& value : list.values)
    fmt::format_to(std::back_inserter(text), "\t{}", value);
  text += '\n';
}

// Values contain no control characters, so tabs and line ends are unambiguous separators.
std::string Fingerprint(const Suite& suite) {
  std::string text;
  // The default leaves the fingerprints of older suites unchanged.
  if (suite.pairing != StudyPairing::kRounds)
    fmt::format_to(std::back_inserter(text), "pairing\t{}\n", Name(suite.pairing));
  for (const Block& block : suite.blocks) {
    text += "block\n";
    for (const AxisList& list : block.axes) Print(list, text);
    for (const auto& [kind, patterns] :
         {std::pair("include", &block.include), std::pair("exclude", &block.exclude)}) {
      for (const AxisPattern& pattern : *patterns) {
        fmt::format_to(std::back_inserter(text), "{}\n", kind);
        for (const AxisList& list : pattern.axes) Print(list, text);
      }
    }
    const Budget& b = block.budget;
    fmt::format_to(std::back_inserter(text), "budget\t{}\t{}\t{}", b.warmup_steps, b.fixed_steps,
                   b.epochs);
    // With fixed steps the stop rule has no effect, even if `defaults` sets it.
    if (b.fixed_steps == 0 && b.epochs == 0)
      fmt::format_to(std::back_inserter(text), "\t{}\t{}\t{}\t{}", b.min_steps, b.min_time_ns,
                     b.relative_interval, b.time_limit_ns);
    // Suites without evaluation keep their fingerprints.
    if (!b.test_data.empty())
      fmt::format_to(std::back_inserter(text), "\nevaluation\t{}\t{}\t{}", b.test_data,
                     b.eval_every, b.until);
    fmt::format_to(std::back_inserter(text), "\nlimits\t{}\t{}\t{}", block.limits.timeout_ns,
                   block.limits.memory_bytes, static_cast<int>(block.limits.swap));
    // The usual budget leaves the fingerprints of older suites unchanged.
    if (block.limits.tune_budget_ns != Limits().tune_budget_ns)
      fmt::format_to(std::back_inserter(text), "\t{}", block.limits.tune_budget_ns);
    text += '\n';
  }
  // The names of environments name workers. A path counts where it is the name.
  for (const PythonPath& python : suite.python)
    fmt::format_to(std::back_inserter(text), "python\t{}\n",
                   python.name.empty() ? python.path : python.name);
  return Hex64(Hash64(text));
}

std::vector<std::string> SuitesIn(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::string> names;
  for (const auto& folder : folders) {
    std::error_code code;
    for (const auto& entry : std::filesystem::directory_iterator(folder, code))
      if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::filesystem::path> FindSuite(const std::string& name,
                                        const std::vector<std::filesystem::path>& folders) {
  const bool has_extension = name.ends_with(".yaml") || name.ends_with(".yml");
  std::error_code code;
  if (name.find('/') != std::string::npos || (has_extension && std::filesystem::exists(name, code)))
    return std::filesystem::path(name);
  for (const auto& folder : folders) {
    const auto path = folder / (has_extension ? name : name + ".yaml");
    if (std::filesystem::exists(path, code)) return path;
  }
  if (std::filesystem::is_regular_file(name, code)) return std::filesystem::path(name);
  const std::string bare = std::filesystem::path(name).stem().string();
  return Failed("no suite '{}'{}", Printable(name, 100),
                Hint(has_extension ? bare : name, SuitesIn(folders)));
}

}  // namespace

Result<Suite> ParseSuite(std::string_view text, std::string_view origin) {
  const YamlNode root = TENCH_TRY(ParseYaml(text, origin));
  Suite suite = TENCH_TRY(SuiteReader(origin).Read(root));
  suite.fingerprint = Fingerprint(suite);
  suite.text = text;
  return suite;
}

Result<Suite> LoadSuite(const std::string& name_or_path,
                        const std::vector<std::filesystem::path>& folders) {
  if (name_or_path.empty()) return Failed("the name of the suite is empty");
  const std::filesystem::path path = TENCH_TRY(FindSuite(name_or_path, folders));
  const std::string text = TENCH_TRY(ReadFile(path, kMaxYamlBytes));
  Suite suite = TENCH_TRY(ParseSuite(text, path.string()));
  ResolvePaths(path.parent_path(), suite);
  return suite;
}

}  // namespace tench
