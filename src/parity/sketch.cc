// SPDX-License-Identifier: Apache-2.0
#include "parity/sketch.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "net/fill.h"

namespace tench {
namespace {

constexpr uint64_t kSeed = 0x70726f6a;
constexpr unsigned kBitsPerElement = 6;  // five choose the sum, one the sign
constexpr size_t kPerWord = 64 / kBitsPerElement;
constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr size_t kBytes = kProjections * sizeof(float);
constexpr size_t kCharacters = (kBytes + 2) / 3 * 4;

int DigitOf(char c) {
  const char* found = c == '\0' ? nullptr : std::strchr(kAlphabet, c);
  return found == nullptr ? -1 : static_cast<int>(found - kAlphabet);
}

}  // namespace

Sketch MakeSketch(std::string_view name, std::span<const float> values) {
  const Generator generator(kSeed, name);
  Sketch sketch;
  double squares = 0;
  for (size_t first = 0; first < values.size(); first += kPerWord) {
    uint64_t bits = generator.Bits(first / kPerWord);
    const size_t end = std::min(first + kPerWord, values.size());
    for (size_t i = first; i < end; ++i, bits >>= kBitsPerElement) {
      const double value = values[i];
      squares += value * value;
      sketch.projections[bits & 31] += (bits & 32) != 0 ? -value : value;
    }
  }
  sketch.norm = std::sqrt(squares);
  return sketch;
}

double Distance(const Sketch& a, const Sketch& b) {
  double squares = 0;
  for (size_t i = 0; i < kProjections; ++i) {
    const double difference = a.projections[i] - b.projections[i];
    squares += difference * difference;
  }
  const double distance = std::sqrt(squares);
  return std::isfinite(distance) && std::isfinite(a.norm) && std::isfinite(b.norm)
             ? distance
             : std::numeric_limits<double>::infinity();
}

std::string EncodeProjections(const Sketch& sketch) {
  unsigned char bytes[kBytes + 2] = {};
  for (size_t i = 0; i < kProjections; ++i) {
    const float value = static_cast<float>(sketch.projections[i]);
    std::memcpy(bytes + i * sizeof value, &value, sizeof value);
  }
  std::string text;
  text.reserve(kCharacters);
  for (size_t i = 0; i < kBytes; i += 3) {
    const unsigned group =
        unsigned{bytes[i]} << 16 | unsigned{bytes[i + 1]} << 8 | unsigned{bytes[i + 2]};
    for (int shift = 18; shift >= 0; shift -= 6) text += kAlphabet[group >> shift & 63];
  }
  return text;
}

Status DecodeProjections(std::string_view text, Sketch& sketch) {
  if (text.size() != kCharacters)
    return Failed("the projections have {} characters instead of {}", text.size(), kCharacters);
  unsigned char bytes[kCharacters / 4 * 3];
  for (size_t i = 0; i < kCharacters; i += 4) {
    unsigned group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const int digit = DigitOf(text[i + k]);
      if (digit < 0) return Failed("the projections are no base64");
      group = group << 6 | static_cast<unsigned>(digit);
    }
    for (size_t k = 0; k < 3; ++k)
      bytes[i / 4 * 3 + k] = static_cast<unsigned char>(group >> (16 - 8 * k));
  }
  for (size_t i = 0; i < kProjections; ++i) {
    float value;
    std::memcpy(&value, bytes + i * sizeof value, sizeof value);
    sketch.projections[i] = value;
  }
  return Ok();
}

}  // namespace tench
