// SPDX-License-Identifier: Apache-2.0
#pragma once
// The framing of TFRecord and RecordIO files, for their reader and writer. Thread safety: pure
// functions.

#include <cstdint>
#include <string>
#include <string_view>

namespace tench {

// A TFRecord: 64-bit length, its checksum, the message, its checksum; little-endian.
inline constexpr int64_t kTfRecordFraming = 8 + 4 + 4;
// CRC-32C, rotated and offset as TensorFlow stores it.
uint32_t MaskedCrc32c(std::string_view bytes);
std::string TfRecordOf(std::string_view message);

// A RecordIO part: the magic number, a flag of 3 bits and a length of 29 bits, the content, padding
// to 4 bytes. A record with the magic number in it (at a multiple of 4) has several parts.
inline constexpr uint32_t kRecordIoMagic = 0xced7230a;
// Begins the record of an image (MXNet's IRHeader).
struct ImageHeader {
  uint32_t flag = 0;  // > 0: the number of labels that follow the header
  float label = 0;
  uint64_t id = 0, id2 = 0;
};
std::string RecordIoOf(const ImageHeader& header, std::string_view image);

}  // namespace tench
