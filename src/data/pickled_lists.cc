// SPDX-License-Identifier: Apache-2.0
// The instructions are those of Python's pickletools. An array is built by BUILD from the state
// (version, shape, dtype, is_fortran, list of the elements).
#include "data/pickled_lists.h"

#include <algorithm>
#include <map>
#include <optional>

namespace tench {
namespace {

constexpr size_t kStateItems = 5;

enum class PickleKind { kOpaque, kInteger, kSequence, kMark };

struct PickleValue {
  PickleKind kind = PickleKind::kOpaque;
  int64_t number = 0;  // the integer, or the index of a sequence
};

class Unpickler {
 public:
  Unpickler(std::string_view pickle, std::string_view name, size_t origin)
      : pickle_(pickle), name_(name), origin_(origin) {}

  Result<std::vector<std::vector<int64_t>>> Run() {
    while (!stopped_) {
      if (at_ >= pickle_.size()) return Bad("the pickle is cut off");
      begin_ = at_;
      TENCH_TRY(Execute(static_cast<unsigned char>(pickle_[at_++])));
    }
    if (!elements_) return Bad("the pickle is not an array of lists");
    std::vector<std::vector<int64_t>> lists;
    size_t integers = 0;
    for (const PickleValue& element : sequences_[*elements_]) {
      if (element.kind != PickleKind::kSequence)
        return Failed("{}: element {} is not a list of integers", name_, lists.size());
      std::vector<int64_t> list;
      for (const PickleValue& item : sequences_[static_cast<size_t>(element.number)]) {
        if (item.kind != PickleKind::kInteger)
          return Failed("{}: element {} is not a list of integers", name_, lists.size());
        list.push_back(item.number);
      }
      // A list that is named again costs two bytes, whatever its length.
      integers += list.size();
      if (integers > pickle_.size() || lists.size() > pickle_.size())
        return Failed("{}: the pickle repeats its lists too often", name_);
      lists.push_back(std::move(list));
    }
    return lists;
  }

 private:
  Error Bad(std::string_view what) const {
    return Failed("{}: offset {}: {}", name_, origin_ + begin_, what);
  }

  Result<std::string_view> Bytes(size_t count) {
    if (count > pickle_.size() - at_) return Bad("the pickle is cut off");
    const std::string_view bytes = pickle_.substr(at_, count);
    at_ += count;
    return bytes;
  }
  Result<uint64_t> Unsigned(size_t count) {
    const std::string_view bytes = TENCH_TRY(Bytes(count));
    uint64_t value = 0;
    for (size_t i = count; i > 0; --i)
      value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
    return value;
  }
  Status SkipLine() {
    const size_t end = pickle_.find('\n', at_);
    if (end == std::string_view::npos) return Bad("the pickle is cut off");
    at_ = end + 1;
    return Ok();
  }
  Status SkipCounted(size_t size_bytes) {
    const uint64_t count = TENCH_TRY(Unsigned(size_bytes));
    TENCH_TRY(Bytes(count));
    return Push({}), Ok();
  }

  void Push(PickleValue value) { stack_.push_back(value); }
  void PushInteger(int64_t value) { Push({PickleKind::kInteger, value}); }
  void PushSequence(std::vector<PickleValue> items) {
    sequences_.push_back(std::move(items));
    Push({PickleKind::kSequence, static_cast<int64_t>(sequences_.size()) - 1});
  }
  Result<std::vector<PickleValue>> Pop(size_t count) {
    if (count > stack_.size()) return Bad("the stack of the pickle is empty");
    std::vector<PickleValue> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }
  Result<std::vector<PickleValue>> PopToMark() {
    const auto mark = std::find_if(stack_.rbegin(), stack_.rend(), [](const PickleValue& value) {
      return value.kind == PickleKind::kMark;
    });
    if (mark == stack_.rend()) return Bad("the pickle has no mark");
    std::vector<PickleValue> items = TENCH_TRY(Pop(static_cast<size_t>(mark - stack_.rbegin())));
    stack_.pop_back();
    return items;
  }

