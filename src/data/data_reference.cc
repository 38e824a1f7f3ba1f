// SPDX-License-Identifier: Apache-2.0
#include "data/data_reference.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace tench {
namespace {

constexpr int64_t kMaxSide = 65'536;
constexpr double kMaxNumber = 1e30;

Result<int64_t> ParseBounded(std::string_view text, int64_t low, int64_t high) {
  const Result<int64_t> value = ParseInteger(text);
  if (!value.ok() || *value < low || *value > high)
    return Failed("'{}' is not an integer from {} to {}", Printable(text, 60), low, high);
  return *value;
}

Result<float> ParseNumber(std::string_view text) {
  const Result<double> value = ParseReal(text);
  if (!value.ok() || !(std::abs(*value) <= kMaxNumber))
    return Failed("'{}' is not a number", Printable(text, 60));
  return static_cast<float>(*value);
}

Result<bool> ParseYes(std::string_view text) {
  if (text == "yes") return true;
  if (text == "no") return false;
  return Failed("'{}' is neither yes nor no", Printable(text, 60));
}

// "1x28x28"
Result<Shape> ParseShape(std::string_view text, size_t low_rank, size_t high_rank) {
  Shape shape;
  for (const std::string& size : Split(text, 'x'))
    shape.push_back(TENCH_TRY(ParseBounded(size, 1, kMaxSide)));
  if (shape.size() < low_rank || shape.size() > high_rank)
    return Failed("'{}' has {} sizes instead of {}", Printable(text, 60), shape.size(), high_rank);
  return shape;
}

Status SetResize(DataReference& data, std::string_view value) {
  const Shape sides = TENCH_TRY(ParseShape(value, 1, 2));
  data.transform.resize_height = sides.front();
  data.transform.resize_width = sides.back();
  return Ok();
}

Status SetMean(DataReference& data, std::string_view value) {
  for (const std::string& number : Split(value, '/'))
    data.transform.mean.push_back(TENCH_TRY(ParseNumber(number)));
  return Ok();
}

Status SetLabelColumn(DataReference& data, std::string_view value) {
  if (value != "first" && value != "last")
    return Failed("'{}' is neither first nor last", Printable(value, 60));
  data.source.label_first = value == "first";
  return Ok();
}

template <class T>
Status Assign(T& target, Result<T> value) {
  target = TENCH_TRY(std::move(value));
  return Ok();
}

struct Key {
  std::string name;
  std::string formats;  // those that have it, separated by spaces; "" = all
  Status (*set)(DataReference& data, std::string_view value);
};

const std::vector<Key>& Keys() {
  static const std::string kImageFormats = "folder lmdb tfrecord recordio";
  static const std::string kValues = kImageFormats + " mnist cifar10 cifar100 csv hdf5";
  static const std::vector<Key> keys = {
      {"resize", kImageFormats, SetResize},
      {"channels", kImageFormats,
       [](DataReference& data, std::string_view value) -> Status {
         const int64_t channels = TENCH_TRY(ParseBounded(value, 0, 3));
         if (channels == 2) return Failed("images have 1 or 3 channels (0 = as stored)");
         data.transform.channels = channels;
         return Ok();
       }},
      {"crop", kValues,
       [](DataReference& data, std::string_view value) {
         return Assign(data.transform.crop, ParseBounded(value, 1, kMaxSide));
       }},
      {"mirror", kValues,
       [](DataReference& data, std::string_view value) {
         return Assign(data.transform.mirror, ParseYes(value));
       }},
      {"bgr", kImageFormats,
       [](DataReference& data, std::string_view value) {
         return Assign(data.transform.bgr, ParseYes(value));
       }},
      {"mean", kValues, SetMean},
      {"mean_file", kValues,
       [](DataReference& data, std::string_view value) -> Status {
         if (value.empty()) return Failed("it names no file");
         data.transform.mean_file = value;
         return Ok();
       }},
      {"scale", kValues,
       [](DataReference& data, std::string_view value) {
         return Assign(data.transform.scale, ParseNumber(value));
       }},
      {"shuffle", "",
       [](DataReference& data, std::string_view value) {
         return Assign(data.shuffle, ParseYes(value));
       }},
      {"fingerprint", "",
       [](DataReference& data, std::string_view value) -> Status {
         if (value.size() != 16 || value.find_first_not_of("0123456789abcdef") != value.npos)
           return Failed("'{}' is not 16 hex digits", Printable(value, 60));
         data.fingerprint = value;
         return Ok();
       }},
      {"classes", "",
       [](DataReference& data, std::string_view value) {
         return Assign(data.classes, ParseBounded(value, 1, 1'000'000'000));
       }},
      {"vocabulary", "imdb",
       [](DataReference& data, std::string_view value) {
         return Assign(data.source.vocabulary, ParseBounded(value, 3, 1'000'000'000));
       }},
      {"split", "imdb",
       [](DataReference& data, std::string_view value) -> Status {
         if (value != "train" && value != "test")
           return Failed("'{}' is neither train nor test", Printable(value, 60));
         data.source.test_split = value == "test";
         return Ok();
       }},
      {"length", "imdb",
       [](DataReference& data, std::string_view value) {
         return Assign(data.length, ParseBounded(value, 1, 1'048'576));
       }},
      {"shape", "csv",
       [](DataReference& data, std::string_view value) {
         return Assign(data.source.shape, ParseShape(value, 3, 3));
       }},
      {"label", "csv", SetLabelColumn},
  };
  return keys;
}

// The text without its last ",KEY=VALUE", and that part; a path may contain commas.
struct Tail {
  std::string_view before, key, value;
};

bool SplitTail(std::string_view text, Tail& tail) {
  const size_t comma = text.rfind(',');
  if (comma == std::string_view::npos) return false;
  const std::string_view last = text.substr(comma + 1);
  const size_t equals = last.find('=');
  if (equals == std::string_view::npos || last.find('/') < equals) return false;
  tail = {text.substr(0, comma), last.substr(0, equals), last.substr(equals + 1)};
  return true;
}

Status SetKey(DataReference& data, std::string_view name, std::string_view value) {
  std::vector<std::string> names;
  for (const Key& key : Keys()) {
    names.push_back(key.name);
    if (key.name != name) continue;
    const std::vector<std::string> formats = Split(key.formats, ' ');
    if (!key.formats.empty() && std::ranges::find(formats, data.format) == formats.end())
      return Failed("data: {}: the format {} does not have it", name, data.format);
    return key.set(data, value).In(fmt::format("data: {}", name));
  }
  return Failed("data: unknown key '{}' (one of {}){}", Printable(name, 40), Join(names, ", "),
                Hint(name, names));
}

}  // namespace

bool IsDataReference(std::string_view text) { return text.find(':') != std::string_view::npos; }

Result<DataReference> ParseDataReference(std::string_view text) {
  if (!IsDataReference(text)) return Failed("data: '{}' is not FORMAT:PATH", Printable(text, 80));
  TENCH_TRY(CheckFormat(text.substr(0, text.find(':'))));
  DataReference data;
  const size_t colon = text.find(':');
  data.format = text.substr(0, colon);
  std::string_view rest = text.substr(colon + 1);
  std::vector<Tail> tails;
  for (Tail tail; SplitTail(rest, tail); rest = tail.before) tails.push_back(tail);
  data.path = rest;
  if (data.path.empty()) return Failed("data: '{}' has no path", Printable(text, 80));
  std::vector<std::string_view> seen;
  for (auto tail = tails.rbegin(); tail != tails.rend(); ++tail) {
    TENCH_TRY(SetKey(data, tail->key, tail->value));
    if (std::ranges::find(seen, tail->key) != seen.end())
      return Failed("data: {}: given twice", tail->key);
    seen.push_back(tail->key);
  }
  if (!data.transform.mean.empty() && !data.transform.mean_file.empty())
    return Failed("data: mean and mean_file exclude each other");
  return data;
}

Result<std::string> AbsoluteDataReference(std::string_view text) {
  const DataReference data = TENCH_TRY(ParseDataReference(text));
  const size_t begin = text.find(':') + 1;
  std::string absolute =
      fmt::format("{}:{}", data.format, std::filesystem::absolute(data.path).string());
  for (std::string_view rest = text.substr(begin + data.path.size()); !rest.empty();) {
    const size_t comma = rest.find(',', 1);
    std::string_view part = rest.substr(1, comma == std::string_view::npos ? comma : comma - 1);
    constexpr std::string_view kMeanFile = "mean_file=";
    if (part.starts_with(kMeanFile)) {
      absolute += fmt::format(
          ",{}{}", kMeanFile,
          std::filesystem::absolute(std::string(part.substr(kMeanFile.size()))).string());
    } else {
      absolute += fmt::format(",{}", part);
    }
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma);
  }
  return absolute;
}

}  // namespace tench
