// SPDX-License-Identifier: Apache-2.0
#pragma once
// Error handling. tench distinguishes three kinds of failure; the first two are defined here:
//  - an expected failure (bad suite, missing file, malformed line) is a Result<T> that holds an
//    Error;
//  - a bug is a failed Check(): it prints the source location and aborts, in every build;
//  - a failed run is data (record/outcome.h), not an error.
// An Error carries one line for the user. Each layer may prepend its own context. Success
// allocates nothing beyond the value.
// Thread safety: values are independent; nothing is shared between threads.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tench {

// A worker's kUnsupported and kOutOfMemory become the outcomes of those names.
enum class ErrorKind { kFailed, kUnsupported, kOutOfMemory };

struct Error {
  std::string message;
  ErrorKind kind = ErrorKind::kFailed;

  // "context: message"
  Error In(std::string_view context) && {
    message = fmt::format("{}: {}", context, message);
    return std::move(*this);
  }
};

template <class... Args>
Error Failed(fmt::format_string<Args...> format, Args&&... args) {
  return Error{fmt::format(format, std::forward<Args>(args)...), ErrorKind::kFailed};
}

template <class... Args>
Error Unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return Error{fmt::format(format, std::forward<Args>(args)...), ErrorKind::kUnsupported};
}

// The source location of a call. clang 14, which builds the fuzzers, lacks std::source_location.
struct SourcePlace {
  const char* file;
  const char* function;
  int line;
  static constexpr SourcePlace Here(const char* file = __builtin_FILE(),
                                    const char* function = __builtin_FUNCTION(),
                                    int line = __builtin_LINE()) {
    return {file, function, line};
  }
};

// Aborts with the message and the location if the condition is false. For states that only a bug in
// tench can reach.
void Check(bool condition, std::string_view message, SourcePlace where = SourcePlace::Here());

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& operator*() & { return Value(); }
  const T& operator*() const& { return const_cast<Result*>(this)->Value(); }
  T&& operator*() && { return std::move(Value()); }
  T* operator->() { return &Value(); }
  const T* operator->() const { return &const_cast<Result*>(this)->Value(); }

  const Error& error() const& { return const_cast<Result*>(this)->Failure(); }
  Error&& error() && { return std::move(Failure()); }

  // The same result; an error's message is prefixed with "context: ".
  Result In(std::string_view context) && {
    if (ok()) return std::move(*this);
    return std::move(Failure()).In(context);
  }

 private:
  T& Value() {
    Check(ok(), "the value of a failed Result was taken");
    return std::get<0>(state_);
  }
  Error& Failure() {
    Check(!ok(), "the error of a successful Result was taken");
    return std::get<1>(state_);
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  void operator*() const { Check(ok(), "the value of a failed Status was taken"); }

  const Error& error() const& {
    Check(!ok(), "the error of a successful Status was taken");
    return *error_;
  }
  Error&& error() && {
    Check(!ok(), "the error of a successful Status was taken");
    return std::move(*error_);
  }

  Result In(std::string_view context) && {
    if (ok()) return {};
    return std::move(*error_).In(context);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;
inline Status Ok() { return {}; }

}  // namespace tench

// `auto x = TENCH_TRY(Parse(text));` yields the value, or returns the error from the enclosing
// function.
#define TENCH_TRY(expression)                                               \
  ({                                                                        \
    auto tench_try_result = (expression);                                   \
    if (!tench_try_result.ok()) return std::move(tench_try_result).error(); \
    *std::move(tench_try_result);                                           \
  })
