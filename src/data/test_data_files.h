// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: writes small data sets of every format, and images of known values.

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

// It needs the types of the headers above.
#include <jpeglib.h>

#include "base/error.h"
#include "data/image.h"

namespace tench {

inline void WriteBytes(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  Check(out.good(), "a test file cannot be written");
}

inline std::string BigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

// Pixel i of image n has the value n + i, modulo 256.
inline std::string Ramp(int64_t n, int64_t size) {
  std::string bytes;
  for (int64_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(n + i));
  return bytes;
}

// Images of height × width, labelled 0, 1, …, classes - 1, 0, ….
inline void WriteIdx(const std::filesystem::path& folder, int64_t count, int64_t side,
                     int64_t classes) {
  std::string images = BigEndian(0x803) + BigEndian(static_cast<uint32_t>(count)) +
                       BigEndian(static_cast<uint32_t>(side)) +
                       BigEndian(static_cast<uint32_t>(side));
  std::string labels = BigEndian(0x801) + BigEndian(static_cast<uint32_t>(count));
  for (int64_t n = 0; n < count; ++n) {
    images += Ramp(n, side * side);
    labels.push_back(static_cast<char>(n % classes));
  }
  WriteBytes(folder / "train-images-idx3-ubyte", images);
  WriteBytes(folder / "train-labels-idx1-ubyte", labels);
}

inline Image RampImage(int64_t channels, int64_t height, int64_t width, int64_t n) {
  return {channels, height, width, Ramp(n, channels * height * width)};
}

inline std::string EncodeJpeg(const Image& image, int quality = 90) {
  jpeg_compress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* memory = nullptr;
  unsigned long size = 0;  // NOLINT: the type of libjpeg's interface
  jpeg_mem_dest(&codec, &memory, &size);
  codec.image_width = static_cast<JDIMENSION>(image.width);
  codec.image_height = static_cast<JDIMENSION>(image.height);
  codec.input_components = static_cast<int>(image.channels);
  codec.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  jpeg_start_compress(&codec, TRUE);
  for (int64_t y = 0; y < image.height; ++y) {
    std::string row;
    for (int64_t x = 0; x < image.width; ++x) {
      for (int64_t c = 0; c < image.channels; ++c)
        row.push_back(image.bytes[static_cast<size_t>((c * image.height + y) * image.width + x)]);
    }
    auto* samples = reinterpret_cast<JSAMPLE*>(row.data());
    jpeg_write_scanlines(&codec, &samples, 1);
  }
  jpeg_finish_compress(&codec);
  std::string file(reinterpret_cast<const char*>(memory), size);
  jpeg_destroy_compress(&codec);
  free(memory);  // NOLINT: allocated by libjpeg
  return file;
}

// Smooth, so that JPEG changes it little.
inline Image SmoothImage(int64_t height, int64_t width) {
  Image image{3, height, width, {}};
  for (int64_t c = 0; c < 3; ++c) {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x)
        image.bytes.push_back(static_cast<char>(40 * c + 100 * y / height + 60 * x / width));
    }
  }
  return image;
}

}  // namespace tench
