// SPDX-License-Identifier: Apache-2.0
// A step after warm-up allocates nothing: the test counts every operator new of the process by its
// caller. oneDNN may allocate small argument maps, but no scratch memory, which is in the arena.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "worker/adapter_run.h"
#include "workers/native/adapter.h"

namespace {

std::atomic<bool> counting = false;
std::atomic<int64_t> our_allocations = 0, largest_of_onednn = 0;

void Count(size_t bytes, const void* caller) {
  if (!counting) return;
  Dl_info info;
  const bool onednn = dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
                      std::strstr(info.dli_fname, "libdnnl") != nullptr;
  if (!onednn) ++our_allocations;
  if (onednn && static_cast<int64_t>(bytes) > largest_of_onednn)
    largest_of_onednn = static_cast<int64_t>(bytes);
}

}  // namespace

// A false positive: both operators below use malloc and free.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(size_t bytes) {
  Count(bytes, __builtin_return_address(0));
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// std::stable_sort calls this overload; the library's would not match the deletes below.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  Count(bytes, __builtin_return_address(0));
  return std::malloc(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace tench::native::allocation_test {
namespace {

TEST(AllocationTest, ASteadyStepAllocatesNothing) {
  for (const auto& [name, data] :
       std::vector<std::pair<std::string, std::string>>{{"lenet", "mnist"},
                                                        {"autoencoder", "mnist"},
                                                        {"resnet18", "cifar10"},
                                                        {"alexnet", "cifar10"},
                                                        {"lstm", "imdb"}}) {
    const TypedGraph graph = *Infer(*LoadNetwork(name, data, name == "lstm" ? 10 : 0), 2);
    NativeSettings settings;
    const std::unique_ptr<Adapter> adapter = MakeNativeAdapter(settings);
    BuildOptions options;
    options.threads = 2;
    options.options["convolutions"] = "blocked";
    ASSERT_TRUE(adapter->Build(graph, options).ok());
    std::vector<HostTensor> batch;
    MakeBatch(graph, {1, 2, 0}, 0, batch);
    ASSERT_TRUE(adapter->SetBatch(batch).ok());
    for (int step = 0; step < 2; ++step) ASSERT_TRUE(adapter->Step(Phase::kTrain).ok());
    our_allocations = largest_of_onednn = 0;
    counting = true;
    for (int step = 0; step < 3; ++step) (void)adapter->Step(Phase::kTrain);
    counting = false;
    EXPECT_EQ(our_allocations, 0) << name;
    EXPECT_LT(largest_of_onednn, 4096) << name;
  }
}

}  // namespace
}  // namespace tench::native::allocation_test
