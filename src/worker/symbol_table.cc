// SPDX-License-Identifier: Apache-2.0
#include "worker/symbol_table.h"

#include <dlfcn.h>

#include "worker/library_file.h"

namespace tench {

Result<SymbolTable> SymbolTable::Open(const std::filesystem::path& file, int flags,
                                      std::string_view fix) {
  if (const Status checked = CheckLibraryFile(file); !checked)
    return Unsupported("{} ({})", checked.error().message, fix);
  void* library = dlopen(file.c_str(), flags);
  if (library == nullptr) {
    const char* reason = dlerror();
    return Unsupported("{} cannot be loaded: {} ({})", file.string(),
                       reason != nullptr ? reason : "no reason given", fix);
  }
  return SymbolTable(library, file);
}

SymbolAddress SymbolTable::operator[](const char* symbol) {
  void* address = dlsym(library_, symbol);
  if (address == nullptr && missing_.empty()) missing_ = symbol;
  return SymbolAddress(address);
}

SymbolAddress SymbolTable::Optional(const char* symbol) const {
  return SymbolAddress(dlsym(library_, symbol));
}

Status SymbolTable::Complete(std::string_view needed) const {
  if (missing_.empty()) return Ok();
  return Unsupported("{} has no symbol {}: {}", file_.string(), missing_, needed);
}

}  // namespace tench
