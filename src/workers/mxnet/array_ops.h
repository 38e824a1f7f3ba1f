// SPDX-License-Identifier: Apache-2.0
#pragma once
// MXNet's element-wise operators on arrays, called imperatively, as its Python front end does for
// the updates that have no operator of their own. Calls only queue work. Ownership: the library
// must outlive the results.

#include <initializer_list>
#include <string>

#include "workers/mxnet/array.h"

namespace tench::mxnet {

class ArrayOps {
 public:
  explicit ArrayOps(const Library& library) : library_(&library) {}

  // `op` of the inputs, in a new array.
  Result<Array> Of(const char* op, std::initializer_list<const Array*> inputs) const;
  // An operator with the attribute `scalar`, such as _mul_scalar.
  Result<Array> OfScalar(const char* op, const Array& input, double scalar) const;
  // `op` of the inputs, written to `out`, which may be one of them.
  Status Into(const char* op, std::initializer_list<const Array*> inputs, const Array& out) const;

 private:
  Status Invoke(const char* op, std::initializer_list<const Array*> inputs,
                const std::string* scalar, int& outputs, void**& made) const;

  const Library* library_;
};

}  // namespace tench::mxnet
