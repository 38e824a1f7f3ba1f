// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes batches as HDF5 files for Caffe's HDF5Data layer, and reads the files of its HDF5Output
// layer. All values are f32, bit for bit; class indices become f32 too, as Caffe has no other type.
// Used by one thread at a time.

#include <filesystem>
#include <span>

#include "base/error.h"
#include "net/tensor.h"

namespace tench::caffe_worker {

// The data-set name of input `index`. A layer's name may contain a slash, which HDF5 reads as a
// group.
std::string InputName(size_t index);

// Writes the first `rows` samples of each tensor.
Status WriteBatch(const std::filesystem::path& path, std::span<const HostTensor> inputs,
                  int64_t rows);

// Reads the data set `name`, which must have exactly as many values.
Status ReadNumbers(const std::filesystem::path& path, const std::string& name,
                   std::span<float> out);

}  // namespace tench::caffe_worker
