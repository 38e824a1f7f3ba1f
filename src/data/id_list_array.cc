// SPDX-License-Identifier: Apache-2.0
// A .npy file is a magic number, a version, the length of a header, the header (a Python dict with
// the type, the order and the shape) and the values.
#include "data/id_list_array.h"

#include <map>

#include "base/text.h"
#include "data/pickled_lists.h"

namespace tench {
namespace {

constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr std::string_view kNpyObjects = "|O";

struct NpyHeader {
  std::string type;  // "<i8"
  bool columns_first = false;
  std::vector<size_t> shape;
  size_t values = 0;  // offset
};

class NpyHeaderReader {
 public:
  NpyHeaderReader(std::string_view npy, std::string_view name) : npy_(npy), name_(name) {}

  Result<NpyHeader> Read() {
    if (!npy_.starts_with(kNpyMagic) || npy_.size() < 12) return Bad(0, "not a .npy array");
    const size_t size_bytes = npy_[6] == 1 ? 2 : 4;
    size_t length = 0;
    for (size_t i = size_bytes; i > 0; --i)
      length = length << 8 | static_cast<unsigned char>(npy_[8 + i - 1]);
    NpyHeader header;
    header.values = 8 + size_bytes + length;
    if (header.values > npy_.size()) return Bad(npy_.size(), "the array's header is cut off");
    const std::string_view dict = npy_.substr(8 + size_bytes, length);
    const std::string_view type = After(dict, "'descr':");
    if (type.size() < 2 || type.front() != '\'') return Bad(8, "the array has no plain type");
    header.type = type.substr(1, type.find('\'', 1) - 1);
    header.columns_first = After(dict, "'fortran_order':").starts_with("True");
    const std::string_view shape = After(dict, "'shape':");
    const size_t close = shape.find(')');
    if (!shape.starts_with('(') || close == std::string_view::npos)
      return Bad(8, "the array has no shape");
    for (const std::string& side : Split(shape.substr(1, close - 1), ',')) {
      if (Trim(side).empty()) continue;
      const Result<int64_t> value = ParseInteger(Trim(side));
      if (!value.ok() || *value < 0 || *value > (int64_t{1} << 31))
        return Bad(8, "the array has no usable shape");
      header.shape.push_back(static_cast<size_t>(*value));
    }
    return header;
  }

 private:
  Error Bad(size_t offset, std::string_view what) const {
    return Failed("{}: offset {}: {}", name_, offset, what);
  }
  static std::string_view After(std::string_view dict, std::string_view key) {
    const size_t at = dict.find(key);
    return at == std::string_view::npos ? std::string_view() : Trim(dict.substr(at + key.size()));
  }

  std::string_view npy_, name_;
};

// The bytes of an integer; 0 for other types. `is_signed` is set.
size_t NpyIntegerBytes(std::string_view type, bool& is_signed) {
  static const std::map<std::string_view, std::pair<size_t, bool>> types = {
      {"|i1", {1, true}}, {"|u1", {1, false}}, {"<i2", {2, true}}, {"<u2", {2, false}},
      {"<i4", {4, true}}, {"<u4", {4, false}}, {"<i8", {8, true}}};
  const auto found = types.find(type);
  if (found == types.end()) return 0;
  is_signed = found->second.second;
  return found->second.first;
}

int64_t NpyIntegerAt(const char* from, size_t bytes, bool is_signed) {
  uint64_t bits = 0;
  for (size_t i = bytes; i > 0; --i) bits = bits << 8 | static_cast<unsigned char>(from[i - 1]);
  if (is_signed && bytes < 8 && (bits >> (8 * bytes - 1)) != 0) bits |= ~uint64_t{0} << (8 * bytes);
  return static_cast<int64_t>(bits);
}

Result<IdLists> ReadIdMatrix(std::string_view npy, const NpyHeader& header, std::string_view name) {
  bool is_signed = false;
  const size_t bytes = NpyIntegerBytes(header.type, is_signed);
  if (bytes == 0)
    return Failed("{}: offset 8: the type '{}' is neither objects nor little-endian integers", name,
                  Printable(header.type, 40));
  if (header.shape.empty() || header.shape.size() > 2 ||
      (header.columns_first && header.shape.size() > 1))
    return Failed("{}: offset 8: neither a vector nor a matrix in row order", name);
  const size_t rows = header.shape[0], columns = header.shape.size() == 2 ? header.shape[1] : 1;
  if (columns == 0 || rows > (npy.size() - header.values) / bytes / columns)
    return Failed("{}: offset {}: the array is cut off: {}x{} values need more bytes", name,
                  npy.size(), rows, columns);
  IdLists lists;
  lists.padded = header.shape.size() == 2;
  lists.ids.reserve(rows * columns);
  for (size_t i = 0; i < rows * columns; ++i)
    lists.ids.push_back(NpyIntegerAt(npy.data() + header.values + i * bytes, bytes, is_signed));
  for (size_t row = 1; row <= rows; ++row) lists.ends.push_back(row * columns);
  return lists;
}

}  // namespace

Result<IdLists> ParseIdLists(std::string_view npy, std::string_view name) {
  const NpyHeader header = TENCH_TRY(NpyHeaderReader(npy, name).Read());
  if (header.type != kNpyObjects) return ReadIdMatrix(npy, header, name);
  const auto pickled = TENCH_TRY(ParsePickledLists(npy.substr(header.values), name, header.values));
  if (header.shape.size() != 1 || header.shape[0] != pickled.size())
    return Failed("{}: the array has another shape than its {} lists", name, pickled.size());
  IdLists lists;
  for (const std::vector<int64_t>& list : pickled) {
    lists.ids.insert(lists.ids.end(), list.begin(), list.end());
    lists.ends.push_back(lists.ids.size());
  }
  return lists;
}

}  // namespace tench
