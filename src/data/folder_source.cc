// SPDX-License-Identifier: Apache-2.0
// Folders of images: one folder per class, in the order of their names, or a text file of
// `file label` lines as Caffe's ImageData layer reads it. The first bytes of a file tell JPEG from
// PNG. Hidden files and files of other kinds are left out.
#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "data/image.h"
#include "data/sample_source.h"

namespace tench {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMaxImageFileBytes = size_t{1} << 30;
constexpr size_t kMaxListBytes = size_t{1} << 30;

struct ImageFile {
  fs::path path;
  int64_t label = 0;
};

bool IsImageName(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

std::vector<fs::path> SortedEntries(const fs::path& folder, bool folders) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with('.')) continue;
    if (folders ? entry.is_directory() : entry.is_regular_file() && IsImageName(entry.path()))
      paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class FolderSource : public SampleSource {
 public:
  // The labels of a list are in the list; those of folders follow from the names.
  FolderSource(std::vector<ImageFile> images, std::vector<std::string> names, int64_t classes,
               const fs::path& list = {})
      : images_(std::move(images)) {
    facts_.format = "folder";
    facts_.count = static_cast<int64_t>(images_.size());
    facts_.classes = classes;
    facts_.encoded = true;
    facts_.class_names = std::move(names);
    if (!list.empty()) facts_.files.push_back(list);
    for (const ImageFile& image : images_) facts_.files.push_back(image.path);
  }

  Status Read(int64_t index, StoredSample& sample) const override {
    const ImageFile& image = images_[static_cast<size_t>(index)];
    sample.bytes = TENCH_TRY(ReadFile(image.path, kMaxImageFileBytes));
    if (!IsJpeg(sample.bytes) && !IsPng(sample.bytes))
      return Failed("{}: offset 0: neither a JPEG nor a PNG", image.path.string());
    sample.form = IsJpeg(sample.bytes) ? SampleForm::kJpeg : SampleForm::kPng;
    sample.label = image.label;
    return Ok();
  }

  std::string Where(int64_t index) const override {
    return images_[static_cast<size_t>(index)].path.string();
  }

 private:
  std::vector<ImageFile> images_;
};

OpenedSource OpenClassFolders(const fs::path& folder) {
  std::vector<ImageFile> images;
  std::vector<std::string> names;
  for (const fs::path& of_class : SortedEntries(folder, true)) {
    const std::vector<fs::path> files = SortedEntries(of_class, false);
    if (files.empty())
      return Failed("{}: the class folder has no .jpg, .jpeg or .png file", of_class.string());
    for (const fs::path& file : files) images.push_back({file, static_cast<int64_t>(names.size())});
    names.push_back(of_class.filename().string());
  }
  if (names.empty())
    return Failed("{}: no class folders (expected {}/CLASS/image.jpg)", folder.string(),
                  folder.string());
  const auto classes = static_cast<int64_t>(names.size());
  return OpenedSource(std::make_unique<FolderSource>(std::move(images), std::move(names), classes));
}

OpenedSource OpenList(const fs::path& list) {
  const std::string text = TENCH_TRY(ReadFile(list, kMaxListBytes));
  std::vector<ImageFile> images;
  int64_t classes = 0, line_number = 0;
  for (const std::string& line : Split(text, '\n')) {
    ++line_number;
    const std::string_view trimmed = Trim(line);
    if (trimmed.empty()) continue;
    const size_t space = trimmed.find_last_of(" \t");
    const auto label =
        ParseInteger(space == std::string_view::npos ? "" : trimmed.substr(space + 1));
    if (!label.ok() || *label < 0 || *label > kMaxLabel)
      return Failed("{}:{}: expected 'FILE LABEL' with a label from 0 to {}, not '{}'",
                    list.string(), line_number, kMaxLabel, Printable(trimmed, 80));
    const fs::path file(std::string(Trim(trimmed.substr(0, space))));
    images.push_back({file.is_absolute() ? file : list.parent_path() / file, *label});
    classes = std::max(classes, *label + 1);
    std::error_code error;
    if (!fs::is_regular_file(images.back().path, error))
      return Failed("{}:{}: no file '{}'", list.string(), line_number, images.back().path.string());
  }
  if (images.empty()) return Failed("{}: the list names no image", list.string());
  return OpenedSource(
      std::make_unique<FolderSource>(std::move(images), std::vector<std::string>(), classes, list));
}

}  // namespace

OpenedSource OpenFolder(const fs::path& path, const SourceOptions&) {
  return fs::is_directory(path) ? OpenClassFolders(path) : OpenList(path);
}

}  // namespace tench
