// SPDX-License-Identifier: Apache-2.0
// A fake NVML for nvml_test: three devices, of which the second is lost. Readings follow a script
// that restarts with each initialization. TENCH_NVML_STANDIN=no-driver makes the initialization
// fail, as with an installed library but no driver.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kInsufficientSize = 7,
              kNoDriver = 9, kLost = 15;

struct Device {
  int number;
};
Device devices[3] = {{0}, {1}, {2}};
unsigned looks = 0;  // calls for the first device's utilization: the position in the script

int Copy(const char* text, char* out, unsigned size) {
  if (std::strlen(text) >= size) return kInsufficientSize;
  std::strcpy(out, text);
  return kSuccess;
}

int Number(void* device) { return static_cast<Device*>(device)->number; }

}  // namespace

extern "C" {

struct Utilization {
  unsigned gpu, memory;
};
struct MemoryInfo {
  unsigned long long total, free, used;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

int nvmlInit_v2() {
  const char* mode = std::getenv("TENCH_NVML_STANDIN");
  if (mode != nullptr && std::strcmp(mode, "no-driver") == 0) return kNoDriver;
  looks = 0;
  return kSuccess;
}

int nvmlShutdown() { return kSuccess; }

int nvmlSystemGetDriverVersion(char* out, unsigned size) { return Copy("535.161.08", out, size); }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= 3) return kInvalidArgument;
  if (index == 1) return kLost;
  *device = &devices[index];
  return kSuccess;
}

int nvmlDeviceGetName(void* device, char* out, unsigned size) {
  return Copy(Number(device) == 0 ? "Stand-in A100" : "Stand-in GT 710", out, size);
}

int nvmlDeviceGetUUID(void* device, char* out, unsigned size) {
  return Copy(Number(device) == 0 ? "GPU-0000" : "GPU-0002", out, size);
}

int nvmlDeviceGetMemoryInfo(void* device, MemoryInfo* memory) {
  const unsigned long long total = Number(device) == 0 ? 40ull << 30 : 2ull << 30;
  const unsigned long long used = Number(device) == 0 ? (1ull + looks) << 30 : 0;
  *memory = {total, total - used, used};
  return kSuccess;
}

int nvmlDeviceGetUtilizationRates(void* device, Utilization* utilization) {
  if (Number(device) != 0) return kNotSupported;
  const unsigned script[] = {0, 50, 100};
  *utilization = {script[looks++ % 3], 1};
  return kSuccess;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (Number(device) != 0) return kNotSupported;
  *milliwatts = 100'000 * looks;
  return kSuccess;
}

int nvmlDeviceGetTemperature(void* device, unsigned, unsigned* celsius) {
  *celsius = Number(device) == 0 ? 61 : 35;
  return kSuccess;
}

// More processes than the caller's first buffer holds: 99 others, then the caller.
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* infos) {
  if (Number(device) != 0) return kNotSupported;
  const unsigned room = *count;
  *count = 100;
  if (room < 100) return kInsufficientSize;
  for (unsigned i = 0; i < 99; ++i) infos[i] = {1'000'000'000 + i, 1ull << 20, 0, 0};
  infos[99] = {static_cast<unsigned>(getpid()), 3ull << 30, 0, 0};
  return kSuccess;
}

}  // extern "C"
