// SPDX-License-Identifier: Apache-2.0
#include "store/series_blob.h"

#include <bit>
#include <cstring>

namespace tench {
namespace {

constexpr size_t kBytes = kSeriesValueBytes;

template <class T>
std::string Encode(std::span<const T> values) {
  std::string blob(values.size() * kBytes, '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t bits = std::bit_cast<uint64_t>(values[i]);
    if constexpr (std::endian::native == std::endian::big) bits = __builtin_bswap64(bits);
    std::memcpy(blob.data() + i * kBytes, &bits, kBytes);
  }
  return blob;
}

template <class T>
Result<std::vector<T>> Decode(std::string_view blob) {
  if (blob.size() % kBytes != 0)
    return Failed("a series of {} bytes is cut off: the file is damaged", blob.size());
  std::vector<T> values(blob.size() / kBytes);
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, blob.data() + i * kBytes, kBytes);
    if constexpr (std::endian::native == std::endian::big) bits = __builtin_bswap64(bits);
    values[i] = std::bit_cast<T>(bits);
  }
  return values;
}

}  // namespace

std::string EncodeSeries(std::span<const int64_t> values) { return Encode(values); }
std::string EncodeSeries(std::span<const double> values) { return Encode(values); }
Result<std::vector<int64_t>> DecodeIntegers(std::string_view blob) { return Decode<int64_t>(blob); }
Result<std::vector<double>> DecodeReals(std::string_view blob) { return Decode<double>(blob); }

}  // namespace tench
