// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/symbol.h"

namespace tench::mxnet {

Symbol SymbolMaker::Own(Symbol symbol) {
  owned_.emplace_back(symbol, HandleRelease{library_->MXSymbolFree});
  return symbol;
}

Result<Symbol> SymbolMaker::Variable(const std::string& name) {
  Symbol symbol = nullptr;
  TENCH_TRY(library_.Ask(library_->MXSymbolCreateVariable(name.c_str(), &symbol), name));
  return Own(symbol);
}

Result<Symbol> SymbolMaker::Apply(const std::string& op, const std::string& name,
                                  const Attributes& attributes, std::vector<Symbol> inputs) {
  void* const creator = TENCH_TRY(library_.Op(op));
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : attributes) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  Symbol symbol = nullptr;
  const uint32_t count = static_cast<uint32_t>(keys.size());
  TENCH_TRY(library_.Ask(
      library_->MXSymbolCreateAtomicSymbol(creator, count, keys.data(), values.data(), &symbol),
      name));
  Own(symbol);
  const uint32_t arguments = static_cast<uint32_t>(inputs.size());
  TENCH_TRY(library_.Ask(
      library_->MXSymbolCompose(symbol, name.c_str(), arguments, nullptr, inputs.data()), name));
  return symbol;
}

Result<Symbol> SymbolMaker::Group(std::vector<Symbol> symbols) {
  Symbol group = nullptr;
  TENCH_TRY(library_.Ask(
      library_->MXSymbolCreateGroup(static_cast<uint32_t>(symbols.size()), symbols.data(), &group),
      "outputs"));
  return Own(group);
}

Result<std::vector<std::string>> SymbolMaker::Arguments(Symbol symbol) const {
  uint32_t count = 0;
  const char** names = nullptr;
  TENCH_TRY(library_.Ask(library_->MXSymbolListArguments(symbol, &count, &names), "arguments"));
  return std::vector<std::string>(names, names + count);
}

Result<std::vector<std::string>> SymbolMaker::AuxiliaryStates(Symbol symbol) const {
  uint32_t count = 0;
  const char** names = nullptr;
  TENCH_TRY(library_.Ask(library_->MXSymbolListAuxiliaryStates(symbol, &count, &names),
                         "auxiliary states"));
  return std::vector<std::string>(names, names + count);
}

}  // namespace tench::mxnet
