// SPDX-License-Identifier: Apache-2.0
#include "data/byte_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace tench {
namespace {

constexpr size_t kMaxInflatedBytes = size_t{4} << 30;
constexpr size_t kBlockBytes = 1 << 18;

// Ends the stream in the destructor.
class InflateStream {
 public:
  InflateStream() { ready_ = inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK; }
  ~InflateStream() {
    if (ready_) inflateEnd(&stream_);
  }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;

  bool ready() const { return ready_; }
  z_stream& operator*() { return stream_; }
  z_stream* operator->() { return &stream_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

Result<std::string> Inflate(std::string_view compressed, std::string_view name) {
  InflateStream stream;
  if (!stream.ready()) return Failed("{}: zlib cannot be initialized", name);
  std::string out, block(kBlockBytes, '\0');
  size_t begin = 0;  // of the part that zlib has not got yet; its counter has 32 bits only
  while (true) {
    if (stream->avail_in == 0) {
      const size_t part = std::min(compressed.size() - begin, kBlockBytes);
      if (part == 0)
        return Failed("{}: offset {}: the gzip data is cut off", name, compressed.size());
      stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data() + begin));
      stream->avail_in = static_cast<uInt>(part);
      begin += part;
    }
    stream->next_out = reinterpret_cast<Bytef*>(block.data());
    stream->avail_out = static_cast<uInt>(block.size());
    const int code = inflate(&*stream, Z_NO_FLUSH);
    const size_t at = begin - stream->avail_in;
    out.append(block, 0, block.size() - stream->avail_out);
    if (out.size() > kMaxInflatedBytes)
      return Failed("{}: the content is larger than {} GiB; decompress the file first", name,
                    kMaxInflatedBytes >> 30);
    if (code == Z_STREAM_END) {
      if (at == compressed.size()) return out;
      if (inflateReset(&*stream) != Z_OK) return Failed("{}: zlib cannot be reset", name);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return Failed("{}: offset {}: broken gzip data ({})", name, at,
                    stream->msg != nullptr ? stream->msg : "no details");
    }
  }
}

Result<ByteFile> ByteFile::Open(const std::filesystem::path& path) {
  ByteFile file;
  file.path_ = path;
  file.fd_ = Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.fd_.valid()) return Failed("{}: cannot open: {}", path.string(), std::strerror(errno));
  struct stat status {};
  if (fstat(file.fd_.get(), &status) != 0)
    return Failed("{}: cannot stat: {}", path.string(), std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return Failed("{}: not a regular file", path.string());
  file.size_ = status.st_size;
  char magic[2] = {};
  if (file.size_ < 2) return file;
  TENCH_TRY(file.Read(0, magic, sizeof magic));
  if (std::string_view(magic, 2) != "\x1f\x8b") return file;
  const std::string compressed = TENCH_TRY(file.ReadString(0, static_cast<size_t>(file.size_)));
  file.content_ = TENCH_TRY(Inflate(compressed, path.string()));
  file.size_ = static_cast<int64_t>(file.content_.size());
  file.fd_.Close();
  return file;
}

Status ByteFile::Read(int64_t offset, void* out, size_t count) const {
  if (offset < 0 || offset > size_ || count > static_cast<size_t>(size_ - offset))
    return At(size_,
              fmt::format("the file ends, but {} bytes were expected at offset {}", count, offset));
  if (!fd_.valid()) {
    std::memcpy(out, content_.data() + offset, count);
    return Ok();
  }
  size_t done = 0;
  while (done < count) {
    const ssize_t got = pread(fd_.get(), static_cast<char*>(out) + done, count - done,
                              offset + static_cast<int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return At(offset, fmt::format("cannot read: {}", std::strerror(errno)));
    if (got == 0) return At(offset + static_cast<int64_t>(done), "the file was truncated");
    done += static_cast<size_t>(got);
  }
  return Ok();
}

Result<std::string> ByteFile::ReadString(int64_t offset, size_t count) const {
  // Checked before the memory is allocated: a broken length must not ask for gigabytes.
  if (offset < 0 || offset > size_ || count > static_cast<size_t>(size_ - offset))
    return At(size_,
              fmt::format("the file ends, but {} bytes were expected at offset {}", count, offset));
  std::string bytes(count, '\0');
  TENCH_TRY(Read(offset, bytes.data(), count));
  return bytes;
}

Result<uint32_t> ByteFile::ReadBigEndian(int64_t offset) const {
  unsigned char bytes[4];
  TENCH_TRY(Read(offset, bytes, sizeof bytes));
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

Error ByteFile::At(int64_t offset, std::string_view what) const {
  return Failed("{}: offset {}: {}", path_.string(), offset, what);
}

}  // namespace tench
