// SPDX-License-Identifier: Apache-2.0
#include "plan/yaml_node.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_set>

#include "base/text.h"

namespace tench {
namespace {

TextPlace PlaceOf(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

TextPlace PlaceOf(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(offset - line_start) + 1};
}

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

// The length of the UTF-8 sequence at the start of the text; 0 if it is invalid (overlong forms,
// surrogates, code points beyond Unicode).
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool allowed = !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second > 0x9f);
    return allowed && continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool allowed = !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second > 0x8f);
    return allowed && continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

// Valid UTF-8 of bounded size. This also keeps the library from detecting UTF-16 or UTF-32.
Status CheckBytes(std::string_view text, std::string_view origin) {
  if (text.size() > kMaxYamlBytes)
    return FailedAt(origin, {1, 1}, "the file has {} bytes; the limit is {}", text.size(),
                    kMaxYamlBytes);
  for (size_t i = 0; i < text.size();) {
    const size_t length = SequenceLength(text.substr(i));
    if (length == 0) return FailedAt(origin, PlaceOf(text, i), "the file is not valid UTF-8");
    const char c = text[i];
    if (IsControl(c) && c != '\n' && c != '\r' && c != '\t')
      return FailedAt(origin, PlaceOf(text, i), "the control character 0x{:02x} is not allowed",
                      static_cast<unsigned>(c));
    i += length;
  }
  return Ok();
}

// Estimates the nesting depth before the library, which recurses, sees the text: indentation, the
// "- - -" of compact lists, and open brackets. Brackets in a text make the estimate too high, but
// files written by hand stay far below the limit. Brackets closed inside quotes make it too low;
// then TreeBuilder's exact limit and the library's own limit of 500 apply.
class NestingEstimate {
 public:
  // Returns false once the text is nested too deeply.
  bool AddLine(std::string_view line) {
    size_t i = line.find_first_not_of(" \t\r");
    if (i == std::string_view::npos || line[i] == '#') return true;
    Enter(i);
    while ((line[i] == '-' || line[i] == '?') && i + 1 < line.size() && IsBlank(line[i + 1])) {
      i = line.find_first_not_of(" \t\r", i + 1);
      if (i == std::string_view::npos) break;
      Enter(i);
      if (indents_.size() > kMaxYamlDepth) return false;
    }
    for (char before = ' '; i < line.size(); before = line[i++]) {
      if (line[i] == '#' && IsBlank(before)) break;
      if (line[i] == '[' || line[i] == '{') ++brackets_;
      if ((line[i] == ']' || line[i] == '}') && brackets_ > 0) --brackets_;
      if (brackets_ > kMaxYamlDepth) return false;
    }
    return indents_.size() + brackets_ <= kMaxYamlDepth;
  }

 private:
  static bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  void Enter(size_t indent) {
    if (brackets_ > 0) return;  // indentation is irrelevant between brackets
    while (!indents_.empty() && indents_.back() >= indent) indents_.pop_back();
    indents_.push_back(indent);
  }

  std::vector<size_t> indents_;
  size_t brackets_ = 0;
};

Status CheckNesting(std::string_view text, std::string_view origin) {
  NestingEstimate nesting;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (!nesting.AddLine(text.substr(0, end)))
      return FailedAt(origin, {line, 1}, "nested deeper than {} levels", kMaxYamlDepth);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return Ok();
}

YamlNode MakeNode(YamlNode::Kind kind, TextPlace place, std::string text = "") {
  YamlNode node;
  node.kind = kind;
  node.place = place;
  node.text = std::move(text);
  return node;
}

