// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>

#include <filesystem>

#include "base/text.h"

namespace tench::pytorch {
namespace {

constexpr const char* kDriverGpus = "/proc/driver/nvidia/gpus";
constexpr std::string_view kCudaPrefix = "cuda:";

// One folder per GPU. PyTorch could count them too, but only with its CUDA library loaded.
int64_t GpuCount() {
  std::error_code error;
  int64_t count = 0;
  for (std::filesystem::directory_iterator gpu(kDriverGpus, error), end; !error && gpu != end;
       gpu.increment(error))
    ++count;
  return count;
}

std::string FirstLine(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

Result<c10::Device> OpenCuda(const std::string& name) {
  const int64_t index = TENCH_TRY(ParseInteger(name.substr(kCudaPrefix.size())).In("device"));
  // Global, and never closed: its operators register themselves for the rest of the process.
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    return Unsupported("device '{}': PyTorch's CUDA library cannot be loaded: {}", name,
                       FirstLine(dlerror()));
  }
  const int64_t count =
      at::globalContext().hasCUDA() ? at::detail::getCUDAHooks().deviceCount() : 0;
  if (index < 0 || index >= count)
    return Unsupported("device '{}': PyTorch finds {} usable GPUs", name, count);
  // PyTorch lets convolutions round to TF32 unless told otherwise; that is not f32.
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setFloat32MatmulPrecision("highest");
  return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
}

}  // namespace

std::vector<std::string> DeviceNames() {
  std::vector<std::string> names = {"cpu"};
  for (int64_t gpu = 0, count = GpuCount(); gpu < count; ++gpu)
    names.push_back(fmt::format("{}{}", kCudaPrefix, gpu));
  return names;
}

std::map<std::string, std::string> LibraryFacts() {
  const int64_t gpus = GpuCount();
  return {{"onednn", FirstLine(at::get_mkldnn_version())},
          {"blas", FirstLine(at::get_mkl_version())},
          {"threading", FirstLine(at::get_openmp_version())},
          {"cpu_capability", at::get_cpu_capability()},
          {"cuda", gpus > 0 ? fmt::format("{} GPUs, opened when asked for", gpus)
                            : fmt::format("no GPU in {}", kDriverGpus)}};
}

Result<c10::Device> OpenDevice(const std::string& name, int64_t threads) {
  at::set_num_threads(static_cast<int>(threads));
  // Nothing here runs operators side by side, and PyTorch's pool for that would be as large as the
  // machine. It can be set only once.
  if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);
  if (name == "cpu") return c10::Device(c10::kCPU);
  if (name.starts_with(kCudaPrefix)) return OpenCuda(name);
  return Unsupported("device '{}': PyTorch runs here on cpu and cuda:N", name);
}

void SeedDropout(uint64_t seed) { at::manual_seed(seed); }

void Synchronize(c10::Device device) {
  if (device.is_cuda()) at::detail::getCUDAHooks().deviceSynchronize(device.index());
}

}  // namespace tench::pytorch
