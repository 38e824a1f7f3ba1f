// SPDX-License-Identifier: Apache-2.0
// The layout of LMDB 0.9 on a 64-bit little-endian machine. Pages 0 and 1 are meta pages, of which
// the one with the larger transaction number counts. A page begins with a header of 16 bytes:
// number (8), padding (2), flags (2), and the bounds of its free space, lower (2) and upper (2), or
// of an overflow page the number of pages (4). Behind it are the offsets (2) of its nodes. A node
// is two halves of a size or page number (4), flags (2), the size of the key (2), the key, and in a
// leaf the value or the number of its overflow page (8).
#include "data/lmdb_pages.h"

#include <cstring>
#include <vector>

namespace tench {
namespace {

constexpr int64_t kHeaderBytes = 16, kNodeBytes = 8, kPageNumberBytes = 8;
constexpr int64_t kMetaBytes = 136, kDatabases = 24, kDatabaseBytes = 48;
constexpr int64_t kLeastPageBytes = 512, kMostPageBytes = 32'768;
constexpr uint32_t kLmdbMagic = 0xBEEFC0DE, kLmdbVersion = 1;
constexpr uint16_t kBranchPage = 1, kLeafPage = 2, kOverflowPage = 4, kMetaPage = 8;
constexpr uint16_t kBigValue = 1;
constexpr uint64_t kNoRoot = ~uint64_t{0};
constexpr int kDeepest = 30;  // liblmdb's cursors hold 32 pages

template <class T>
T FieldAt(const std::string& page, int64_t offset) {
  T value;
  std::memcpy(&value, page.data() + offset, sizeof value);
  return value;
}

struct LmdbMeta {
  uint64_t root = kNoRoot, transaction = 0;
  uint16_t flags = 0, depth = 0;
  int64_t last_page = 0;
};

class PageCheck {
 public:
  explicit PageCheck(const ByteFile& file) : file_(file) {}

  Status Run() {
    TENCH_TRY(ReadPageSize());
    const LmdbMeta first = TENCH_TRY(ReadMeta(0)), second = TENCH_TRY(ReadMeta(1));
    const LmdbMeta& meta = second.transaction > first.transaction ? second : first;
    if (meta.last_page < 1 || meta.last_page >= file_.size() / page_bytes_)
      return file_.At(file_.size(), "the file is truncated: its pages need more bytes");
    if (meta.flags != 0)
      return file_.At(0, "the database has duplicate keys or keys in another order");
    pages_ = meta.last_page + 1;
    visited_.resize(static_cast<size_t>(pages_), false);
    if (meta.root == kNoRoot) return Ok();
    if (meta.depth < 1 || meta.depth > kDeepest)
      return file_.At(0, "the depth of the tree is wrong");
    return Visit(meta.root, meta.depth);
  }

 private:
  Error Bad(uint64_t page, std::string_view what) const {
    return file_.At(static_cast<int64_t>(page) * page_bytes_, what);
  }

  // It is the padding field of the free list's database, which comes first.
  Status ReadPageSize() {
    const std::string page = file_.size() < kHeaderBytes + kMetaBytes
                                 ? std::string()
                                 : TENCH_TRY(file_.ReadString(0, kHeaderBytes + kMetaBytes));
    if (page.empty() || FieldAt<uint32_t>(page, kHeaderBytes) != kLmdbMagic)
      return file_.At(0, "not a readable LMDB: no meta page of LMDB 0.9");
    page_bytes_ = FieldAt<uint32_t>(page, kHeaderBytes + kDatabases);
    if (page_bytes_ < kLeastPageBytes || page_bytes_ > kMostPageBytes ||
        (page_bytes_ & (page_bytes_ - 1)) != 0)
      return file_.At(kHeaderBytes + kDatabases, "the page size is wrong");
    return Ok();
  }

  Result<LmdbMeta> ReadMeta(int64_t number) const {
    std::string page = TENCH_TRY(file_.ReadString(number * page_bytes_, kHeaderBytes + kMetaBytes));
    const auto bad = [&] {
      return file_.At(number * page_bytes_, "not a readable LMDB: no meta page of LMDB 0.9");
    };
    if (!(FieldAt<uint16_t>(page, 10) & kMetaPage)) return bad();
    page.erase(0, kHeaderBytes);
    if (FieldAt<uint32_t>(page, 0) != kLmdbMagic || FieldAt<uint32_t>(page, 4) != kLmdbVersion ||
        FieldAt<uint32_t>(page, kDatabases) != page_bytes_)
      return bad();
    const int64_t main = kDatabases + kDatabaseBytes, end = main + kDatabaseBytes;
    LmdbMeta meta;
    meta.flags = FieldAt<uint16_t>(page, main + 4);
    meta.depth = FieldAt<uint16_t>(page, main + 6);
    meta.root = FieldAt<uint64_t>(page, main + 40);
    const auto last = FieldAt<uint64_t>(page, end);
    meta.last_page =
        last > static_cast<uint64_t>(file_.size()) ? file_.size() : static_cast<int64_t>(last);
    meta.transaction = FieldAt<uint64_t>(page, end + 8);
    return meta;
  }

