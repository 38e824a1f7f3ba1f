// SPDX-License-Identifier: Apache-2.0
#include "worker/library_file.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/file.h"

namespace tench {
namespace {

constexpr size_t kMaxSegments = 1024;  // real libraries have about ten

bool ReadAt(int fd, void* into, size_t bytes, uint64_t offset) {
  return pread(fd, into, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

}  // namespace

Status CheckLibraryFile(const std::filesystem::path& file) {
  const Fd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return Unsupported("{} cannot be read: {}", file.string(), std::strerror(errno));
  const off_t size = lseek(fd.get(), 0, SEEK_END);
  Elf64_Ehdr head{};
  if (!ReadAt(fd.get(), &head, sizeof head, 0) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_DYN)
    return Unsupported("{} is no shared library of this machine", file.string());
  std::vector<Elf64_Phdr> segments(head.e_phnum);
  if (head.e_phentsize != sizeof(Elf64_Phdr) || segments.empty() ||
      segments.size() > kMaxSegments ||
      !ReadAt(fd.get(), segments.data(), segments.size() * sizeof(Elf64_Phdr), head.e_phoff))
    return Unsupported("{} is damaged: its headers cannot be read", file.string());
  for (const Elf64_Phdr& segment : segments) {
    const uint64_t end = segment.p_offset + segment.p_filesz;
    if (end < segment.p_offset || end > static_cast<uint64_t>(size))
      return Unsupported("{} is cut off: it has {} bytes of at least {}", file.string(), size, end);
  }
  return Ok();
}

}  // namespace tench
