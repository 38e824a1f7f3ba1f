// SPDX-License-Identifier: Apache-2.0
#pragma once
// One large piece of zeroed memory from the system, aligned to a page and advised to use huge
// pages, so that a step's walk through hundreds of megabytes does not live in the page tables. Owns
// its pages; pages that are never touched are never resident.

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

// What the machine could still give this process: free and reclaimable memory, less if a control
// group allows less.
int64_t AvailableBytes();

}  // namespace tench::native
