// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <cstddef>
#include <cstdio>

// They need the types of the headers above.
#include <jerror.h>
#include <jpeglib.h>

#include "data/image.h"

namespace tench {
namespace {

// libjpeg reports a failure by calling error_exit, which must not return.
struct JpegState {
  jpeg_error_mgr errors{};
  jpeg_decompress_struct codec{};
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX] = "";
};

void Escape(j_common_ptr codec) {
  auto* state = static_cast<JpegState*>(codec->client_data);
  codec->err->format_message(codec, state->message);
  std::longjmp(state->escape, 1);
}

// Most warnings are about harmless extra bytes. Missing data is an error: libjpeg fills it in grey.
void OnMessage(j_common_ptr codec, int level) {
  const int code = codec->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) Escape(codec);
}

// OpenCV's conversion of Adobe's inverted CMYK, so that Caffe sees the same bits.
void RowFromCmyk(const JSAMPLE* row, int64_t width, Image& image, int64_t y) {
  const int64_t plane = image.height * image.width;
  for (int64_t x = 0; x < width; ++x) {
    const int black = row[4 * x + 3];
    for (int64_t c = 0; c < 3; ++c) {
      const int value = black - (((255 - row[4 * x + c]) * black) >> 8);
      image.bytes[static_cast<size_t>(c * plane + y * width + x)] = static_cast<char>(value);
    }
  }
}

void RowToPlanes(const JSAMPLE* row, Image& image, int64_t y) {
  const int64_t plane = image.height * image.width;
  if (image.channels == 3) {
    char* red = image.bytes.data() + y * image.width;
    char *green = red + plane, *blue = green + plane;
    for (int64_t x = 0; x < image.width; ++x) {
      red[x] = static_cast<char>(row[3 * x]);
      green[x] = static_cast<char>(row[3 * x + 1]);
      blue[x] = static_cast<char>(row[3 * x + 2]);
    }
    return;
  }
  for (int64_t c = 0; c < image.channels; ++c) {
    char* out = image.bytes.data() + c * plane + y * image.width;
    for (int64_t x = 0; x < image.width; ++x)
      out[x] = static_cast<char>(row[image.channels * x + c]);
  }
}

unsigned ScaleFor(const jpeg_decompress_struct& codec, const ImageRequest& request) {
  if (request.height == 0 || request.width == 0) return 8;
  for (const unsigned eighths : {1u, 2u, 4u}) {
    // libjpeg rounds the scaled size up.
    const int64_t height = (int64_t{codec.image_height} * eighths + 7) / 8;
    const int64_t width = (int64_t{codec.image_width} * eighths + 7) / 8;
    if (height >= request.height && width >= request.width) return eighths;
  }
  return 8;
}

// Longjmp skips destructors, so that this function and its callees own nothing; `row` and `image`
// belong to the caller. Returns false if libjpeg escaped.
bool Decode(JpegState& state, std::string_view content, const ImageRequest& request,
            std::string& row, Image& image) {
  if (setjmp(state.escape) != 0) return false;
  jpeg_decompress_struct& codec = state.codec;
  jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(content.data()), content.size());
  jpeg_read_header(&codec, TRUE);
  if (int64_t{codec.image_height} * int64_t{codec.image_width} > kMaxImagePixels)
    ERREXIT1(&codec, JERR_IMAGE_TOO_BIG, kMaxImageSide);
  const bool cmyk = codec.jpeg_color_space == JCS_CMYK || codec.jpeg_color_space == JCS_YCCK;
  const bool grey =
      request.channels == 1 || (request.channels == 0 && codec.jpeg_color_space == JCS_GRAYSCALE);
  codec.out_color_space = cmyk ? JCS_CMYK : grey ? JCS_GRAYSCALE : JCS_RGB;
  codec.dct_method = JDCT_ISLOW;
  codec.do_fancy_upsampling = TRUE;
  codec.scale_num = ScaleFor(codec, request);
  codec.scale_denom = 8;
  jpeg_start_decompress(&codec);
  image.channels = grey ? 1 : 3;
  image.height = codec.output_height;
  image.width = codec.output_width;
  image.bytes.resize(static_cast<size_t>((cmyk ? 3 : image.channels) * image.height * image.width));
  row.resize(static_cast<size_t>(codec.output_width) *
             static_cast<size_t>(codec.output_components));
  if (cmyk) image.channels = 3;
  while (codec.output_scanline < codec.output_height) {
    const int64_t y = codec.output_scanline;
    auto* samples = reinterpret_cast<JSAMPLE*>(row.data());
    jpeg_read_scanlines(&codec, &samples, 1);
    if (cmyk)
      RowFromCmyk(samples, image.width, image, y);
    else
      RowToPlanes(samples, image, y);
  }
  jpeg_finish_decompress(&codec);
  return true;
}

}  // namespace

bool IsJpeg(std::string_view content) { return content.starts_with("\xff\xd8\xff"); }

Status DecodeJpeg(std::string_view content, const ImageRequest& request, Image& image) {
  JpegState state;
  state.codec.err = jpeg_std_error(&state.errors);
  state.codec.client_data = &state;
  state.errors.error_exit = Escape;
  state.errors.emit_message = OnMessage;
  jpeg_create_decompress(&state.codec);
  state.codec.client_data = &state;
  std::string row;
  const bool decoded = Decode(state, content, request, row, image);
  // After the end of the data, libjpeg reads a marker of its own instead.
  const auto* next = state.codec.src != nullptr ? state.codec.src->next_input_byte : nullptr;
  const auto* begin = reinterpret_cast<const unsigned char*>(content.data());
  const bool inside = next >= begin && next <= begin + content.size();
  const size_t offset = inside ? static_cast<size_t>(next - begin) : content.size();
  const int code = state.errors.msg_code;
  jpeg_destroy_decompress(&state.codec);
  if (decoded) return Ok();
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JERR_INPUT_EOF)
    return Failed("offset {}: the JPEG is cut off", content.size());
  return Failed("offset {}: broken JPEG: {}", offset, state.message);
}

}  // namespace tench
