// SPDX-License-Identifier: Apache-2.0
// A fake of an old driver's NVML for nvml_test: function names without a version, the short process
// struct, and no power reading.
#include <unistd.h>

#include <cstring>

extern "C" {

struct OldProcessInfo {
  unsigned pid;
  unsigned long long used;
};

int nvmlInit() { return 0; }
int nvmlShutdown() { return 0; }

int nvmlDeviceGetCount(unsigned* count) {
  *count = 1;
  return 0;
}

int nvmlDeviceGetHandleByIndex(unsigned, void** device) {
  static int only;
  *device = &only;
  return 0;
}

int nvmlDeviceGetName(void*, char* out, unsigned) {
  std::strcpy(out, "Stand-in GTX 980");
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses(void*, unsigned* count, OldProcessInfo* infos) {
  *count = 2;
  infos[0] = {1, 5};
  infos[1] = {static_cast<unsigned>(getpid()), 7};
  return 0;
}

}  // extern "C"
