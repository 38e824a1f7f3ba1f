// SPDX-License-Identifier: Apache-2.0
// Fuzzes the readers of data sets. The first byte selects what the rest is: a file of a format, a
// image, or a message. Every sample of a file that opens is read and decoded. An error is one line.
// libhdf5's files are left out.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file.h"
#include "data/byte_file.h"
#include "data/data_conversion.h"
#include "data/data_reference.h"
#include "data/datum.h"
#include "data/id_list_array.h"
#include "data/image.h"

namespace {

using namespace tench;  // NOLINT: the fuzzer is nothing but calls of the library

void CheckError(const Status& status) {
  if (status.ok()) return;
  Check(status.error().message.find('\n') == std::string::npos, "an error has several lines");
}

void CheckImage(const Image& image) {
  Check(image.bytes.size() == static_cast<size_t>(image.channels * image.height * image.width),
        "an image has another size than its bytes");
  if (image.bytes.size() > 1 << 20) return;
  Image resized;
  Resize(image, 7, 5, resized);
}

void CheckImage(std::string_view content) {
  for (const ImageRequest& request : {ImageRequest{}, {3, 8, 8}, {1, 0, 0}}) {
    Image image;
    const bool jpeg = IsJpeg(content);
    const Status decoded =
        jpeg ? DecodeJpeg(content, request, image) : DecodePng(content, request, image);
    CheckError(decoded);
    if (decoded.ok()) CheckImage(image);
  }
}

void CheckMessages(std::string_view message) {
  StoredSample sample;
  CheckError(ParseDatum(message, sample));
  CheckError(ParseExample(message, sample));
  if (const auto mean = ParseMeanFile(message); mean.ok()) {
    Check(static_cast<int64_t>(mean->values.size()) == ElementCount(mean->shape),
          "a mean image has another size than its values");
  }
}

// A folder of the process, whose files are replaced by every input.
const std::filesystem::path& Folder() {
  static const TemporaryFolder folder = *TemporaryFolder::Make("samples-fuzz");
  return folder.path();
}

std::filesystem::path WriteInput(const std::string& name, std::string_view content) {
  std::filesystem::path path = Folder() / name;
  std::filesystem::create_directories(path.parent_path());
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  Check(fd >= 0, "the input cannot be written");
  const ssize_t put = write(fd, content.data(), content.size());
  Check(put == static_cast<ssize_t>(content.size()) && close(fd) == 0, "the input was not written");
  return path;
}

void CheckSource(std::string_view format, const std::filesystem::path& path) {
  const OpenedSource source = OpenSource(format, path);
  if (!source.ok()) {
    Check(source.error().message.find('\n') == std::string::npos, "an error has several lines");
    return;
  }
  if ((*source)->facts().count > 1000) return;
  for (const std::string& line : CheckSamples(**source, nullptr, StopToken()).broken)
    Check(line.find('\n') == std::string::npos, "an error has several lines");
}

void CheckFile(std::string_view format, std::string_view content, const std::string& name) {
  CheckSource(format, WriteInput(name, content));
}

// An array of a .npz file, without the archive's checksums, which few mutations pass.
void CheckArray(std::string_view npy) {
  const Result<IdLists> lists = ParseIdLists(npy, "x");
  if (!lists.ok()) {
    Check(lists.error().message.find('\n') == std::string::npos, "an error has several lines");
    return;
  }
  size_t end = 0;
  for (const size_t next : lists->ends) {
    Check(next >= end && next <= lists->ids.size(), "a list lies outside of the ids");
    end = next;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'i': {  // the length of the labels' file, that file, and the file of the images
      const size_t begin = text.empty() ? 0 : 1;
      const size_t labels = begin == 0 ? 0 : static_cast<unsigned char>(text[0]);
      const std::string_view rest = text.substr(begin);
      WriteInput("labels-idx1", rest.substr(0, labels));
      CheckFile("mnist", rest.substr(std::min(labels, rest.size())), "images-idx3");
      break;
    }
    case 'b':
      CheckFile("lmdb", text, "data.mdb");
      break;
    case 'l':
      WriteInput("a.jpg", "");
      CheckFile("folder", text, "list.txt");
      break;
    case 'n':
      CheckFile("imdb", text, "reviews.npz");
      break;
    case 'a':
      CheckArray(text);
      break;
    case 'w':
      WriteInput("neg/0.txt", text);
      WriteInput("pos/0.txt", text.substr(0, text.size() / 2));
      CheckSource("imdb", Folder());
      break;
    case '1':
      CheckFile("cifar100", text, "train.bin");
      break;
    case 'c':
      CheckFile("csv", text, "table.csv");
      break;
    case 't':
      CheckFile("tfrecord", text, "records.tfrecord");
      break;
    case 'r':
      CheckFile("recordio", text, "records.rec");
      break;
    case 'p':
      CheckImage(text);
      break;
    case 'm':
      CheckMessages(text);
      break;
    case 'd':
      if (const auto reference = ParseDataReference(text); !reference.ok())
        Check(reference.error().message.find('\n') == std::string::npos,
              "an error has several lines");
      break;
    default:
      CheckFile("cifar10", text, "batch.bin");
  }
  return 0;
}
