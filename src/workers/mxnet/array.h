// SPDX-License-Identifier: Apache-2.0
#pragma once
// An f32 NDArray, whose memory MXNet's engine owns. Read and Write wait for the pending work on the
// array, and use the logical order whatever layout oneDNN has given it. Ownership: frees its
// handle; the library must outlive it.

#include <span>
#include <vector>

#include "net/tensor.h"
#include "workers/mxnet/library.h"

namespace tench::mxnet {

// MXNet's numbers for a kind of device.
struct Device {
  int type = 1, id = 0;  // 1 = cpu, 2 = gpu
};

class Array {
 public:
  Array() = default;
  // Takes over a handle that the C API gave.
  Array(const Library& library, void* handle)
      : library_(&library), handle_(handle, {library->MXNDArrayFree}) {}
  static Result<Array> Create(const Library& library, const Shape& shape, Device device);

  // A view of elements along dimension 0, of the same memory.
  Result<Array> Slice(int64_t begin, int64_t end) const;
  Status Read(std::span<float> into) const;
  Status Write(std::span<const float> values);

  void* get() const { return handle_.get(); }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  const Library* library_ = nullptr;
  Handle handle_;
};

}  // namespace tench::mxnet
