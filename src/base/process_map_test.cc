// SPDX-License-Identifier: Apache-2.0
#include "base/process_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::process_map_test {
namespace {

TEST(ProcessMapTest, ListsEachLibraryOnceWithoutTheRuntimeThatEveryProcessHas) {
  const std::string maps =
      "5581-5582 r--p 00000000 fe:01 1 /usr/bin/tench-worker-x\n"
      "7f01-7f02 r--p 00000000 fe:01 2 /usr/lib/libopenblasp-r0.3.21.so\n"
      "7f02-7f03 r-xp 00001000 fe:01 2 /usr/lib/libopenblasp-r0.3.21.so\n"
      "7f03-7f04 r-xp 00001000 fe:01 3 /usr/lib/x86_64-linux-gnu/libc.so.6\n"
      "7f04-7f05 r-xp 00001000 fe:01 4 /usr/lib/x86_64-linux-gnu/libcblas.so.3\n"
      "7f05-7f06 r-xp 00001000 fe:01 5 /opt/my libs/libdnnl.so.3.1 (deleted)\n"
      "7f06-7f07 rw-p 00000000 00:00 0 [heap]\n"
      "7f07-7f08 r--s 00000000 fe:01 6 /usr/lib/locale/C.utf8/LC_CTYPE\n"
      "7f08-7f09 r-xp 00001000 fe:01 7 /usr/lib/x86_64-linux-gnu/libmkl_core.so.2\n"
      "7f09-7f0a r-xp 00001000 fe:01 8 /lib64/ld-linux-x86-64.so.2\n";
  EXPECT_THAT(LibrariesIn(maps),
              testing::ElementsAre(
                  "/usr/lib/libopenblasp-r0.3.21.so", "/usr/lib/x86_64-linux-gnu/libcblas.so.3",
                  "/opt/my libs/libdnnl.so.3.1", "/usr/lib/x86_64-linux-gnu/libmkl_core.so.2"));
}

TEST(ProcessMapTest, OnlyTheKernelsMarkIsRemovedFromAPath) {
  EXPECT_EQ(WithoutDeletedMark("/usr/bin/caffe (deleted)"), "/usr/bin/caffe");
  EXPECT_EQ(WithoutDeletedMark("/usr/bin/caffe"), "/usr/bin/caffe");
}

}  // namespace
}  // namespace tench::process_map_test
