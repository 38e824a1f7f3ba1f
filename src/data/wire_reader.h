// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the fields of a protocol-buffer message without the protobuf library, which would clash
// with the one that a framework brings into the process. Written after the encoding's
// specification: varints, 32- and 64-bit values, and length-delimited fields; groups are errors.
// References the message. Used by one thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

enum class WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message), size_(message.size()) {}

  // Advances to the next field; false at the end of the message.
  Result<bool> Next();
  uint32_t field() const { return field_; }
  WireType type() const { return type_; }

  // The value of the current field. A value of another type is an error that names the field.
  Result<int64_t> Integer() const;
  Result<std::string_view> Bytes() const;
  // Appends one 32-bit float, or the elements of a packed field.
  Status AppendFloats(std::vector<float>& out) const;
  Status AppendDoubles(std::vector<float>& out) const;
  Status AppendIntegers(std::vector<int64_t>& out) const;

 private:
  Result<uint64_t> Varint();
  Error Broken(std::string_view what) const;

  std::string_view rest_;
  size_t size_;
  uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t number_ = 0;
  std::string_view bytes_;
};

// The writing counterpart: appends one field to `message`.
void AppendVarintField(std::string& message, uint32_t field, uint64_t value);
void AppendBytesField(std::string& message, uint32_t field, std::string_view bytes);

}  // namespace tench
