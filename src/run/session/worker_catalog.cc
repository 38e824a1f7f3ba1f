// SPDX-License-Identifier: Apache-2.0
#include "run/session/worker_catalog.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "protocol/command_line.h"
#include "run/session/log_tail.h"
#include "run/session/worker_environment.h"

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

// A manifest that cannot be read says so where it would have said what the worker needs.
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
  add("PATH");
  return folders;
}

// Appends what there is; false at the end, or when there is too much.
bool ReadSome(Fd& fd, std::string& text) {
  char buffer[16 << 10];
  ssize_t got;
  while ((got = read(fd.get(), buffer, sizeof buffer)) > 0 && text.size() <= kMaxDescriptionBytes) {
    text.append(buffer, static_cast<size_t>(got));
  }
  return got < 0 && (errno == EAGAIN || errno == EINTR);
}

// A framework may print while it is loaded: the description is the last line that looks like one.
std::string_view LastObject(std::string_view text) {
  const std::string_view all = Trim(text);
  if (all.starts_with('{')) return all;
  const size_t at = all.rfind("\n{");
  return at == std::string_view::npos ? all : all.substr(at + 1);
}

Result<Description> AskForDescription(const WorkerEntry& entry, const std::string& version) {
  Pipe output = TENCH_TRY(Pipe::Make());
  Pipe errors = TENCH_TRY(Pipe::Make());
  SpawnOptions options;
  options.executable = entry.executable;
  options.arguments = {kDescribeFlag};
  options.environment = WorkerEnvironment(OwnEnvironment(), {}, version);
  options.output_fd = output.out.get();
  options.error_fd = errors.out.get();
  Subprocess child = TENCH_TRY(Subprocess::Spawn(options));
  output.out.Close();
  errors.out.Close();

  std::string text;
  LogTail log;
  const int64_t deadline_ns = NowNs() + kDescribeDeadlineNs;
  bool open = true;
  while (!child.Wait(0)) {
    const int64_t left_ms = (deadline_ns - NowNs()) / 1'000'000;
    if (left_ms <= 0) {
      return Failed("{} did not answer {} within {}", entry.executable.string(), kDescribeFlag,
                    HumanNs(kDescribeDeadlineNs));
    }
    pollfd fds[] = {{child.exit_fd(), POLLIN, 0},
                    {open ? output.in.get() : -1, POLLIN, 0},
                    {errors.in.get(), POLLIN, 0}};
    poll(fds, std::size(fds), static_cast<int>(left_ms));
    if (open && fds[1].revents) open = ReadSome(output.in, text);
    if (fds[2].revents) log.Drain(errors.in, 1 << 20);
  }
  const ExitStatus status = child.End(0);
  if (open) ReadSome(output.in, text);
  log.Drain(errors.in, 1 << 20);
  if (!status.clean()) {
    const std::string last = log.LastLine();
    return Failed("{} {} ended with {}{}", entry.executable.string(), kDescribeFlag,
                  status.ToString(), last.empty() ? "" : ": " + last);
  }
  if (text.size() > kMaxDescriptionBytes)
    return Failed("{} {}: the answer is too long", entry.executable.string(), kDescribeFlag);
  return ParseDescription(LastObject(text),
                          fmt::format("{} {}", entry.executable.string(), kDescribeFlag));
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
        found.emplace(name, WorkerEntry{name, fs::absolute(file.path(), error), {}, {}, {}});
      }
    }
  }
  for (const auto& [name, path] : manifests) {
    WorkerEntry& entry = found[name];
    entry.name = name;
    ReadManifest(path, entry);
  }
  WorkerCatalog catalog;
  for (auto& [name, entry] : found) catalog.entries_.push_back(std::move(entry));
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

}  // namespace tench
