// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/hdf5_file.h"

#include <hdf5.h>

#include <utility>
#include <vector>

namespace tench::caffe_worker {
namespace {

// Owns one of HDF5's identifiers.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { Close(); }

  hid_t get() const { return id_; }
  bool valid() const { return id_ >= 0; }
  bool Close() {
    const hid_t id = std::exchange(id_, -1);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// Errors are returned, so HDF5 must not print them.
void Quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

bool WriteTensor(hid_t file, const std::string& name, const Shape& shape,
                 std::span<const float> values) {
  const std::vector<hsize_t> sizes(shape.begin(), shape.end());
  const Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                     H5Sclose);
  if (!space.valid()) return false;
  Handle set(H5Dcreate2(file, name.c_str(), H5T_IEEE_F32LE, space.get(), H5P_DEFAULT, H5P_DEFAULT,
                        H5P_DEFAULT),
             H5Dclose);
  return set.valid() &&
         H5Dwrite(set.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0 &&
         set.Close();
}

}  // namespace

std::string InputName(size_t index) { return fmt::format("input{}", index); }

Status WriteBatch(const std::filesystem::path& path, std::span<const HostTensor> inputs,
                  int64_t rows) {
  Quiet();
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) return Failed("{}: cannot write an HDF5 file", path.string());
  for (size_t i = 0; i < inputs.size(); ++i) {
    Shape shape = inputs[i].type.shape;
    Check(!shape.empty() && rows <= shape[0], "a batch has fewer samples than are to be written");
    shape[0] = rows;
    const auto count = static_cast<size_t>(ElementCount(shape));
    const std::vector<float> converted(inputs[i].i32.begin(), inputs[i].i32.end());
    const std::span<const float> values =
        inputs[i].type.dtype == DType::kF32 ? std::span(inputs[i].f32) : std::span(converted);
    if (!WriteTensor(file.get(), InputName(i), shape, values.first(count)))
      return Failed("{}: cannot write the input '{}': is the disk full?", path.string(),
                    inputs[i].name);
  }
  if (!file.Close()) return Failed("{}: cannot finish the file: is the disk full?", path.string());
  return Ok();
}

Status ReadNumbers(const std::filesystem::path& path, const std::string& name,
                   std::span<float> out) {
  Quiet();
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) return Failed("{}: caffe wrote no HDF5 file", path.string());
  const Handle set(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set.valid()) return Failed("{}: there is no data set '{}'", path.string(), name);
  const Handle space(H5Dget_space(set.get()), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (count != static_cast<hssize_t>(out.size()))
    return Failed("{}: has {} values, expected {}", path.string(), count, out.size());
  if (H5Dread(set.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) < 0)
    return Failed("{}: cannot read '{}'", path.string(), name);
  return Ok();
}

}  // namespace tench::caffe_worker
