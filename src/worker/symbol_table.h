// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions of a framework's library that a worker opens at run time, by name. All are asked
// for, and the first that is missing is told at the end: a library that is too old, or another one,
// is one line for the user. Owns nothing.

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tench {

class SymbolTable {
 public:
  SymbolTable(void* library, std::filesystem::path file)
      : library_(library), file_(std::move(file)) {}

  template <class Function>
  void operator()(const char* symbol, Function*& slot) {
    slot = reinterpret_cast<Function*>(dlsym(library_, symbol));
    if (slot == nullptr && missing_.empty()) missing_ = symbol;
  }

  // `fix` says which library is needed and how to get it.
  Status Complete(std::string_view fix) const {
    if (missing_.empty()) return Ok();
    return Unsupported("{} has no symbol {}: {}", file_.string(), missing_, fix);
  }

 private:
  void* library_;
  std::filesystem::path file_;
  std::string missing_;
};

}  // namespace tench
