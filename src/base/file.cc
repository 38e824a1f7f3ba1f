// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <vector>

#include "base/text.h"

namespace tench {
namespace {

static_assert(std::endian::native == std::endian::little,
              "raw tensor files are little-endian and are read without conversion");

enum class Durability { kSynced, kScratch };

constexpr size_t kRandomCharacters = 6;  // required by mkdtemp
constexpr size_t kHashedAtOnce = 1 << 20;

Error SystemError(const std::filesystem::path& path, std::string_view action) {
  const int code = errno;
  return Failed("{}: {}: {}", path.string(), action, std::strerror(code));
}

Result<Fd> Open(const std::filesystem::path& path, int flags, std::string_view action) {
  int fd;
  do fd = open(path.c_str(), flags | O_CLOEXEC, 0666);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) return SystemError(path, action);
  return Fd(fd);
}

// The number of bytes read, less than `size` only at the end of the file.
Result<size_t> ReadFully(int fd, void* out, size_t size, const std::filesystem::path& path) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = read(fd, static_cast<char*>(out) + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(path, "cannot read");
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Status WriteFully(int fd, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t put = write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return SystemError(path, "cannot write");
    content.remove_prefix(static_cast<size_t>(put));
  }
  return Ok();
}

// A name in the same folder, so that the rename stays within one file system.
std::filesystem::path TemporaryName(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter = 0;
  return path.parent_path() /
         fmt::format(".{}.{}.{}.tmp", path.filename().string(), getpid(), counter++);
}

Status WriteAndClose(Fd file, std::string_view content, Durability durability,
                     const std::filesystem::path& path) {
  TENCH_TRY(WriteFully(file.get(), content, path));
  if (durability == Durability::kSynced && fsync(file.get()) != 0)
    return SystemError(path, "cannot write");
  // A quota or a network file system may report a failed write only here.
  if (close(file.Release()) != 0) return SystemError(path, "cannot write");
  return Ok();
}

Status WriteThenRename(const std::filesystem::path& path, std::string_view content,
                       Durability durability) {
  struct stat existing;
  if (stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode)) {
    // A pipe or /dev/stdout is written to, not replaced; open rejects a folder.
    Fd file = TENCH_TRY(Open(path, O_WRONLY, "cannot write"));
    return WriteFully(file.get(), content, path);
  }
  const std::filesystem::path temporary = TemporaryName(path);
  Fd file = TENCH_TRY(Open(temporary, O_WRONLY | O_CREAT | O_EXCL, "cannot write"));
  Status written = WriteAndClose(std::move(file), content, durability, path);
  if (written.ok() && rename(temporary.c_str(), path.c_str()) != 0)
    written = SystemError(path, "cannot write");
  if (!written.ok()) {
    unlink(temporary.c_str());
    return written;
  }
  if (durability == Durability::kSynced) {
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    // Not every file system can sync a folder; the content itself is already safe.
    if (Result<Fd> opened = Open(folder, O_RDONLY | O_DIRECTORY, "cannot open"); opened.ok())
      fsync(opened->get());
  }
  return Ok();
}

Status ReadRawBytes(const std::filesystem::path& path, void* out, size_t size) {
  Fd file = TENCH_TRY(Open(path, O_RDONLY, "cannot open"));
  struct stat facts;
  if (fstat(file.get(), &facts) != 0) return SystemError(path, "cannot read");
  if (S_ISREG(facts.st_mode) && static_cast<size_t>(facts.st_size) != size)
    return Failed("{}: has {} bytes, expected {}", path.string(), facts.st_size, size);
  const size_t got = TENCH_TRY(ReadFully(file.get(), out, size, path));
  if (got != size) return Failed("{}: has {} bytes, expected {}", path.string(), got, size);
  return Ok();
}

