// SPDX-License-Identifier: Apache-2.0
#include "data/wire_reader.h"

#include <cstring>

namespace tench {
namespace {

constexpr int kMaxVarintBytes = 10;

template <class T>
T Load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

void AppendVarint(std::string& message, uint64_t value) {
  while (value >= 0x80) {
    message.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  message.push_back(static_cast<char>(value));
}

}  // namespace

Error WireReader::Broken(std::string_view what) const {
  return Failed("broken protobuf message at byte {} of {}: {}", size_ - rest_.size(), size_, what);
}

Result<uint64_t> WireReader::Varint() {
  uint64_t value = 0;
  for (int i = 0; i < kMaxVarintBytes; ++i) {
    if (rest_.empty()) return Broken("it ends inside of a number");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) return value;
  }
  return Broken("a number has more than 10 bytes");
}

Result<bool> WireReader::Next() {
  if (rest_.empty()) return false;
  const uint64_t tag = TENCH_TRY(Varint());
  if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return Broken("a field has an invalid number");
  field_ = static_cast<uint32_t>(tag >> 3);
  type_ = static_cast<WireType>(tag & 7);
  size_t length = 0;
  switch (type_) {
    case WireType::kVarint:
      number_ = TENCH_TRY(Varint());
      return true;
    case WireType::kBytes: {
      const uint64_t declared = TENCH_TRY(Varint());
      if (declared > rest_.size())
        return Broken(
            fmt::format("field {} has {} bytes, but {} are left", field_, declared, rest_.size()));
      length = static_cast<size_t>(declared);
      break;
    }
    case WireType::kFixed64:
      length = 8;
      break;
    case WireType::kFixed32:
      length = 4;
      break;
    default:
      return Broken(fmt::format("field {} has the unknown type {}", field_, tag & 7));
  }
  if (length > rest_.size()) return Broken("it ends inside of a field");
  bytes_ = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return true;
}

Result<int64_t> WireReader::Integer() const {
  if (type_ != WireType::kVarint) return Broken(fmt::format("field {} is no integer", field_));
  return static_cast<int64_t>(number_);
}

Result<std::string_view> WireReader::Bytes() const {
  if (type_ != WireType::kBytes) return Broken(fmt::format("field {} is no byte string", field_));
  return bytes_;
}

Status WireReader::AppendFloats(std::vector<float>& out) const {
  if (type_ != WireType::kFixed32 && (type_ != WireType::kBytes || bytes_.size() % 4 != 0))
    return Broken(fmt::format("field {} holds no floats", field_));
  for (size_t i = 0; i < bytes_.size(); i += 4) out.push_back(Load<float>(bytes_.data() + i));
  return Ok();
}

Status WireReader::AppendDoubles(std::vector<float>& out) const {
  if (type_ != WireType::kFixed64 && (type_ != WireType::kBytes || bytes_.size() % 8 != 0))
    return Broken(fmt::format("field {} holds no doubles", field_));
  for (size_t i = 0; i < bytes_.size(); i += 8)
    out.push_back(static_cast<float>(Load<double>(bytes_.data() + i)));
  return Ok();
}

Status WireReader::AppendIntegers(std::vector<int64_t>& out) const {
  if (type_ == WireType::kVarint) {
    out.push_back(static_cast<int64_t>(number_));
    return Ok();
  }
  if (type_ != WireType::kBytes) return Broken(fmt::format("field {} holds no integers", field_));
  WireReader packed(bytes_);
  while (!packed.rest_.empty()) out.push_back(static_cast<int64_t>(TENCH_TRY(packed.Varint())));
  return Ok();
}

void AppendVarintField(std::string& message, uint32_t field, uint64_t value) {
  AppendVarint(message, uint64_t{field} << 3);
  AppendVarint(message, value);
}

void AppendBytesField(std::string& message, uint32_t field, std::string_view bytes) {
  AppendVarint(message, uint64_t{field} << 3 | static_cast<uint64_t>(WireType::kBytes));
  AppendVarint(message, bytes.size());
  message.append(bytes);
}

}  // namespace tench
