// SPDX-License-Identifier: Apache-2.0
#include "machine/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace tench {
namespace {

// The part of NVML's ABI that is used, with the names of its manual.
using Code = int;
constexpr Code kSuccess = 0;
constexpr Code kInsufficientSize = 7;
constexpr unsigned kTemperatureOfGpu = 0;

struct Utilisation {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};
// nvmlProcessInfo_t; drivers before 445 have only the first two fields.
struct OldProcess {
  unsigned pid;
  unsigned long long used_bytes;
};
struct Process {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
constexpr unsigned long long kNotAvailable = ~0ull;

template <class P>
using ProcessesFunction = Code(void*, unsigned*, P*);

struct Closer {
  void operator()(void* library) const { dlclose(library); }
};

template <class F>
void Find(void* library, F*& function, const char* name, const char* older_name = nullptr) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  if (function == nullptr && older_name != nullptr)
    function = reinterpret_cast<F*>(dlsym(library, older_name));
}

// The device memory of the `wanted` processes; 0 if none of them uses the device.
template <class P>
std::optional<int64_t> SumProcesses(ProcessesFunction<P>* list, void* device,
                                    std::span<const pid_t> wanted) {
  std::vector<P> found(64);
  unsigned count = static_cast<unsigned>(found.size());
  Code code = list(device, &count, found.data());
  if (code == kInsufficientSize) {
    // Leaves room for processes that start between the two calls.
    count += 64;
    found.resize(count);
    code = list(device, &count, found.data());
  }
  if (code != kSuccess) return {};
  found.resize(std::min<size_t>(count, found.size()));
  int64_t sum = 0;
  for (const P& process : found) {
    if (std::find(wanted.begin(), wanted.end(), static_cast<pid_t>(process.pid)) == wanted.end())
      continue;
    if (process.used_bytes == kNotAvailable) return {};
    sum += static_cast<int64_t>(process.used_bytes);
  }
  return sum;
}

}  // namespace

struct Nvml::Library {
  std::unique_ptr<void, Closer> handle;
  Code (*init)() = nullptr;
  Code (*shutdown)() = nullptr;
  Code (*driver_version)(char*, unsigned) = nullptr;
  Code (*device_count)(unsigned*) = nullptr;
  Code (*device_handle)(unsigned, void**) = nullptr;
  Code (*name)(void*, char*, unsigned) = nullptr;
  Code (*uuid)(void*, char*, unsigned) = nullptr;
  Code (*memory)(void*, Memory*) = nullptr;
  Code (*utilisation)(void*, Utilisation*) = nullptr;
  Code (*power_mw)(void*, unsigned*) = nullptr;
  Code (*temperature)(void*, unsigned, unsigned*) = nullptr;
  ProcessesFunction<Process>* processes = nullptr;
  ProcessesFunction<OldProcess>* old_processes = nullptr;

  explicit Library(const char* file) : handle(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    void* const library = handle.get();
    if (library == nullptr) return;
    Find(library, init, "nvmlInit_v2", "nvmlInit");
    Find(library, shutdown, "nvmlShutdown");
    Find(library, driver_version, "nvmlSystemGetDriverVersion");
    Find(library, device_count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount");
    Find(library, device_handle, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex");
    Find(library, name, "nvmlDeviceGetName");
    Find(library, uuid, "nvmlDeviceGetUUID");
    Find(library, memory, "nvmlDeviceGetMemoryInfo");
    Find(library, utilisation, "nvmlDeviceGetUtilizationRates");
    Find(library, power_mw, "nvmlDeviceGetPowerUsage");
    Find(library, temperature, "nvmlDeviceGetTemperature");
    Find(library, processes, "nvmlDeviceGetComputeRunningProcesses_v3",
         "nvmlDeviceGetComputeRunningProcesses_v2");
    Find(library, old_processes, "nvmlDeviceGetComputeRunningProcesses");
  }

  bool usable() const { return init && shutdown && device_count && device_handle && name; }
};

std::unique_ptr<Nvml> Nvml::Open() {
  const char* const other = std::getenv("TENCH_NVML");
  const char* const file = other != nullptr ? other : "libnvidia-ml.so.1";
  if (*file == '\0') return nullptr;
  auto library = std::make_unique<Library>(file);
  if (!library->usable() || library->init() != kSuccess) return nullptr;
  return std::unique_ptr<Nvml>(new Nvml(std::move(library)));
}

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {
  const auto text = [](auto* function, auto... before) {
    std::array<char, 128> buffer{};
    const unsigned size = static_cast<unsigned>(buffer.size());
    if (function == nullptr || function(before..., buffer.data(), size) != kSuccess)
      return std::string();
    buffer.back() = '\0';
    return std::string(buffer.data());
  };
  driver_version_ = text(library_->driver_version);
  unsigned count = 0;
  if (library_->device_count(&count) != kSuccess) return;
  for (unsigned i = 0; i < count; ++i) {
    void* handle = nullptr;
    if (library_->device_handle(i, &handle) != kSuccess)
      continue;  // a lost device, or one without permission
    GpuDevice device{text(library_->name, handle), text(library_->uuid, handle)};
    Memory memory{};
    const bool known = library_->memory && library_->memory(handle, &memory) == kSuccess;
    if (known) device.memory_bytes = static_cast<int64_t>(memory.total);
    handles_.push_back(handle);
    devices_.push_back(std::move(device));
  }
}

Nvml::~Nvml() { library_->shutdown(); }

std::vector<GpuReading> Nvml::Read(std::span<const pid_t> processes) const {
  std::vector<GpuReading> readings;
  for (void* const device : handles_) {
    GpuReading& reading = readings.emplace_back();
    Utilisation utilisation{};
    Memory memory{};
    unsigned power_mw = 0, temperature = 0;
    // An older library may lack the function: then there is no value.
    const auto known = [](auto* function, auto... arguments) {
      return function != nullptr && function(arguments...) == kSuccess;
    };
    if (known(library_->utilisation, device, &utilisation))
      reading.utilisation_percent = utilisation.gpu;
    if (known(library_->memory, device, &memory))
      reading.memory_used_bytes = static_cast<int64_t>(memory.used);
    if (known(library_->power_mw, device, &power_mw)) reading.power_w = power_mw * 1e-3;
    if (known(library_->temperature, device, kTemperatureOfGpu, &temperature))
      reading.temperature_c = temperature;
    if (!processes.empty()) reading.process_memory_bytes = ProcessMemory(device, processes);
  }
  return readings;
}

std::optional<int64_t> Nvml::ProcessMemory(void* device, std::span<const pid_t> processes) const {
  if (library_->processes) return SumProcesses(library_->processes, device, processes);
  if (library_->old_processes) return SumProcesses(library_->old_processes, device, processes);
  return {};
}

}  // namespace tench
