// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions of a shared library that a worker opens at run time. A framework's function table
// is a struct whose first member is a SymbolTable; each further member initialises itself from it:
//
//   struct Functions {
//     SymbolTable symbols;
//     decltype(&TF_Version) Version = symbols["TF_Version"];
//   };
//
// so that a symbol is listed once. Complete then reports the first symbol that was missing. A file
// that is damaged, not a library or too old is an error of one line, never a process that cannot
// start. The library is never unloaded: a framework's threads live until the process ends. Copying
// a table copies the handle only. Thread safety: none while symbols are resolved.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tench {

// An address that converts to the function pointer it is assigned to.
class SymbolAddress {
 public:
  explicit SymbolAddress(void* address) : address_(address) {}

  template <class Function>
  operator Function*() const {  // NOLINT: the conversion is the purpose
    return reinterpret_cast<Function*>(address_);
  }

 private:
  void* address_;
};

class SymbolTable {
 public:
  // Checks the file, so that a truncated one does not kill the loader (worker/library_file.h), and
  // opens it with dlopen's `flags`. `fix` says how to get a library that works.
  static Result<SymbolTable> Open(const std::filesystem::path& file, int flags,
                                  std::string_view fix);

  // Resolves a required symbol.
  SymbolAddress operator[](const char* symbol);
  // Resolves a symbol that some versions lack; null if it is missing.
  SymbolAddress Optional(const char* symbol) const;

  // kUnsupported if a required symbol is missing; names the file and the symbol. `needed` describes
  // the library that has them.
  Status Complete(std::string_view needed) const;

  const std::filesystem::path& file() const { return file_; }

 private:
  SymbolTable(void* library, std::filesystem::path file)
      : library_(library), file_(std::move(file)) {}

  void* library_;
  std::filesystem::path file_;
  std::string missing_;
};

}  // namespace tench