  // Each page belongs to the tree once, so a tree with a cycle is refused as well.
  Status Claim(uint64_t first, int64_t count, uint64_t from) {
    if (first < 2 || count < 1 || first >= static_cast<uint64_t>(pages_) ||
        count > pages_ - static_cast<int64_t>(first))
      return Bad(from, "the page refers to a page outside of the database");
    for (int64_t i = 0; i < count; ++i) {
      auto seen = visited_[first + static_cast<uint64_t>(i)];
      if (seen) return Bad(from, "the page refers to a page that is used already");
      seen = true;
    }
    return Ok();
  }

  Status Visit(uint64_t number, int depth) {
    TENCH_TRY(Claim(number, 1, number < static_cast<uint64_t>(pages_) ? number : 0));
    const std::string page = TENCH_TRY(file_.ReadString(static_cast<int64_t>(number) * page_bytes_,
                                                        static_cast<size_t>(page_bytes_)));
    const uint16_t flags = FieldAt<uint16_t>(page, 10);
    const int64_t lower = FieldAt<uint16_t>(page, 12), upper = FieldAt<uint16_t>(page, 14);
    const bool leaf = depth == 1;
    if (FieldAt<uint64_t>(page, 0) != number || flags != (leaf ? kLeafPage : kBranchPage))
      return Bad(number, leaf ? "not a leaf page" : "not a branch page");
    const int64_t nodes = (lower - kHeaderBytes) / 2;
    // liblmdb asserts that a branch has two children.
    if (lower < kHeaderBytes || upper < lower || upper > page_bytes_ || nodes < (leaf ? 1 : 2))
      return Bad(number, "the bounds of the page are wrong");
    for (int64_t i = 0; i < nodes; ++i)
      TENCH_TRY(CheckNode(number, page, FieldAt<uint16_t>(page, kHeaderBytes + 2 * i), depth));
    return Ok();
  }

  Status CheckNode(uint64_t number, const std::string& page, int64_t at, int depth) {
    if (at < kHeaderBytes || at > page_bytes_ - kNodeBytes)
      return Bad(number, "a node lies outside of the page");
    const uint64_t low = FieldAt<uint16_t>(page, at), high = FieldAt<uint16_t>(page, at + 2);
    const uint16_t flags = FieldAt<uint16_t>(page, at + 4);
    const int64_t value = at + kNodeBytes + FieldAt<uint16_t>(page, at + 6);
    if (value > page_bytes_) return Bad(number, "a key lies outside of the page");
    if (depth > 1) return Visit(low | high << 16 | uint64_t{flags} << 32, depth - 1);
    const auto bytes = static_cast<int64_t>(low | high << 16);
    if (flags == 0)
      return bytes > page_bytes_ - value ? Status(Bad(number, "a value lies outside of the page"))
                                         : Ok();
    if (flags != kBigValue) return Bad(number, "a named database or a duplicate key");
    if (value > page_bytes_ - kPageNumberBytes)
      return Bad(number, "a value lies outside of the page");
    return CheckOverflow(number, FieldAt<uint64_t>(page, value), bytes);
  }

  Status CheckOverflow(uint64_t from, uint64_t number, int64_t bytes) {
    const int64_t count = (kHeaderBytes - 1 + bytes) / page_bytes_ + 1;
    TENCH_TRY(Claim(number, count, from));
    const std::string header =
        TENCH_TRY(file_.ReadString(static_cast<int64_t>(number) * page_bytes_, kHeaderBytes));
    if (FieldAt<uint64_t>(header, 0) != number || FieldAt<uint16_t>(header, 10) != kOverflowPage ||
        FieldAt<uint32_t>(header, 12) < static_cast<uint64_t>(count))
      return Bad(number, "not an overflow page of the value's size");
    return Ok();
  }

  const ByteFile& file_;
  int64_t page_bytes_ = 0;
  int64_t pages_ = 0;
  std::vector<bool> visited_;
};

}  // namespace

Status CheckLmdbPages(const ByteFile& file) { return PageCheck(file).Run(); }

}  // namespace tench
