// SPDX-License-Identifier: Apache-2.0
#pragma once
// NVIDIA's management library (NVML), loaded with dlopen: tench neither links it nor needs its
// header. Without the library or a driver, Open returns null and reports no error. TENCH_NVML names
// another library; an empty value disables it. Opening takes tens of milliseconds, so a process
// opens it once, not per run.
//
// Thread safety: none.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tench {

struct GpuDevice {
  std::string name;  // "NVIDIA A100-SXM4-40GB"
  std::string uuid;
  int64_t memory_bytes = 0;
};

// One reading of one device; a value that the device does not offer is nullopt.
struct GpuReading {
  // Share of the driver's last sampling period during which a kernel was running.
  std::optional<double> utilisation_percent;
  std::optional<double> power_w;
  std::optional<int64_t> memory_used_bytes;     // by all processes
  std::optional<int64_t> process_memory_bytes;  // by the given processes
  std::optional<int64_t> temperature_c;
};

class Nvml {
 public:
  static std::unique_ptr<Nvml> Open();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const std::vector<GpuDevice>& devices() const { return devices_; }
  const std::string& driver_version() const { return driver_version_; }
  // One reading per device, in the order of devices().
  std::vector<GpuReading> Read(std::span<const pid_t> processes = {}) const;

 private:
  struct Library;

  explicit Nvml(std::unique_ptr<Library> library);
  std::optional<int64_t> ProcessMemory(void* device, std::span<const pid_t> processes) const;

  std::unique_ptr<Library> library_;
  std::vector<void*> handles_;
  std::vector<GpuDevice> devices_;
  std::string driver_version_;
};

}  // namespace tench
