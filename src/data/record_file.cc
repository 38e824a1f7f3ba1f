// SPDX-License-Identifier: Apache-2.0
#include "data/record_file.h"

#include <array>
#include <cstring>

namespace tench {
namespace {

std::array<uint32_t, 256> MakeCrcTable() {
  constexpr uint32_t kReflectedCastagnoli = 0x82f63b78;
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = (value & 1) != 0 ? value >> 1 ^ kReflectedCastagnoli : value >> 1;
    table[byte] = value;
  }
  return table;
}

template <class T>
void Append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

uint32_t MaskedCrc32c(std::string_view bytes) {
  static const std::array<uint32_t, 256> table = MakeCrcTable();
  uint32_t crc = ~uint32_t{0};
  for (const char c : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<uint8_t>(c)) & 0xff];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

std::string TfRecordOf(std::string_view message) {
  std::string record;
  Append(record, uint64_t{message.size()});
  Append(record, MaskedCrc32c(record));
  record.append(message);
  Append(record, MaskedCrc32c(message));
  return record;
}

std::string RecordIoOf(const ImageHeader& header, std::string_view image) {
  std::string content, record;
  Append(content, header);
  content.append(image);
  const auto add = [&](uint32_t flag, std::string_view part) {
    Append(record, kRecordIoMagic);
    Append(record, flag << 29 | static_cast<uint32_t>(part.size()));
    record.append(part);
    record.append((4 - part.size() % 4) % 4, '\0');
  };
  const std::string_view all = content;
  const size_t aligned_end = all.size() / 4 * 4;
  size_t begin = 0;
  for (size_t at = 0; at < aligned_end; at += 4) {
    uint32_t word = 0;
    std::memcpy(&word, all.data() + at, sizeof word);
    if (word != kRecordIoMagic) continue;
    add(begin == 0 ? 1 : 2, all.substr(begin, at - begin));
    begin = at + 4;
  }
  add(begin == 0 ? 0 : 3, all.substr(begin));
  return record;
}

}  // namespace tench