// Builds the tree from the library's events. After the first failure it ignores the rest.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view origin) : origin_(origin) {}

  bool failed() const { return error_.has_value(); }
  Result<YamlNode> Take() {
    if (failed()) return std::move(*error_);
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      Fail(PlaceOf(mark), "a second YAML document begins here; only one is allowed");
  }
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    Fail(PlaceOf(mark), kNoAnchors);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { Fail(PlaceOf(mark), kNoAnchors); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    Add(MakeNode(YamlNode::Kind::kEmpty, PlaceOf(mark)));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    const TextPlace place = PlaceOf(mark);
    CheckTag(place, tag);
    if (std::any_of(value.begin(), value.end(), IsControl))
      Fail(place, "a text must not contain line breaks or control characters");
    Add(MakeNode(YamlNode::Kind::kText, place, value));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kList, PlaceOf(mark), tag);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kMap, PlaceOf(mark), tag);
  }
  void OnMapEnd() override { Close(); }

 private:
  static constexpr std::string_view kNoAnchors =
      "YAML anchors and aliases are not allowed in suites; use 'defaults' for shared values";

  // An open list or map.
  struct Frame {
    YamlNode node;
    std::optional<YamlNode> key;           // kMap: the key whose value comes next
    std::unordered_set<std::string> keys;  // kMap: all keys so far
  };

  void Fail(TextPlace place, std::string_view message) {
    if (!failed()) error_ = FailedAt(origin_, place, "{}", message);
  }

  // The library reports a missing tag as "?" (plain), "!" (quoted) or "".
  void CheckTag(TextPlace place, std::string_view tag) {
    if (tag.size() > 1)
      Fail(place, fmt::format("the YAML tag '{}' is not allowed in suites", Printable(tag, 60)));
  }

  void Open(YamlNode::Kind kind, TextPlace place, const std::string& tag) {
    CheckTag(place, tag);
    if (open_.size() >= kMaxYamlDepth)
      Fail(place, fmt::format("nested deeper than {} levels", kMaxYamlDepth));
    if (failed()) return;
    if (AwaitsKey()) return Fail(place, fmt::format("a key must be a text, not {}", Name(kind)));
    open_.push_back({MakeNode(kind, place), {}, {}});
  }

  void Close() {
    if (failed()) return;
    Check(!open_.empty(), "the YAML library closed a node that was not open");
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    Add(std::move(node));
  }

  bool AwaitsKey() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::kMap &&
           !open_.back().key.has_value();
  }

  void Add(YamlNode node) {
    if (failed()) return;
    if (++nodes_ > kMaxYamlNodes)
      return Fail(node.place, fmt::format("the file has more than {} values", kMaxYamlNodes));
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = open_.back();
    if (frame.node.kind == YamlNode::Kind::kList) {
      frame.node.items.push_back(std::move(node));
    } else if (frame.key.has_value()) {
      frame.node.entries.push_back({std::move(frame.key->text), frame.key->place, std::move(node)});
      frame.key.reset();
    } else if (node.kind != YamlNode::Kind::kText) {
      Fail(node.place, fmt::format("a key must be a text, not {}", Name(node.kind)));
    } else if (!frame.keys.insert(node.text).second) {
      Fail(node.place, fmt::format("duplicate key '{}'", Printable(node.text, 60)));
    } else {
      frame.key = std::move(node);
    }
  }

  std::string origin_;
  std::vector<Frame> open_;
  YamlNode root_;
  std::optional<Error> error_;
  size_t nodes_ = 0;
  int documents_ = 0;
};

}  // namespace

const YamlEntry* YamlNode::Find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const YamlEntry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

std::string_view Name(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::kEmpty:
      return "nothing";
    case YamlNode::Kind::kText:
      return "a value";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
  }
  return "";
}

Result<YamlNode> ParseYaml(std::string_view text, std::string_view origin) {
  TENCH_TRY(CheckBytes(text, origin));
  TENCH_TRY(CheckNesting(text, origin));
  // The library accepts an unterminated quote at the last line end, and only there.
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  TreeBuilder builder(origin);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (!builder.failed() && parser.HandleNextDocument(builder)) continue;
  } catch (const YAML::Exception& exception) {
    // The builder's error precedes the library's in the file.
    const TextPlace place =
        exception.mark.is_null() ? PlaceOf(text, text.size()) : PlaceOf(exception.mark);
    if (!builder.failed()) return FailedAt(origin, place, "{}", Printable(exception.msg));
  } catch (const std::exception& exception) {
    return FailedAt(origin, {1, 1}, "the file cannot be read as YAML: {}",
                    Printable(exception.what()));
  }
  return builder.Take();
}

}  // namespace tench
