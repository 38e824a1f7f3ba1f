// SPDX-License-Identifier: Apache-2.0
#include "worker/framework_error.h"

#include <gtest/gtest.h>

namespace tench::framework_error_test {
namespace {

Error Thrown(const std::function<void()>& work) {
  return Guarded([&]() -> Status {
           work();
           return Ok();
         })
      .error();
}

TEST(FrameworkErrorTest, DropsTheStackTraceOnEitherSideOfTheMessage) {
  EXPECT_EQ(ErrorOf("shapes differ\nException raised from add at a.cpp:3").message,
            "shapes differ");
  EXPECT_EQ(
      ErrorOf("Traceback (most recent call last):\n  [bt] (1) lib.so\n  File \"a.cc\", line 2\n"
              "MXNetError: shapes differ\n  [bt] (2) lib.so")
          .message,
      "MXNetError: shapes differ");
  EXPECT_EQ(ErrorOf("").message, "no message");
  EXPECT_EQ(ErrorOf("shapes differ").kind, ErrorKind::kFailed);
}

TEST(FrameworkErrorTest, AFailedAllocationIsOutOfMemory) {
  for (const std::string message :
       {"[enforce fail at alloc_cpu.cpp:1] . DefaultCPUAllocator: not enough memory",
        "CUDA out of memory. Tried 2 GiB", "std::bad_alloc",
        "cpu_device_storage: Failed to allocate"})
    EXPECT_EQ(ErrorOf(message).kind, ErrorKind::kOutOfMemory) << message;
}

TEST(FrameworkErrorTest, AnExceptionEndsAsAnError) {
  EXPECT_EQ(Thrown([] { throw std::bad_alloc(); }).kind, ErrorKind::kOutOfMemory);
  EXPECT_EQ(Thrown([] { throw std::length_error("vector"); }).kind, ErrorKind::kOutOfMemory);
  const Error failed = Thrown([] { throw std::runtime_error("no such operator\nat line 3"); });
  EXPECT_EQ(failed.message, "no such operator");
  EXPECT_EQ(failed.kind, ErrorKind::kFailed);
  EXPECT_EQ(Thrown([] { throw 7; }).message, "an exception of unknown type");
}

TEST(FrameworkErrorTest, AValuePassesThroughUntouched) {
  EXPECT_EQ(*Guarded([]() -> Result<int> { return 3; }), 3);
  EXPECT_EQ(Guarded([]() -> Result<int> { return Unsupported("no lrn"); }).error().kind,
            ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace tench::framework_error_test
