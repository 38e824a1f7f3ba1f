// SPDX-License-Identifier: Apache-2.0
#include "plan/axis_values.h"

#include <cmath>
#include <limits>
#include <optional>
#include <unordered_set>

#include "axis/cell.h"
#include "base/text.h"

namespace tench {
namespace {

// Larger than every axis's domain, and small enough that no sum or product below overflows.
constexpr int64_t kFarthest = int64_t{1} << 53;

struct Range {
  const YamlNode* from = nullptr;
  const YamlNode* to = nullptr;
  const YamlNode* times = nullptr;
  const YamlNode* step = nullptr;
};

class ValueReader {
 public:
  ValueReader(std::string_view name, std::string_view origin) : origin_(origin) {
    list_.name = name;
    if (const Result<size_t> index = FindAxis(name); index.ok()) axis_ = &Axes()[*index];
  }

  Result<AxisList> Read(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kList) {
      TENCH_TRY(AddItem(node));
      return std::move(list_);
    }
    if (node.items.empty()) return Fail(node, "the list is empty");
    for (const YamlNode& item : node.items) TENCH_TRY(AddItem(item));
    return std::move(list_);
  }

 private:
  Error Fail(const YamlNode& node, std::string_view message) const {
    return FailedAt(origin_, node.place, "{}: {}", list_.name, message);
  }

  Status AddItem(const YamlNode& node) {
    switch (node.kind) {
      case YamlNode::Kind::kText:
        return AddText(node.text, node.place);
      case YamlNode::Kind::kMap:
        return AddRange(node);
      case YamlNode::Kind::kList:
        return Fail(node, "nested lists are not allowed");
      case YamlNode::Kind::kEmpty:
        break;
    }
    return Fail(node, "a value is missing");
  }

  Status AddText(std::string_view text, TextPlace place) {
    // Error messages of axes and options already begin with the name.
    if (const Status valid = scratch_.Set(list_.name, text); !valid.ok())
      return FailedAt(origin_, place, "{}", valid.error().message);
    std::string value =
        axis_ == nullptr ? std::string(text) : axis_->Print(scratch_.values[axis_ - Axes().data()]);
    if (!seen_.insert(value).second) return Ok();
    if (list_.values.size() >= kMaxAxisValues)
      return FailedAt(origin_, place, "{}: more than {} values", list_.name, kMaxAxisValues);
    list_.values.push_back(std::move(value));
    list_.places.push_back(place);
    return Ok();
  }

  Status AddRange(const YamlNode& node) {
    const bool whole = axis_ == nullptr || axis_->kind == AxisKind::kInteger;
    if (!whole && axis_->kind != AxisKind::kReal)
      return Fail(node, "expected a value or a list of values, not a map");
    Range range;
    TENCH_TRY(ReadRange(node, range));
    return whole ? AddIntegers(node, range) : AddReals(node, range);
  }

  Status ReadRange(const YamlNode& node, Range& range) const {
    static const std::vector<std::string> kKeys = {"from", "to", "times", "step"};
    for (const YamlEntry& entry : node.entries) {
      const YamlNode** slot = entry.key == "from"    ? &range.from
                              : entry.key == "to"    ? &range.to
                              : entry.key == "times" ? &range.times
                              : entry.key == "step"  ? &range.step
                                                     : nullptr;
      if (slot == nullptr)
        return FailedAt(origin_, entry.place,
                        "{}: unknown key '{}' in a range{}; it has from, to, and times or step",
                        list_.name, Printable(entry.key, 60), Hint(entry.key, kKeys));
      if (entry.value.kind != YamlNode::Kind::kText)
        return FailedAt(origin_, entry.value.place, "{}: '{}' needs a number, not {}", list_.name,
                        entry.key, Name(entry.value.kind));
      *slot = &entry.value;
    }
    if (range.from == nullptr || range.to == nullptr)
      return Fail(node, "a range needs 'from' and 'to'");
    if ((range.times == nullptr) == (range.step == nullptr))
      return Fail(node, "a range needs either 'times' or 'step'");
    return Ok();
  }

  Result<int64_t> Integer(const YamlNode& node, int64_t low) const {
    const Result<int64_t> value = ParseInteger(node.text);
    if (!value.ok()) return Fail(node, value.error().message);
    if (*value < low || *value > kFarthest)
      return Fail(node, fmt::format("'{}' is not from {} to {}", *value, low, kFarthest));
    return *value;
  }

  Status AddIntegers(const YamlNode& node, const Range& range) {
    const int64_t from = TENCH_TRY(Integer(*range.from, range.times != nullptr ? 1 : -kFarthest));
    const int64_t to = TENCH_TRY(Integer(*range.to, -kFarthest));
    const int64_t times = range.times != nullptr ? TENCH_TRY(Integer(*range.times, 2)) : 0;
    const int64_t step = range.step != nullptr ? TENCH_TRY(Integer(*range.step, 1)) : 0;
    if (from > to)
      return Fail(node, fmt::format("the range ends at {}, before it begins at {}", to, from));
    for (int64_t value = from;;) {
      TENCH_TRY(AddText(fmt::format("{}", value), node.place));
      if (times > 0 ? value > to / times : value > to - step) return Ok();
      value = times > 0 ? value * times : value + step;
    }
  }

  Result<double> Real(const YamlNode& node, double above) const {
    const Result<double> value = ParseReal(node.text);
    if (!value.ok()) return Fail(node, value.error().message);
    if (!std::isfinite(*value) || *value <= above)
      return Fail(node, fmt::format("'{}' is not above {}", node.text, above));
    return *value;
  }

  Status AddReals(const YamlNode& node, const Range& range) {
    constexpr double kLowest = std::numeric_limits<double>::lowest();
    const double from = TENCH_TRY(Real(*range.from, range.times != nullptr ? 0 : kLowest));
    const double to = TENCH_TRY(Real(*range.to, kLowest));
    const double times = range.times != nullptr ? TENCH_TRY(Real(*range.times, 1)) : 0;
    const double step = range.step != nullptr ? TENCH_TRY(Real(*range.step, 0)) : 0;
    if (from > to)
      return Fail(node, fmt::format("the range ends at {}, before it begins at {}", to, from));
    // 0.001 x 10 x 10 is not exactly 0.1, so the end is compared with a tolerance, and values are
    // rounded to 12 digits.
    const double end = to + 1e-9 * std::abs(to);
    for (size_t i = 0;; ++i) {
      const double value =
          times > 0 ? from * std::pow(times, i) : from + step * static_cast<double>(i);
      if (!(value <= end)) return Ok();
      if (i >= kMaxAxisValues)
        return Fail(node, fmt::format("the range has more than {} values", kMaxAxisValues));
      TENCH_TRY(AddText(fmt::format("{:.12g}", value), node.place));
    }
  }

  std::string_view origin_;
  const Axis* axis_ = nullptr;
  Cell scratch_;
  AxisList list_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

Result<AxisList> ReadAxisValues(std::string_view name, const YamlNode& node,
                                std::string_view origin) {
  return ValueReader(name, origin).Read(node);
}

}  // namespace tench
