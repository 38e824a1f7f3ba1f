// SPDX-License-Identifier: Apache-2.0
#pragma once
// A bound graph: MXNet has inferred shapes, fused subgraphs, planned static memory and allocated
// every variable, gradient and output. Forward and Backward only queue work (see engine.h); reading
// an array waits for it. Used by one thread.

#include <map>
#include <string>

#include "workers/mxnet/array.h"
#include "workers/mxnet/lowering.h"

namespace tench::mxnet {

class Executor {
 public:
  static Result<std::unique_ptr<Executor>> Bind(const Library& library, const SymbolMaker& maker,
                                                const Lowered& lowered, bool gradients,
                                                Device device);

  Status Forward(bool training);
  Status Backward();

  Array& variable(const std::string& name);  // arguments and running statistics
  Array& gradient(const std::string& name);  // only for a trained variable, bound with gradients
  const Array& output(size_t head) const { return outputs_[head]; }

  // MXNet's listing of its nodes and planned memory.
  Result<std::string> Listing() const;
  // The planned memory in the listing, plus the variables and gradients.
  Result<int64_t> Bytes() const;

 private:
  explicit Executor(const Library& library) : library_(library) {}
  Status Keep(const std::vector<std::string>& names, void** arrays,
              std::map<std::string, Array>& into);

  const Library& library_;
  std::map<std::string, Array> variables_, gradients_;
  std::vector<Array> outputs_;
  int64_t variable_bytes_ = 0;
  Handle executor_;
};

}  // namespace tench::mxnet
