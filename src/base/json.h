// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON as tench reads it: strict, typed, with errors that name the place. Fields walks one object:
// every key must be asked for, so that a misspelt key is an error with a hint and not a silent
// default. NaN and the infinities travel as strings.

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

// `origin` (a file name, "job", …) is put in front of errors, with line and column.
// Refused beyond JSON's own rules: a key that occurs twice in its object, more than 64 levels, more
// than 10,000 keys in one object.
Result<Json> ParseJson(std::string_view text, std::string_view origin);

// One line without a newline, or indented for people. Bytes that are no UTF-8 become U+FFFD.
std::string PrintJson(const Json& json, int indent = -1);

// A real number, or the strings "nan", "inf", "-inf".
Json RealToJson(double value);
// null of nothing.
template <class T>
Json OptionalToJson(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_same_v<T, double>) return RealToJson(*value);
  return *value;
}
Result<double> RealFromJson(const Json& value);

// Reads one JSON object. The getters record the first failure and return a harmless value after it;
// Finish() tells it, or names an unknown key. So a reader is a plain list of fields followed by one
// check. Keeps a reference to `object`.
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

  // Records a failure of the caller's own about `key`.
  void Fail(std::string_view key, std::string_view what);
  bool failed() const { return error_.has_value(); }
  // Unknown keys are allowed (the protocol lets newer peers say more).
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