template <class T>
std::string_view Bytes(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Fd::~Fd() { Close(); }

void Fd::Close() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

Result<std::string> ReadFile(const std::filesystem::path& path) {
  return ReadFile(path, std::numeric_limits<size_t>::max());
}

Result<std::string> ReadFile(const std::filesystem::path& path, size_t limit) {
  Fd file = TENCH_TRY(Open(path, O_RDONLY, "cannot open"));
  // The size is not trusted: files of /proc claim to be empty, and a pipe has none.
  std::string content;
  struct stat facts;
  size_t chunk = 64 << 10;
  if (fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0) {
    if (static_cast<uint64_t>(facts.st_size) > limit)
      return Failed("{}: is larger than the {} bytes allowed", path.string(), limit);
    chunk = static_cast<size_t>(facts.st_size) + 1;
  }
  for (;;) {
    const size_t before = content.size();
    content.resize(before + chunk);
    const size_t got = TENCH_TRY(ReadFully(file.get(), content.data() + before, chunk, path));
    content.resize(before + got);
    if (content.size() > limit)
      return Failed("{}: is larger than the {} bytes allowed", path.string(), limit);
    if (got < chunk) return content;
  }
}

Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content) {
  return WriteThenRename(path, content, Durability::kSynced);
}

Result<uint64_t> HashFile(const std::filesystem::path& path) {
  Fd file = TENCH_TRY(Open(path, O_RDONLY, "cannot open"));
  std::vector<char> piece(kHashedAtOnce);
  uint64_t hash = kHashOfNothing;
  for (;;) {
    const size_t got = TENCH_TRY(ReadFully(file.get(), piece.data(), piece.size(), path));
    hash = Hash64({piece.data(), got}, hash);
    if (got < piece.size()) return hash;
  }
}

Status ReadRaw(const std::filesystem::path& path, std::span<float> values) {
  return ReadRawBytes(path, values.data(), values.size_bytes());
}

Status ReadRaw(const std::filesystem::path& path, std::span<int32_t> values) {
  return ReadRawBytes(path, values.data(), values.size_bytes());
}

Status WriteRaw(const std::filesystem::path& path, std::span<const float> values) {
  return WriteThenRename(path, Bytes(values), Durability::kScratch);
}

Status WriteRaw(const std::filesystem::path& path, std::span<const int32_t> values) {
  return WriteThenRename(path, Bytes(values), Durability::kScratch);
}

Result<TemporaryFolder> TemporaryFolder::Make(std::string_view prefix) {
  std::error_code code;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(code);
  if (code) return Failed("cannot find the temporary folder: {}", code.message());
  std::string name =
      (parent / (std::string(prefix) + std::string(kRandomCharacters, 'X'))).string();
  if (mkdtemp(name.data()) == nullptr)
    return SystemError(parent, "cannot create a temporary folder");
  // A file system without locks only loses the clean-up.
  Fd lock(open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.valid()) flock(lock.get(), LOCK_EX | LOCK_NB);
  return TemporaryFolder(std::filesystem::path(name), std::move(lock));
}

int TemporaryFolder::RemoveAbandoned(std::string_view prefix, int64_t min_age_ns) {
  int removed = 0;
  std::error_code code;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(code);
  if (code) return 0;
  for (const auto& entry : std::filesystem::directory_iterator(parent, code)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || name.size() != prefix.size() + kRandomCharacters) continue;
    const Fd folder(open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts {};
    if (!folder.valid() || fstat(folder.get(), &facts) != 0 || facts.st_uid != geteuid()) continue;
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t age_ns =
        (now.tv_sec - facts.st_mtim.tv_sec) * 1'000'000'000 + now.tv_nsec - facts.st_mtim.tv_nsec;
    // A young folder may have been created but not yet locked.
    if (age_ns < min_age_ns || flock(folder.get(), LOCK_EX | LOCK_NB) != 0) continue;
    std::error_code ignored;
    std::filesystem::remove_all(entry.path(), ignored);
    if (!ignored) ++removed;
  }
  return removed;
}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  if (this != &other) {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
  }
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path ExecutableFolder() {
  std::error_code code;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", code);
  return code ? std::filesystem::path(".") : executable.parent_path();
}

std::filesystem::path UserCacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::filesystem::path(cache) / "tench";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return std::filesystem::path(home) / ".cache" / "tench";
  return {};
}

}  // namespace tench
