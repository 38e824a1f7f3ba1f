// SPDX-License-Identifier: Apache-2.0
#include "run/session/worker_build.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "run/session/loaded_files.h"

namespace tench {

bool WorkerBuild::Unchanged() const {
  return std::all_of(files.begin(), files.end(), [](const HashedFile& file) {
    const Result<FileStamp> now = StampOf(file.path);
    return now.ok() && *now == file.stamp;
  });
}

std::string BuildId(const std::vector<HashedFile>& files, const std::string& packages) {
  std::set<std::string> lines;
  for (const HashedFile& file : files)
    lines.insert(fmt::format("{}\n{}\n", file.path.filename().string(), file.hash));
  if (!packages.empty()) lines.insert(fmt::format("packages\n{}\n", packages));
  uint64_t id = kHashOfNothing;
  for (const std::string& line : lines) id = Hash64(line, id);
  return Hex64(id);
}

Result<WorkerBuild> IdentifyBuild(const WorkerEntry& entry, const std::string& version,
                                  FileHashes& hashes, StopToken stop) {
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::canonical(entry.executable, error);
  if (error) return Failed("{}: {}", entry.executable.string(), error.message());
  std::set<std::filesystem::path> paths = {executable};
  const auto loaded = LoadedFiles(entry, version, stop);
  if (stop.stop_requested())
    return Failed("stopped while the build of {} was identified", entry.name);
  if (loaded.ok()) paths.insert(loaded->files.begin(), loaded->files.end());
  WorkerBuild build;
  for (const std::filesystem::path& path : paths) {
    Result<HashedFile> file = hashes.Hash(path);
    // A mapped file without a path on disk has no content to hash.
    if (!file.ok() && path != executable) continue;
    build.files.push_back(TENCH_TRY(std::move(file)));
  }
  // If the cache cannot be written, the next call is slower but correct.
  (void)hashes.Save();
  if (loaded.ok()) build.not_loaded = loaded->not_loaded;
  build.id = BuildId(build.files, loaded.ok() ? loaded->packages : "");
  return build;
}

}  // namespace tench
