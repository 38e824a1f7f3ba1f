// SPDX-License-Identifier: Apache-2.0
#pragma once
// Just enough of protobuf's wire format to say a ConfigProto and to read a RunMetadata: linking a
// protobuf of our own beside the one inside of TensorFlow is what tench avoids. Readers take bytes
// from the library and must survive any of them.

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

// Calls `visit` for every varint and every text of the message, in order; fixed-width fields are
// passed over.
Status ReadWire(std::string_view message, const std::function<void(const WireField&)>& visit);

}  // namespace tench::tensorflow