  Status Append(std::vector<PickleValue> items) {
    if (stack_.empty() || stack_.back().kind != PickleKind::kSequence)
      return Bad("the pickle appends to an object that is not a list");
    std::vector<PickleValue>& list = sequences_[static_cast<size_t>(stack_.back().number)];
    list.insert(list.end(), items.begin(), items.end());
    return Ok();
  }
  // REDUCE and NEWOBJ call a function of Python, BUILD sets a state.
  Status Call() {
    TENCH_TRY(Pop(2));
    return Push({}), Ok();
  }
  Status Build() {
    const std::vector<PickleValue> state = TENCH_TRY(Pop(1));
    if (stack_.empty()) return Bad("the stack of the pickle is empty");
    if (state[0].kind != PickleKind::kSequence) return Ok();
    const std::vector<PickleValue>& items = sequences_[static_cast<size_t>(state[0].number)];
    if (items.size() == kStateItems && items.back().kind == PickleKind::kSequence)
      elements_ = static_cast<size_t>(items.back().number);
    return Ok();
  }
  Status Remember(uint64_t key) {
    if (stack_.empty()) return Bad("the stack of the pickle is empty");
    memo_[key] = stack_.back();
    return Ok();
  }
  Status Recall(uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) return Bad("the pickle has no such memo");
    return Push(found->second), Ok();
  }
  // LONG1: two's complement of any length.
  Status Long() {
    const auto count = static_cast<size_t>(TENCH_TRY(Unsigned(1)));
    if (count > sizeof(int64_t)) return Bad("an integer of more than 64 bits");
    const uint64_t bits = TENCH_TRY(Unsigned(count));
    const bool negative = count > 0 && count < 8 && (bits >> (8 * count - 1) & 1) != 0;
    PushInteger(static_cast<int64_t>(negative ? bits | ~uint64_t{0} << (8 * count) : bits));
    return Ok();
  }

  Status Execute(unsigned char code) {
    switch (code) {
      case 0x80:  // PROTO
        TENCH_TRY(Bytes(1));
        return Ok();
      case 0x95:  // FRAME
        TENCH_TRY(Bytes(8));
        return Ok();
      case 'c':  // GLOBAL
        TENCH_TRY(SkipLine());
        TENCH_TRY(SkipLine());
        return Push({}), Ok();
      case 0x93:  // STACK_GLOBAL
        return Call();
      case 'K':  // BININT1
        return PushInteger(static_cast<int64_t>(TENCH_TRY(Unsigned(1)))), Ok();
      case 'M':  // BININT2
        return PushInteger(static_cast<int64_t>(TENCH_TRY(Unsigned(2)))), Ok();
      case 'J':  // BININT
        return PushInteger(static_cast<int32_t>(TENCH_TRY(Unsigned(4)))), Ok();
      case 0x8a:
        return Long();
      case 'G':  // BINFLOAT
        TENCH_TRY(Bytes(8));
        return Push({}), Ok();
      case 'N':   // NONE
      case 0x88:  // NEWTRUE
      case 0x89:  // NEWFALSE
        return Push({}), Ok();
      case 'U':   // SHORT_BINSTRING
      case 'C':   // SHORT_BINBYTES
      case 0x8c:  // SHORT_BINUNICODE
        return SkipCounted(1);
      case 'T':  // BINSTRING
      case 'B':  // BINBYTES
      case 'X':  // BINUNICODE
        return SkipCounted(4);
      case ')':  // EMPTY_TUPLE
      case ']':  // EMPTY_LIST
        return PushSequence({}), Ok();
      case 0x85:  // TUPLE1
      case 0x86:  // TUPLE2
      case 0x87:  // TUPLE3
        return PushSequence(TENCH_TRY(Pop(code - 0x84U))), Ok();
      case '(':  // MARK
        return Push({PickleKind::kMark, 0}), Ok();
      case 't':  // TUPLE
        return PushSequence(TENCH_TRY(PopToMark())), Ok();
      case 'a':  // APPEND
        return Append(TENCH_TRY(Pop(1)));
      case 'e':  // APPENDS
        return Append(TENCH_TRY(PopToMark()));
      case 'R':   // REDUCE
      case 0x81:  // NEWOBJ
        return Call();
      case 'b':
        return Build();
      case 'q':  // BINPUT
        return Remember(TENCH_TRY(Unsigned(1)));
      case 'r':  // LONG_BINPUT
        return Remember(TENCH_TRY(Unsigned(4)));
      case 0x94:  // MEMOIZE
        return Remember(memo_.size());
      case 'h':  // BINGET
        return Recall(TENCH_TRY(Unsigned(1)));
      case 'j':  // LONG_BINGET
        return Recall(TENCH_TRY(Unsigned(4)));
      case '0':  // POP
        TENCH_TRY(Pop(1));
        return Ok();
      case '.':
        stopped_ = true;
        return Ok();
      default:
        return Bad("an instruction that arrays of lists do not have");
    }
  }

  std::string_view pickle_, name_;
  size_t origin_, at_ = 0, begin_ = 0;  // `begin_`: of the current instruction
  bool stopped_ = false;
  std::vector<PickleValue> stack_;
  std::vector<std::vector<PickleValue>> sequences_;
  std::map<uint64_t, PickleValue> memo_;
  std::optional<size_t> elements_;
};

}  // namespace

Result<std::vector<std::vector<int64_t>>> ParsePickledLists(std::string_view pickle,
                                                            std::string_view name, size_t origin) {
  return Unpickler(pickle, name, origin).Run();
}

}  // namespace tench
