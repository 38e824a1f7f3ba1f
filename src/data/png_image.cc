// SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include <cstring>

#include "data/image.h"

namespace tench {
namespace {

// libpng's simplified interface returns errors instead of jumping, and cleans up in png_image_free.
class PngState {
 public:
  PngState() { image_.version = PNG_IMAGE_VERSION; }
  ~PngState() { png_image_free(&image_); }
  PngState(const PngState&) = delete;
  PngState& operator=(const PngState&) = delete;
  png_image& operator*() { return image_; }
  png_image* operator->() { return &image_; }

 private:
  png_image image_{};
};

}  // namespace

bool IsPng(std::string_view content) { return content.starts_with("\x89PNG\r\n\x1a\n"); }

Status DecodePng(std::string_view content, const ImageRequest& request, Image& image) {
  PngState png;
  if (png_image_begin_read_from_memory(&*png, content.data(), content.size()) == 0)
    return Failed("broken PNG: {}", png->message);
  if (int64_t{png->height} * int64_t{png->width} > kMaxImagePixels)
    return Failed("a PNG of {}x{} pixels is too large", png->height, png->width);
  const bool grey = request.channels == 1 ||
                    (request.channels == 0 && (png->format & PNG_FORMAT_FLAG_COLOR) == 0);
  // A transparent image is composed onto black.
  png->format = grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  const png_color background{0, 0, 0};
  std::string pixels(PNG_IMAGE_SIZE(*png), '\0');
  if (png_image_finish_read(&*png, &background, pixels.data(), 0, nullptr) == 0)
    return Failed("broken PNG of {} bytes: {}", content.size(), png->message);
  image.channels = grey ? 1 : 3;
  image.height = png->height;
  image.width = png->width;
  image.bytes.resize(pixels.size());
  const int64_t plane = image.height * image.width;
  for (int64_t c = 0; c < image.channels; ++c) {
    for (int64_t i = 0; i < plane; ++i)
      image.bytes[static_cast<size_t>(c * plane + i)] =
          pixels[static_cast<size_t>(i * image.channels + c)];
  }
  return Ok();
}

Result<std::string> EncodePng(const Image& image) {
  if (image.channels != 1 && image.channels != 3)
    return Failed("a PNG has 1 or 3 channels, not {}", image.channels);
  const int64_t plane = image.height * image.width;
  std::string pixels(image.bytes.size(), '\0');
  for (int64_t c = 0; c < image.channels; ++c) {
    for (int64_t i = 0; i < plane; ++i)
      pixels[static_cast<size_t>(i * image.channels + c)] =
          image.bytes[static_cast<size_t>(c * plane + i)];
  }
  PngState png;
  png->height = static_cast<png_uint_32>(image.height);
  png->width = static_cast<png_uint_32>(image.width);
  png->format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(*png);
  std::string out(size, '\0');
  if (png_image_write_to_memory(&*png, out.data(), &size, 0, pixels.data(), 0, nullptr) == 0)
    return Failed("a PNG cannot be written: {}", png->message);
  out.resize(size);
  return out;
}

}  // namespace tench
