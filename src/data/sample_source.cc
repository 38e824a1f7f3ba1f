// SPDX-License-Identifier: Apache-2.0
#include "data/sample_source.h"

#include "base/text.h"
#include "data/byte_file.h"
#include "data/image.h"
#include "data/record_file.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

// std::filesystem throws for folders that cannot be read.
OpenedSource Guarded(const SourceFormat& format, const fs::path& path,
                     const SourceOptions& options) {
  std::error_code error;
  if (!fs::exists(path, error))
    return Failed("{}: {}", path.string(), error ? error.message() : "no such file or folder");
  try {
    return format.open(path, options);
  } catch (const fs::filesystem_error& failure) {
    return Failed("{}: {}", failure.path1().string(), failure.code().message());
  }
}

std::string FormatOfFolder(const fs::path& path) {
  if (fs::exists(path / "data.mdb")) return "lmdb";
  for (const fs::path& folder : {path, path / "train"}) {
    if (fs::is_directory(folder / "neg") && fs::is_directory(folder / "pos")) return "imdb";
  }
  bool folders = false;
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("train-images-idx")) return "mnist";
    if (name.starts_with("data_batch") && name.ends_with(".bin")) return "cifar10";
    if (name == "train.bin") return "cifar100";
    folders = folders || entry.is_directory();
  }
  return folders ? "folder" : "";
}

Result<std::string> FormatOfFile(const fs::path& path) {
  fs::path plain = path;
  if (plain.extension() == ".gz") plain.replace_extension();
  const std::string name = plain.filename().string(), ending = plain.extension().string();
  if (ending == ".csv") return std::string("csv");
  if (ending == ".tfrecord" || ending == ".tfrecords") return std::string("tfrecord");
  if (ending == ".rec") return std::string("recordio");
  if (ending == ".npz") return std::string("imdb");
  if (ending == ".mdb") return std::string("lmdb");
  if (ending == ".h5" || ending == ".hdf5") return std::string("hdf5");
  if (name.find("idx") != std::string::npos) return std::string("mnist");
  if (ending == ".bin") {
    const int64_t size = TENCH_TRY(ByteFile::Open(path)).size();
    return std::string(size % 3074 == 0 ? "cifar100" : "cifar10");
  }
  if (ending == ".txt") return std::string("folder");
  return std::string();
}

}  // namespace

std::span<const SourceFormat> SourceFormats() {
  static const std::vector<SourceFormat> formats = {
      {"mnist", "idx files of MNIST, plain or .gz: a folder, or the file of the images", OpenIdx},
      {"cifar10", "binary files of CIFAR-10: a folder, or one file", OpenCifar10},
      {"cifar100", "binary files of CIFAR-100, fine labels: a folder, or one file", OpenCifar100},
      {"folder", "JPEG and PNG images: a folder per class, or a list of 'FILE LABEL'", OpenFolder},
      {"lmdb", "Caffe's LMDB of Datum: a folder, or its data.mdb", OpenLmdb},
      {"imdb", "the IMDB reviews: a folder with train/, one with neg/ and pos/, or a .npz",
       OpenImdb},
      {"csv", "numbers and a label per row, plain or .gz", OpenCsv},
      {"hdf5", "HDF5 with the datasets data and label: a list of files, or one", OpenHdf5},
      {"tfrecord", "TensorFlow's TFRecord of Example with encoded images", OpenTfRecord},
      {"recordio", "MXNet's RecordIO of encoded images", OpenRecordIo},
  };
  return formats;
}

Status CheckFormat(std::string_view format) {
  std::vector<std::string> names;
  for (const SourceFormat& known : SourceFormats()) {
    if (known.name == format) return Ok();
    names.push_back(known.name);
  }
  return Failed("unknown data format '{}' (one of {}){}", Printable(format, 40), Join(names, ", "),
                Hint(format, names));
}

OpenedSource OpenSource(std::string_view format, const fs::path& path,
                        const SourceOptions& options) {
  TENCH_TRY(CheckFormat(format));
  for (const SourceFormat& known : SourceFormats()) {
    if (known.name == format) return Guarded(known, path, options);
  }
  Check(false, "a checked format is unknown");
  return Failed("unknown data format");
}

Result<std::string> DetectFormat(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error))
    return Failed("{}: {}", path.string(), error ? error.message() : "no such file or folder");
  std::string format;
  try {
    format = fs::is_directory(path) ? FormatOfFolder(path) : TENCH_TRY(FormatOfFile(path));
  } catch (const fs::filesystem_error& failure) {
    return Failed("{}: {}", failure.path1().string(), failure.code().message());
  }
  if (format.empty())
    return Failed("{}: the format is not known from its names; write FORMAT:{}", path.string(),
                  path.string());
  return format;
}

}  // namespace tench
