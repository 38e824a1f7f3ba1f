// SPDX-License-Identifier: Apache-2.0
#pragma once
// One large zeroed memory mapping, page-aligned. It is advised to use transparent huge pages if the
// process asks glibc's malloc for them (GLIBC_TUNABLES=glibc.malloc.hugetlb=1).
//
// Ownership: move-only; the destructor unmaps. A page becomes resident on its first write.
// Thread safety: none beyond that of a value; the mapped bytes may be shared by threads.

#include <cstdint>
#include <utility>

#include "base/error.h"

namespace tench::native {

class AlignedBlock {
 public:
  static Result<AlignedBlock> Make(int64_t bytes);

  AlignedBlock() = default;
  AlignedBlock(AlignedBlock&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  AlignedBlock& operator=(AlignedBlock&& other) noexcept;
  ~AlignedBlock();

  char* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

// Bytes that the machine could still give this process: MemAvailable, or less if the control group
// (cgroup v2) has less left. The largest int64_t if neither is known.
int64_t AvailableBytes();

}  // namespace tench::native
