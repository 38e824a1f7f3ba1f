// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/array.h"

namespace tench::mxnet {

Result<Array> Array::Create(const Library& library, const Shape& shape, Device device) {
  constexpr int kFloat32 = 0, kAllocateNow = 0;
  const std::vector<uint32_t> sizes(shape.begin(), shape.end());
  void* handle = nullptr;
  TENCH_TRY(library.Ask(
      library->MXNDArrayCreateEx(sizes.data(), static_cast<uint32_t>(sizes.size()), device.type,
                                 device.id, kAllocateNow, kFloat32, &handle),
      "array"));
  return Array(library, handle);
}

Result<Array> Array::Slice(int64_t begin, int64_t end) const {
  void* view = nullptr;
  TENCH_TRY(library_->Ask((*library_)->MXNDArraySlice(get(), static_cast<uint32_t>(begin),
                                                      static_cast<uint32_t>(end), &view),
                          "view"));
  return Array(*library_, view);
}

Status Array::Read(std::span<float> into) const {
  return library_->Ask((*library_)->MXNDArraySyncCopyToCPU(get(), into.data(), into.size()),
                       "reading an array");
}

Status Array::Write(std::span<const float> values) {
  return library_->Ask((*library_)->MXNDArraySyncCopyFromCPU(get(), values.data(), values.size()),
                       "writing an array");
}

}  // namespace tench::mxnet
