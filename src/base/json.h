// SPDX-License-Identifier: Apache-2.0
#pragma once
// Strict, typed JSON with errors that name the place. Fields reads one object: every key must be
// requested, so a misspelt key is an error with a hint, not a silent default. NaN and the
// infinities are encoded as strings.
// Thread safety: functions are pure; a Fields object belongs to one thread.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace tench {

using Json = nlohmann::ordered_json;

// Errors are prefixed with `origin` (a file name, "job", …), line and column. Beyond JSON's own
// rules it rejects duplicate keys, more than 64 levels, and more than 10,000 keys in one object.
Result<Json> ParseJson(std::string_view text, std::string_view origin);

// One line without a newline, or pretty-printed with `indent`. Invalid UTF-8 becomes U+FFFD.
std::string PrintJson(const Json& json, int indent = -1);

// A real number, or the strings "nan", "inf", "-inf".
Json RealToJson(double value);
// null for nullopt.
template <class T>
Json OptionalToJson(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_same_v<T, double>) return RealToJson(*value);
  return *value;
}
Result<double> RealFromJson(const Json& value);

// Reads one JSON object. A getter records the first failure and returns a default value after it.
// Finish() returns that failure, or an error about an unknown key. So a reader is a list of getters
// followed by one check. `object` must outlive the reader.
class Fields {
 public:
  Fields(const Json& object, std::string path);

  std::string String(std::string_view key);
  int64_t Integer(std::string_view key, int64_t low, int64_t high);
  uint64_t Unsigned(std::string_view key);
  double Real(std::string_view key);
  bool Bool(std::string_view key);
  const Json& Array(std::string_view key);
  const Json& Object(std::string_view key);
  std::vector<std::string> Strings(std::string_view key);
  std::vector<int64_t> Integers(std::string_view key, int64_t low, int64_t high);
  std::vector<double> Reals(std::string_view key);
  std::map<std::string, std::string> StringMap(std::string_view key);

  bool Has(std::string_view key) const;
  std::string String(std::string_view key, std::string fallback);
  int64_t Integer(std::string_view key, int64_t low, int64_t high, int64_t fallback);
  double Real(std::string_view key, double fallback);
  bool Bool(std::string_view key, bool fallback);
  std::vector<std::string> Strings(std::string_view key, std::vector<std::string> fallback);
  std::map<std::string, std::string> StringMap(std::string_view key,
                                               std::map<std::string, std::string> fallback);

  // Records a failure about `key` that the caller found.
  void Fail(std::string_view key, std::string_view what);
  bool failed() const { return error_.has_value(); }
  // Unknown keys are allowed, because newer peers of the protocol may send more.
  void AllowUnknown() { allow_unknown_ = true; }
  Status Finish();

  const std::string& path() const { return path_; }

 private:
  const Json* Find(std::string_view key, bool required);

  const Json& object_;
  std::string path_;
  std::vector<std::string> asked_;
  std::optional<Error> error_;
  bool allow_unknown_ = false;
};

}  // namespace tench
