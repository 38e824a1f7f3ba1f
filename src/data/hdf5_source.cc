// SPDX-License-Identifier: Apache-2.0
// HDF5 files as Caffe's HDF5Data layer reads them: a text file that names one HDF5 file per line,
// each with the datasets `data` (N, C, H, W) and `label` (N). A single HDF5 file is a list of one.
//
// libhdf5 is opened when it is needed, with local symbols: it brings a dozen libraries, which no
// framework's process should load for a run without HDF5 data.
#include <dlfcn.h>
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/file.h"
#include "base/text.h"
#include "data/sample_source.h"

namespace tench {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMaxHdf5ListBytes = size_t{64} << 20;
constexpr unsigned kReadOnly = 0;  // H5F_ACC_RDONLY, whose macro calls functions of the library
constexpr const char* kLibraries[] = {TENCH_HDF5_SONAME, "libhdf5_serial.so.103", "libhdf5.so"};

// The functions of libhdf5; the handle stays open for the life of the process.
struct Hdf5 {
  void* library = nullptr;
  std::string missing;

  template <class Function>
  void Resolve(Function*& function, const char* symbol) {
    function = reinterpret_cast<Function*>(dlsym(library, symbol));
    if (function == nullptr && missing.empty()) missing = symbol;
  }

  // Many names of the interface are macros of the header.
  herr_t (*open)() = nullptr;
  herr_t (*set_auto)(hid_t, H5E_auto2_t, void*) = nullptr;
  hid_t (*file_open)(const char*, unsigned, hid_t) = nullptr;
  herr_t (*file_close)(hid_t) = nullptr;
  hid_t (*dataset_open)(hid_t, const char*, hid_t) = nullptr;
  herr_t (*dataset_close)(hid_t) = nullptr;
  hid_t (*dataset_space)(hid_t) = nullptr;
  herr_t (*read)(hid_t, hid_t, hid_t, hid_t, hid_t, void*) = nullptr;
  hid_t (*space_create)(int, const hsize_t*, const hsize_t*) = nullptr;
  herr_t (*space_close)(hid_t) = nullptr;
  int (*space_rank)(hid_t) = nullptr;
  int (*space_sizes)(hid_t, hsize_t*, hsize_t*) = nullptr;
  herr_t (*space_select)(hid_t, H5S_seloper_t, const hsize_t*, const hsize_t*, const hsize_t*,
                         const hsize_t*) = nullptr;
  hid_t* native_float = nullptr;
};

Result<Hdf5> OpenLibrary() {
  Hdf5 h5;
  for (const char* name : kLibraries) {
    if (h5.library == nullptr) h5.library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (h5.library == nullptr)
    return Failed("HDF5 data needs {} (Debian: apt-get install libhdf5-103-1)", kLibraries[0]);
  h5.Resolve(h5.open, "H5open");
  h5.Resolve(h5.set_auto, "H5Eset_auto2");
  h5.Resolve(h5.file_open, "H5Fopen");
  h5.Resolve(h5.file_close, "H5Fclose");
  h5.Resolve(h5.dataset_open, "H5Dopen2");
  h5.Resolve(h5.dataset_close, "H5Dclose");
  h5.Resolve(h5.dataset_space, "H5Dget_space");
  h5.Resolve(h5.read, "H5Dread");
  h5.Resolve(h5.space_create, "H5Screate_simple");
  h5.Resolve(h5.space_close, "H5Sclose");
  h5.Resolve(h5.space_rank, "H5Sget_simple_extent_ndims");
  h5.Resolve(h5.space_sizes, "H5Sget_simple_extent_dims");
  h5.Resolve(h5.space_select, "H5Sselect_hyperslab");
  // An executable that links the library (the caffe worker) has a copy of its variables, and the
  // library uses that copy.
  void* native_float = dlsym(RTLD_DEFAULT, "H5T_NATIVE_FLOAT_g");
  if (native_float == nullptr) native_float = dlsym(h5.library, "H5T_NATIVE_FLOAT_g");
  h5.native_float = static_cast<hid_t*>(native_float);
  if (!h5.missing.empty() || h5.native_float == nullptr)
    return Failed("{} lacks the symbol {}", kLibraries[0],
                  h5.missing.empty() ? "H5T_NATIVE_FLOAT_g" : h5.missing);
  h5.open();
  // Failures are this file's errors, not lines on standard error.
  h5.set_auto(H5E_DEFAULT, nullptr, nullptr);
  return h5;
}

// Closes an identifier of libhdf5.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  hid_t id() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

class Hdf5Source : public SampleSource {
 public:
  static OpenedSource Open(const fs::path& path) {
    auto source = std::unique_ptr<Hdf5Source>(new Hdf5Source(TENCH_TRY(OpenLibrary())));
    source->facts_.format = "hdf5";
    source->facts_.files = {path};
    const std::vector<fs::path> files = TENCH_TRY(FilesOf(path));
    for (const fs::path& file : files) {
      TENCH_TRY(source->AddFile(file));
      if (file != path) source->facts_.files.push_back(file);
    }
    return OpenedSource(std::move(source));
  }

  Status Read(int64_t index, StoredSample& sample) const override {
    const Part& part = PartOf(index);
    const auto row = static_cast<hsize_t>(index - part.first);
    sample.form = SampleForm::kReals;
    sample.shape = facts_.shape;
    sample.reals.resize(static_cast<size_t>(ElementCount(facts_.shape)));
    sample.label = part.labels[row];
    // The library is not thread-safe.
    const std::lock_guard<std::mutex> lock(mutex_);
    const Handle space(h5_.dataset_space(part.data.id()), h5_.space_close);
    std::vector<hsize_t> start(part.sizes.size(), 0), count = part.sizes;
    start[0] = row;
    count[0] = 1;
    const Handle memory(h5_.space_create(static_cast<int>(count.size()), count.data(), nullptr),
                        h5_.space_close);
    if (!space.valid() || !memory.valid() ||
        h5_.space_select(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) <
            0 ||
        h5_.read(part.data.id(), *h5_.native_float, memory.id(), space.id(), H5P_DEFAULT,
                 sample.reals.data()) < 0)
      return Failed("{}: cannot be read", Where(index));
    return Ok();
  }

  std::string Where(int64_t index) const override {
    const Part& part = PartOf(index);
    return fmt::format("{}: row {} of 'data'", part.path.string(), index - part.first);
  }

 private:
  struct Part {
    fs::path path;
    Handle file, data;
    std::vector<hsize_t> sizes;
    std::vector<int64_t> labels;
    int64_t first;
  };

  explicit Hdf5Source(const Hdf5& h5) : h5_(h5) {}

  static Result<std::vector<fs::path>> FilesOf(const fs::path& path) {
    const std::string ending = path.extension().string();
    if (ending == ".h5" || ending == ".hdf5") return std::vector<fs::path>{path};
    std::vector<fs::path> files;
    const std::string list = TENCH_TRY(ReadFile(path, kMaxHdf5ListBytes));
    for (const std::string& line : Split(list, '\n')) {
      const fs::path file(std::string(Trim(line)));
      // Caffe reads relative names from the working folder; the list's own folder comes second.
      if (file.empty()) continue;
      const bool beside = file.is_relative() && !fs::exists(file);
      files.push_back(beside ? path.parent_path() / file : file);
    }
    if (files.empty()) return Failed("{}: the list names no HDF5 file", path.string());
    return files;
  }

  Result<std::vector<hsize_t>> SizesOf(const Handle& dataset) const {
    const Handle space(h5_.dataset_space(dataset.id()), h5_.space_close);
    const int rank = space.valid() ? h5_.space_rank(space.id()) : -1;
    if (rank < 1 || rank > 4) return Failed("has {} dimensions instead of 1 to 4", rank);
    std::vector<hsize_t> sizes(static_cast<size_t>(rank));
    h5_.space_sizes(space.id(), sizes.data(), nullptr);
    for (const hsize_t size : sizes) {
      if (size < 1 || size > (hsize_t{1} << 31)) return Failed("has a dimension of {}", size);
    }
    return sizes;
  }

  Status AddFile(const fs::path& path) {
    const std::string name = path.string();
    Handle file(h5_.file_open(path.c_str(), kReadOnly, H5P_DEFAULT), h5_.file_close);
    if (!file.valid()) return Failed("{}: offset 0: not a readable HDF5 file", name);
    Handle data(h5_.dataset_open(file.id(), "data", H5P_DEFAULT), h5_.dataset_close);
    const Handle label(h5_.dataset_open(file.id(), "label", H5P_DEFAULT), h5_.dataset_close);
    if (!data.valid() || !label.valid())
      return Failed("{}: it has no dataset '{}'", name, data.valid() ? "label" : "data");
    std::vector<hsize_t> sizes = TENCH_TRY(SizesOf(data).In(name + ": 'data'"));
    const std::vector<hsize_t> label_sizes = TENCH_TRY(SizesOf(label).In(name + ": 'label'"));
    if (std::any_of(label_sizes.begin() + 1, label_sizes.end(), [](hsize_t s) { return s != 1; }) ||
        label_sizes[0] != sizes[0])
      return Failed("{}: 'label' must have one value for each of the {} rows of 'data'", name,
                    sizes[0]);
    Shape shape = {1, 1, 1};
    for (size_t d = 1; d < sizes.size(); ++d) shape[d - 1] = static_cast<int64_t>(sizes[d]);
    if (!facts_.shape.empty() && shape != facts_.shape)
      return Failed("{}: 'data' has rows of {}, but those before have {}", name, ToString(shape),
                    ToString(facts_.shape));
    if (ElementCount(shape) > (int64_t{1} << 30))
      return Failed("{}: 'data' has rows of {}, which is too large", name, ToString(shape));
    facts_.shape = shape;
    std::vector<float> labels(sizes[0]);
    if (h5_.read(label.id(), *h5_.native_float, H5S_ALL, H5S_ALL, H5P_DEFAULT, labels.data()) < 0)
      return Failed("{}: 'label' cannot be read", name);
    std::vector<int64_t> classes;
    for (size_t i = 0; i < labels.size(); ++i) {
      if (!(labels[i] >= 0 && labels[i] < 2e9f) || labels[i] != std::floor(labels[i]))
        return Failed("{}: row {} of 'label': {} is no class number", name, i, labels[i]);
      classes.push_back(static_cast<int64_t>(labels[i]));
      facts_.classes = std::max(facts_.classes, classes.back() + 1);
    }
    const int64_t first = facts_.count;
    facts_.count += static_cast<int64_t>(sizes[0]);
    parts_.push_back(
        {path, std::move(file), std::move(data), std::move(sizes), std::move(classes), first});
    return Ok();
  }

  const Part& PartOf(int64_t index) const {
    const auto after = std::upper_bound(parts_.begin(), parts_.end(), index,
                                        [](int64_t i, const Part& part) { return i < part.first; });
    return *std::prev(after);
  }

  Hdf5 h5_;
  mutable std::mutex mutex_;
  std::vector<Part> parts_;
};

}  // namespace

OpenedSource OpenHdf5(const fs::path& path, const SourceOptions&) { return Hdf5Source::Open(path); }

}  // namespace tench
