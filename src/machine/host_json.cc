// SPDX-License-Identifier: Apache-2.0
// Unknown facts have no key, so that a reader can distinguish "unknown" from an empty value.
#include <optional>
#include <string>

#include "machine/affinity.h"
#include "machine/host.h"

namespace tench {
namespace {

void Put(Json& json, const char* key, const std::string& value) {
  if (!value.empty()) json[key] = value;
}

template <class T>
void Put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

void PutPositive(Json& json, const char* key, int64_t value) {
  if (value > 0) json[key] = value;
}

Json CpuToJson(const CpuFacts& cpu) {
  Json json = Json::object();
  Put(json, "model", cpu.model);
  Put(json, "vendor", cpu.vendor);
  Put(json, "architecture", cpu.architecture);
  json["family"] = cpu.family;
  json["model_number"] = cpu.model_number;
  json["stepping"] = cpu.stepping;
  Put(json, "microcode", cpu.microcode);
  json["logical"] = cpu.logical;
  json["cores"] = cpu.cores;
  json["sockets"] = cpu.sockets;
  PutPositive(json, "numa_nodes", cpu.numa_nodes);
  json["flags"] = cpu.flags;
  Json& caches = json["caches"] = Json::array();
  for (const CpuCache& cache : cpu.caches) {
    Json& row = caches.emplace_back(
        Json{{"level", cache.level}, {"type", cache.type}, {"bytes", cache.bytes}});
    row["shared_by"] = cache.shared_by;
  }
  PutPositive(json, "max_khz", cpu.max_khz);
  Put(json, "governor", cpu.governor);
  Put(json, "turbo", cpu.turbo);
  Put(json, "smt", cpu.smt);
  return json;
}

Json CgroupToJson(const CgroupLimits& cgroup) {
  Json json = {{"version", cgroup.version}};
  Put(json, "memory_bytes", cgroup.memory_bytes);
  Put(json, "swap_bytes", cgroup.swap_bytes);
  Put(json, "cpus", cgroup.cpus);
  return json;
}

}  // namespace

Json HostToJson(const HostFacts& host) {
  Json json = {{"machine", host.machine}, {"machine_id", host.machine_id}};
  json["cpu"] = CpuToJson(host.cpu);
  json["allowed_cpus"] = PrintCpuList(host.allowed_cpus);
  json["cgroup"] = CgroupToJson(host.cgroup);
  json["memory_bytes"] = host.memory_bytes;
  json["available_bytes"] = host.available_bytes;
  json["swap_bytes"] = host.swap_bytes;
  json["free_swap_bytes"] = host.free_swap_bytes;
  if (host.swappiness >= 0) json["swappiness"] = host.swappiness;
  Put(json, "kernel", host.kernel);
  Put(json, "distribution", host.distribution);
  Put(json, "virtualisation", host.virtualisation);
  Put(json, "container", host.container);
  Put(json, "huge_pages", host.huge_pages);
  Put(json, "clock_source", host.clock_source);
  json["load"] = host.load;
  Json& gpus = json["gpus"] = Json::array();
  for (const GpuDevice& gpu : host.gpus) {
    gpus.push_back({{"name", gpu.name}, {"uuid", gpu.uuid}, {"memory_bytes", gpu.memory_bytes}});
  }
  Put(json, "gpu_driver", host.gpu_driver);
  return json;
}

}  // namespace tench
