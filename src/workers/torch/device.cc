// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>

#include <filesystem>

#include "axis/device_name.h"

namespace tench::pytorch {
namespace {

constexpr const char* kDriverGpus = "/proc/driver/nvidia/gpus";

std::string FirstLine(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

Result<c10::Device> OpenCuda(const DeviceName& device) {
  const std::string name = ToString(device);
  if (const GpuSupport gpus = Gpus(); gpus.count == 0)
    return Unsupported("device '{}': {}", name, gpus.reason);
  // RTLD_GLOBAL and never closed: its operators register themselves for the life of the process.
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    return Unsupported("device '{}': PyTorch's CUDA library cannot be loaded: {}", name,
                       FirstLine(dlerror()));
  }
  const int64_t count =
      at::globalContext().hasCUDA() ? at::detail::getCUDAHooks().deviceCount() : 0;
  if (device.index >= count)
    return Unsupported("device '{}': PyTorch finds {} usable GPUs", name, count);
  // PyTorch allows TF32 in convolutions by default; that is not f32.
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setFloat32MatmulPrecision("highest");
  return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(device.index));
}

}  // namespace

// The driver lists one folder per GPU. PyTorch counts only with its CUDA library loaded.
GpuSupport Gpus() {
  GpuSupport gpus;
  gpus.reason = fmt::format("no CUDA device: {} lists no GPU", kDriverGpus);
  std::error_code error;
  for (std::filesystem::directory_iterator gpu(kDriverGpus, error), end; !error && gpu != end;
       gpu.increment(error))
    ++gpus.count;
  return gpus;
}

std::map<std::string, std::string> LibraryFacts() {
  return {{"onednn", FirstLine(at::get_mkldnn_version())},
          {"blas", FirstLine(at::get_mkl_version())},
          {"threading", FirstLine(at::get_openmp_version())},
          {"cpu_capability", at::get_cpu_capability()}};
}

Result<c10::Device> OpenDevice(const std::string& name, int64_t threads) {
  at::set_num_threads(static_cast<int>(threads));
  // No operators run concurrently, and the default inter-op pool has a thread per CPU. The pool's
  // size can be set once.
  if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);
  const DeviceName device = TENCH_TRY(ParseDevice(name).In("device"));
  if (device.is_gpu()) return OpenCuda(device);
  return c10::Device(c10::kCPU);
}

void SeedDropout(uint64_t seed) { at::manual_seed(seed); }

void Synchronize(c10::Device device) {
  if (device.is_cuda()) at::detail::getCUDAHooks().deviceSynchronize(device.index());
}

}  // namespace tench::pytorch
