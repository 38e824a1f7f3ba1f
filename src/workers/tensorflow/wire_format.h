// SPDX-License-Identifier: Apache-2.0
#pragma once
// The subset of protobuf's wire format that writes a ConfigProto and reads a RunMetadata. No second
// protobuf is linked beside the one inside TensorFlow. The reader accepts arbitrary bytes.
// Stateless.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tench::tensorflow {

class WireWriter {
 public:
  WireWriter& Integer(int field, int64_t value);
  WireWriter& Bytes(int field, std::string_view value);  // text, or a message of its own
  const std::string& text() const { return text_; }

 private:
  void Varint(uint64_t value);
  std::string text_;
};

struct WireField {
  int number = 0;
  int64_t integer = 0;     // of varints
  std::string_view bytes;  // of texts and messages
};

// Calls `visit` for every varint and every length-delimited field of the message, in order; skips
// fixed-width fields.
Status ReadWire(std::string_view message, const std::function<void(const WireField&)>& visit);

}  // namespace tench::tensorflow
