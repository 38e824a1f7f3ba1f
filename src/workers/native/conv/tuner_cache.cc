// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/tuner_cache.h"

#include <dnnl.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace tench::native {
namespace {

constexpr int64_t kVersion = 3;  // of the file format and of the measuring method
constexpr size_t kMaxFileBytes = 16 << 20;

std::string CpuModel() {
  const Result<std::string> text = ReadFile("/proc/cpuinfo");
  if (!text) return "unknown CPU";
  for (const std::string& line : Split(*text, '\n')) {
    if (line.starts_with("model name")) return std::string(Trim(line.substr(line.find(':') + 1)));
  }
  return "unknown CPU";
}

}  // namespace

TunerCache::TunerCache(std::filesystem::path folder, std::string machine)
    : machine_(std::move(machine)) {
  if (folder.empty()) return;
  path_ = folder / fmt::format("native-{}.json", Hex64(Hash64(machine_)));
  choices_ = Read();
}

std::map<std::string, std::string> TunerCache::Read() const {
  const Result<std::string> text = ReadFile(path_, kMaxFileBytes);
  if (!text) return {};
  const Result<Json> json = ParseJson(*text, path_.string());
  if (!json || !json->is_object()) return {};
  Fields fields(*json, "");
  const int64_t version = fields.Integer("version", 1, 1'000'000);
  const std::string machine = fields.String("machine");
  std::map<std::string, std::string> choices = fields.StringMap("choices");
  if (!fields.Finish() || version != kVersion || machine != machine_) return {};
  return choices;
}

std::optional<std::string> TunerCache::Find(const std::string& key) const {
  const auto found = choices_.find(key);
  if (found == choices_.end()) return std::nullopt;
  return found->second;
}

void TunerCache::Remember(const std::string& key, const std::string& id) {
  choices_[key] = id;
  learnt_[key] = id;
}

Status TunerCache::Save() {
  if (learnt_.empty() || path_.empty()) return Ok();
  std::map<std::string, std::string> all = Read();
  for (const auto& [key, id] : learnt_) all[key] = id;
  Json json;
  json["version"] = kVersion;
  json["machine"] = machine_;
  json["choices"] = all;
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  TENCH_TRY(WriteFileAtomically(path_, PrintJson(json, 1) + "\n"));
  learnt_.clear();
  return Ok();
}

// Raised when candidates are added, renamed or become faster: older selections are measured again.
constexpr int kKernelGeneration = 5;

std::string MachineName() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}, oneDNN {}.{}.{}, kernels {}", CpuModel(), version->major, version->minor,
                     version->patch, kKernelGeneration);
}

}  // namespace tench::native
