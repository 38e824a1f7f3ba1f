// SPDX-License-Identifier: Apache-2.0
#pragma once
// A process's claim on a study (Store::ClaimStudy), for the lifetime of an object. The store must
// outlive it. Thread safety: none.

#include <cstdint>
#include <utility>

#include "base/error.h"
#include "store/store.h"

namespace tench {

// Holds the claim on a study and releases it on destruction.
class StudyClaim {
 public:
  static Result<StudyClaim> Take(Store& store, int64_t study) {
    TENCH_TRY(store.ClaimStudy(study));
    return StudyClaim(store, study);
  }
  StudyClaim(StudyClaim&& other) noexcept
      : store_(std::exchange(other.store_, nullptr)), study_(other.study_) {}
  StudyClaim& operator=(StudyClaim&&) = delete;
  ~StudyClaim() {
    // A claim that is not released expires with this process.
    if (store_) (void)store_->ReleaseStudy(study_);
  }

 private:
  StudyClaim(Store& store, int64_t study) : store_(&store), study_(study) {}
  Store* store_;
  int64_t study_;
};

}  // namespace tench
