// SPDX-License-Identifier: Apache-2.0
#include "run/session/worker_catalog.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "protocol/command_line.h"
#include "run/session/program_output.h"
#include "run/session/worker_build.h"
#include "run/session/worker_launch.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "tench-worker-";
constexpr std::string_view kManifestSuffix = ".json";
constexpr size_t kMaxManifestBytes = 64 << 10;
constexpr size_t kMaxDescriptionBytes = 1 << 20;
constexpr int64_t kDescribeDeadlineNs = 20'000'000'000;

bool IsExecutable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

// An element of TENCH_WORKER_PATH that is one executable under a name: "NAME=FILE".
std::optional<WorkerEntry> NamedExecutable(const fs::path& element) {
  const std::string text = element.string();
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || text.find('/') < equals) return std::nullopt;
  WorkerEntry entry{text.substr(0, equals), {}, {}, {}, {}, false};
  const fs::path file = text.substr(equals + 1);
  std::error_code error;
  if (IsExecutable(file)) {
    entry.executable = fs::absolute(file, error);
  } else {
    entry.needs = fmt::format("the executable {}", Printable(file.string()));
  }
  return entry;
}

// If the manifest cannot be read, its error takes the place of `needs`.
void ReadManifest(const fs::path& path, WorkerEntry& entry) {
  const auto read = [&]() -> Status {
    const std::string text = TENCH_TRY(ReadFile(path, kMaxManifestBytes));
    const Json json = TENCH_TRY(ParseJson(text, path.string()));
    Fields fields(json, path.string());
    fields.AllowUnknown();
    entry.title = fields.String("title", "");
    entry.needs = fields.String("needs", "");
    entry.install = fields.String("install", "");
    return fields.Finish();
  };
  if (const Status status = read(); !status) entry.needs = status.error().message;
}

std::vector<fs::path> FoldersOfEnvironment() {
  std::vector<fs::path> folders;
  const auto add = [&](const char* variable) {
    const char* list = std::getenv(variable);
    if (!list) return;
    for (const auto& folder : Split(list, ':')) {
      if (!folder.empty()) folders.emplace_back(folder);
    }
  };
  add("TENCH_WORKER_PATH");
  folders.push_back(ExecutableFolder());
  folders.push_back(ExecutableFolder().parent_path() / "share" / "tench" / "workers");
  add("PATH");
  return folders;
}

// Frameworks may print while they load, so the description is the last line that looks like an
// object.
std::string_view LastObject(std::string_view text) {
  const std::string_view all = Trim(text);
  if (all.starts_with('{')) return all;
  const size_t at = all.rfind("\n{");
  return at == std::string_view::npos ? all : all.substr(at + 1);
}

Result<Description> AskForDescription(const WorkerEntry& entry, const std::string& version) {
  WorkerLaunch launch = TENCH_TRY(DescribeLaunch(entry, version));
  const std::string command = fmt::format("{} {}", entry.executable.string(), kDescribeFlag);
  const ProgramOutput output =
      TENCH_TRY(OutputOf(std::move(launch), kDescribeDeadlineNs, kMaxDescriptionBytes));
  if (output.late)
    return Failed("{} did not answer {} within {}", entry.executable.string(), kDescribeFlag,
                  HumanNs(kDescribeDeadlineNs));
  if (output.too_long) return Failed("{}: the answer is too long", command);
  if (!output.exit.clean())
    return Failed("{} ended with {}{}", command, output.exit.ToString(),
                  output.last_line.empty() ? "" : ": " + output.last_line);
  return ParseDescription(LastObject(output.text), command);
}

}  // namespace

WorkerName WorkerName::Of(const std::string& text) {
  const size_t at = text.find('@');
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + 1)};
}

std::string WorkerEntry::NotInstalled() const {
  std::string text = fmt::format("the worker '{}' is not installed", name);
  if (!needs.empty()) text += fmt::format("; it needs {}", needs);
  if (!install.empty()) text += fmt::format("; to install: {}", install);
  return text;
}

bool IsVersion(const std::string& wanted, const std::string& installed) {
  if (!installed.starts_with(wanted)) return false;
  return wanted.empty() || installed.size() == wanted.size() ||
         std::string_view(".+-").find(installed[wanted.size()]) != std::string_view::npos;
}

WorkerCatalog WorkerCatalog::Discover() { return Discover(FoldersOfEnvironment()); }

WorkerCatalog WorkerCatalog::Discover(const std::vector<fs::path>& folders) {
  std::map<std::string, WorkerEntry> found;
  std::map<std::string, fs::path> manifests;
  for (const auto& folder : folders) {
    if (std::optional<WorkerEntry> named = NamedExecutable(folder)) {
      found.emplace(named->name, std::move(*named));
      continue;
    }
    std::error_code error;
    for (const auto& file :
         fs::directory_iterator(folder, fs::directory_options::skip_permission_denied, error)) {
      const std::string file_name = file.path().filename().string();
      if (!file_name.starts_with(kPrefix)) continue;
      std::string name = file_name.substr(kPrefix.size());
      const bool manifest = name.ends_with(kManifestSuffix);
      if (manifest) name.resize(name.size() - kManifestSuffix.size());
      if (name.empty() || name.find('@') != std::string::npos) continue;
      if (manifest) {
        manifests.emplace(name, file.path());
      } else if (IsExecutable(file.path())) {
        found.emplace(name, WorkerEntry{name, fs::absolute(file.path(), error), {}, {}, {}, false});
      }
    }
  }
  for (const auto& [name, path] : manifests) {
    WorkerEntry& entry = found[name];
    entry.name = name;
    ReadManifest(path, entry);
  }
  WorkerCatalog catalog;
  for (auto& [name, entry] : found) {
    std::error_code error;
    const fs::path share = entry.executable.parent_path().parent_path() / "share" / "tench";
    entry.python = fs::exists(share / "python-workers" / (name + ".py"), error);
    catalog.entries_.push_back(std::move(entry));
  }
  return catalog;
}

std::vector<std::string> WorkerCatalog::names() const {
  std::vector<std::string> names;
  for (const auto& entry : entries_) names.push_back(entry.name);
  return names;
}

Result<const WorkerEntry*> WorkerCatalog::Find(const std::string& name) const {
  for (const auto& entry : entries_) {
    if (entry.name == name) return &entry;
  }
  return Failed("unknown worker '{}'{}", Printable(name), Hint(name, names()));
}

Result<Description> WorkerCatalog::Describe(const WorkerEntry& entry, const std::string& version) {
  if (!entry.installed()) return Unsupported("the worker '{}' is not installed", entry.name);
  const std::pair key(entry.name, version);
  const auto known = described_.find(key);
  if (known != described_.end()) return known->second;
  return described_.emplace(key, AskForDescription(entry, version)).first->second;
}

Result<std::shared_ptr<const WorkerBuild>> WorkerCatalog::Build(const WorkerEntry& entry,
                                                                const std::string& version,
                                                                StopToken stop) {
  if (!entry.installed()) return Unsupported("the worker '{}' is not installed", entry.name);
  std::shared_ptr<const WorkerBuild>& build = builds_[{entry.name, version}];
  if (build == nullptr) {
    FileHashes hashes(UserCacheFolder());
    build =
        std::make_shared<const WorkerBuild>(TENCH_TRY(IdentifyBuild(entry, version, hashes, stop)));
  }
  return build;
}

}  // namespace tench
