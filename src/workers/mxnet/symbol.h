// SPDX-License-Identifier: Apache-2.0
#pragma once
// Symbols: the nodes of MXNet's graph, created by operator name and attributes as MXNet's front
// ends create them. Ownership: a SymbolMaker owns its symbols; a Symbol is a pointer that is valid
// as long as its maker. Not aware of tench's ops.

#include <map>
#include <string>
#include <vector>

#include "workers/mxnet/library.h"

namespace tench::mxnet {

using Symbol = void*;
using Attributes = std::map<std::string, std::string>;

class SymbolMaker {
 public:
  explicit SymbolMaker(const Library& library) : library_(library) {}

  Result<Symbol> Variable(const std::string& name);
  Result<Symbol> Apply(const std::string& op, const std::string& name, const Attributes& attributes,
                       std::vector<Symbol> inputs);
  Result<Symbol> Group(std::vector<Symbol> symbols);

  Result<std::vector<std::string>> Arguments(Symbol symbol) const;
  Result<std::vector<std::string>> AuxiliaryStates(Symbol symbol) const;

 private:
  Symbol Own(Symbol symbol);

  const Library& library_;
  std::vector<Handle> owned_;
};

}  // namespace tench::mxnet
