// SPDX-License-Identifier: Apache-2.0
#pragma once
// An image of bytes, and the codecs and the resizing of images. Channels are planes in the order
// R, G, B; a grey image has one. Not aware of files or labels.
//
// JPEG is decoded by libjpeg-turbo with its accurate integer DCT and smooth chroma upsampling,
// whose SIMD and C code give equal bits. Thread safety: pure functions.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tench {

struct Image {
  int64_t channels = 0, height = 0, width = 0;
  std::string bytes;  // channels planes of height rows of width bytes
};

struct ImageRequest {
  int64_t channels = 0;  // 1 = grey, 3 = colour, 0 = as the file has it
  // The size that the caller will resize to; 0 = the full size. A JPEG is decoded at the smallest
  // of 1/8, 1/4, 1/2 and 1/1 of its size that is not below this.
  int64_t height = 0, width = 0;
};

inline constexpr int64_t kMaxImageSide = 65'500;
inline constexpr int64_t kMaxImagePixels = int64_t{1}
                                           << 26;  // larger headers are broken or hostile

bool IsJpeg(std::string_view content);
bool IsPng(std::string_view content);

// Errors name the offset in `content`: "offset 5120: the JPEG is cut off".
Status DecodeJpeg(std::string_view content, const ImageRequest& request, Image& image);
Status DecodePng(std::string_view content, const ImageRequest& request, Image& image);
// Lossless; of 1 or 3 channels.
Result<std::string> EncodePng(const Image& image);

// Bilinear interpolation in integer arithmetic (docs/data.md has the formulas), so that every
// machine computes the same bits. Pixel centers are at half-integers, edges are replicated.
void Resize(const Image& image, int64_t height, int64_t width, Image& out);

}  // namespace tench
