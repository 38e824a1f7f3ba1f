// SPDX-License-Identifier: Apache-2.0
#pragma once
// Batches as HDF5 files that Caffe's HDF5Data layer reads, and what its HDF5Output layer wrote.
// Numbers are f32 in the file, bit for bit; class numbers become f32 too, as everything in Caffe
// is. One thread at a time.

#include <filesystem>
#include <span>

#include "base/error.h"
#include "net/tensor.h"

namespace tench::caffe_worker {

// The data set of input number `index`: a slash in a layer's own name would mean a folder to HDF5.
std::string InputName(size_t index);

// The first `rows` samples of each tensor.
Status WriteBatch(const std::filesystem::path& path, std::span<const HostTensor> inputs,
                  int64_t rows);

// The data set `name`, which must have exactly that many numbers.
Status ReadNumbers(const std::filesystem::path& path, const std::string& name,
                   std::span<float> out);

}  // namespace tench::caffe_worker
