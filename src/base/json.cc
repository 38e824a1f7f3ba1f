// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "base/text.h"

namespace tench {
namespace {

// Printing and destroying recurse, so the depth is bounded.
constexpr int kMaxDepth = 64;
// An ordered object finds keys by linear search; without a bound a hostile line takes quadratic
// time.
constexpr size_t kMaxKeys = 10'000;

std::string Place(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t last_break = before.rfind('\n');
  return fmt::format("{}:{}", line,
                     last_break == std::string_view::npos ? offset + 1 : offset - last_break);
}

// The offset of the bracket that opens level kMaxDepth + 1. Exact as far as the text is JSON; the
// parser finds the rest.
std::optional<size_t> TooDeep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return i;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return std::nullopt;
}

// Watches the parser's events and reports the first duplicate key.
class KeyWatch {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    const auto level = static_cast<size_t>(depth);
    if (event == Json::parse_event_t::object_start) {
      if (keys_.size() <= level) keys_.resize(level + 1);
      keys_[level].clear();
      return true;
    }
    if (event != Json::parse_event_t::key) return true;
    // A key lies one level deeper than the brace that opened its object.
    std::set<std::string>& keys = keys_[level - 1];
    if (keys.size() >= kMaxKeys)
      return Complain(fmt::format("an object has more than {} keys", kMaxKeys));
    const auto& key = parsed.get_ref<const std::string&>();
    if (!keys.insert(key).second)
      return Complain(fmt::format("the key '{}' occurs twice in one object", Printable(key, 60)));
    return true;
  }

  const std::string& violation() const { return violation_; }

 private:
  bool Complain(std::string what) {
    if (violation_.empty()) violation_ = std::move(what);
    return false;
  }

  std::vector<std::set<std::string>> keys_;
  std::string violation_;
};

// The parser's message without its prefix, which repeats the place.
std::string Reason(std::string_view what) {
  const size_t column = what.find("column ");
  const size_t colon = what.find(": ", column == std::string_view::npos ? 0 : column);
  return Printable(colon == std::string_view::npos ? what : what.substr(colon + 2));
}

std::string Describe(const Json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  return Printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
}

Result<int64_t> IntegerFromJson(const Json& value, int64_t low, int64_t high) {
  const bool fits =
      value.is_number_unsigned()
          ? value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())
          : value.is_number_integer();
  if (fits && value.get<int64_t>() >= low && value.get<int64_t>() <= high)
    return value.get<int64_t>();
  return Failed("must be an integer from {} to {}, not {}", low, high, Describe(value));
}

const Json& EmptyArray() {
  static const Json empty = Json::array();
  return empty;
}

const Json& EmptyObject() {
  static const Json empty = Json::object();
  return empty;
}

}  // namespace

Result<Json> ParseJson(std::string_view text, std::string_view origin) {
  if (const auto offset = TooDeep(text))
    return Failed("{}:{}: nested deeper than {} levels", origin, Place(text, *offset), kMaxDepth);
  KeyWatch watch;
  try {
    Json json = Json::parse(text, std::ref(watch));
    if (!watch.violation().empty()) return Failed("{}: {}", origin, watch.violation());
    return json;
  } catch (const Json::parse_error& error) {
    const size_t offset = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    return Failed("{}:{}: {}", origin, Place(text, offset), Reason(error.what()));
  } catch (const Json::exception& error) {
    return Failed("{}: {}", origin, Printable(error.what()));
  }
}

std::string PrintJson(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json RealToJson(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Result<double> RealFromJson(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text == "nan" || text == "inf" || text == "-inf") return ParseReal(text);
  }
  return Failed("must be a number, \"nan\", \"inf\" or \"-inf\", not {}", Describe(value));
}

Fields::Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
  if (!object_.is_object())
    error_ =
        Failed("{}must be an object, not {}", path_.empty() ? "" : path_ + ": ", Describe(object_));
}

const Json* Fields::Find(std::string_view key, bool required) {
  asked_.emplace_back(key);
  if (error_) return nullptr;
  const auto found = object_.find(asked_.back());
  if (found != object_.end()) return &*found;
  if (required) Fail(key, "is missing");
  return nullptr;
}

bool Fields::Has(std::string_view key) const {
  return object_.is_object() && object_.contains(std::string(key));
}

std::string Fields::String(std::string_view key) {
  const Json* value = Find(key, true);
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  Fail(key, fmt::format("must be a string, not {}", Describe(*value)));
  return "";
}

int64_t Fields::Integer(std::string_view key, int64_t low, int64_t high) {
  const Json* value = Find(key, true);
  if (value == nullptr) return low;
  const Result<int64_t> integer = IntegerFromJson(*value, low, high);
  if (integer.ok()) return *integer;
  Fail(key, integer.error().message);
  return low;
}

