// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/wire_format.h"

namespace tench::tensorflow {
namespace {

constexpr int kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5;

Error Broken() { return Failed("a message from TensorFlow is truncated"); }

Result<uint64_t> TakeVarint(std::string_view& rest) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return Broken();
}

}  // namespace

void WireWriter::Varint(uint64_t value) {
  while (value >= 0x80) {
    text_ += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  text_ += static_cast<char>(value);
}

WireWriter& WireWriter::Integer(int field, int64_t value) {
  Varint(static_cast<uint64_t>(field) << 3 | kVarint);
  Varint(static_cast<uint64_t>(value));
  return *this;
}

WireWriter& WireWriter::Bytes(int field, std::string_view value) {
  Varint(static_cast<uint64_t>(field) << 3 | kLengthDelimited);
  Varint(value.size());
  text_ += value;
  return *this;
}

Status ReadWire(std::string_view message, const std::function<void(const WireField&)>& visit) {
  while (!message.empty()) {
    const uint64_t key = TENCH_TRY(TakeVarint(message));
    WireField field;
    field.number = static_cast<int>(key >> 3);
    switch (static_cast<int>(key & 7)) {
      case kVarint:
        field.integer = static_cast<int64_t>(TENCH_TRY(TakeVarint(message)));
        visit(field);
        break;
      case kLengthDelimited: {
        const uint64_t size = TENCH_TRY(TakeVarint(message));
        if (size > message.size()) return Broken();
        field.bytes = message.substr(0, size);
        message.remove_prefix(size);
        visit(field);
        break;
      }
      case kFixed64:
      case kFixed32: {
        const size_t size = (key & 7) == kFixed64 ? 8 : 4;
        if (size > message.size()) return Broken();
        message.remove_prefix(size);
        break;
      }
      default:
        return Failed("a message from TensorFlow has a field of unknown type {}", key & 7);
    }
  }
  return Ok();
}

}  // namespace tench::tensorflow