uint64_t Fields::Unsigned(std::string_view key) {
  const Json* value = Find(key, true);
  if (value == nullptr) return 0;
  if (value->is_number_unsigned()) return value->get<uint64_t>();
  if (value->is_number_integer() && value->get<int64_t>() >= 0) return value->get<uint64_t>();
  Fail(key, fmt::format("must be an unsigned 64-bit integer, not {}", Describe(*value)));
  return 0;
}

double Fields::Real(std::string_view key) {
  const Json* value = Find(key, true);
  if (value == nullptr) return 0;
  const Result<double> real = RealFromJson(*value);
  if (real.ok()) return *real;
  Fail(key, real.error().message);
  return 0;
}

bool Fields::Bool(std::string_view key) {
  const Json* value = Find(key, true);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  Fail(key, fmt::format("must be true or false, not {}", Describe(*value)));
  return false;
}

const Json& Fields::Array(std::string_view key) {
  const Json* value = Find(key, true);
  if (value == nullptr) return EmptyArray();
  if (value->is_array()) return *value;
  Fail(key, fmt::format("must be an array, not {}", Describe(*value)));
  return EmptyArray();
}

const Json& Fields::Object(std::string_view key) {
  const Json* value = Find(key, true);
  if (value == nullptr) return EmptyObject();
  if (value->is_object()) return *value;
  Fail(key, fmt::format("must be an object, not {}", Describe(*value)));
  return EmptyObject();
}

std::vector<std::string> Fields::Strings(std::string_view key) {
  std::vector<std::string> strings;
  for (const Json& item : Array(key)) {
    if (!item.is_string()) {
      Fail(fmt::format("{}[{}]", key, strings.size()),
           fmt::format("must be a string, not {}", Describe(item)));
      break;
    }
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

std::vector<int64_t> Fields::Integers(std::string_view key, int64_t low, int64_t high) {
  std::vector<int64_t> integers;
  for (const Json& item : Array(key)) {
    const Result<int64_t> integer = IntegerFromJson(item, low, high);
    if (!integer.ok()) {
      Fail(fmt::format("{}[{}]", key, integers.size()), integer.error().message);
      break;
    }
    integers.push_back(*integer);
  }
  return integers;
}

std::vector<double> Fields::Reals(std::string_view key) {
  std::vector<double> reals;
  for (const Json& item : Array(key)) {
    const Result<double> real = RealFromJson(item);
    if (!real.ok()) {
      Fail(fmt::format("{}[{}]", key, reals.size()), real.error().message);
      break;
    }
    reals.push_back(*real);
  }
  return reals;
}

std::map<std::string, std::string> Fields::StringMap(std::string_view key) {
  std::map<std::string, std::string> map;
  for (const auto& item : Object(key).items()) {
    if (!item.value().is_string()) {
      Fail(fmt::format("{}.{}", key, Printable(item.key(), 60)),
           fmt::format("must be a string, not {}", Describe(item.value())));
      break;
    }
    map[item.key()] = item.value().get<std::string>();
  }
  return map;
}

std::string Fields::String(std::string_view key, std::string fallback) {
  return Find(key, false) == nullptr ? std::move(fallback) : String(key);
}

int64_t Fields::Integer(std::string_view key, int64_t low, int64_t high, int64_t fallback) {
  return Find(key, false) == nullptr ? fallback : Integer(key, low, high);
}

double Fields::Real(std::string_view key, double fallback) {
  return Find(key, false) == nullptr ? fallback : Real(key);
}

bool Fields::Bool(std::string_view key, bool fallback) {
  return Find(key, false) == nullptr ? fallback : Bool(key);
}

std::vector<std::string> Fields::Strings(std::string_view key, std::vector<std::string> fallback) {
  return Find(key, false) == nullptr ? std::move(fallback) : Strings(key);
}

std::map<std::string, std::string> Fields::StringMap(std::string_view key,
                                                     std::map<std::string, std::string> fallback) {
  return Find(key, false) == nullptr ? std::move(fallback) : StringMap(key);
}

void Fields::Fail(std::string_view key, std::string_view what) {
  if (error_) return;
  error_ = Failed("{}{}{}: {}", path_, path_.empty() ? "" : ".", key, what);
}

Status Fields::Finish() {
  if (error_) return *error_;
  if (allow_unknown_) return Ok();
  for (const auto& item : object_.items()) {
    if (std::find(asked_.begin(), asked_.end(), item.key()) != asked_.end()) continue;
    return Failed("{}unknown key '{}'{}", path_.empty() ? "" : path_ + ": ",
                  Printable(item.key(), 60), Hint(item.key(), asked_));
  }
  return Ok();
}

}  // namespace tench
