// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/array_ops.h"

#include <vector>

#include "base/text.h"

namespace tench::mxnet {

Status ArrayOps::Invoke(const char* op, std::initializer_list<const Array*> inputs,
                        const std::string* scalar, int& outputs, void**& made) const {
  std::vector<void*> handles;
  for (const Array* input : inputs) handles.push_back(input->get());
  const char* key = "scalar";
  const char* value = scalar != nullptr ? scalar->c_str() : nullptr;
  return library_->Ask(
      (*library_)->MXImperativeInvoke(TENCH_TRY(library_->Op(op)), static_cast<int>(handles.size()),
                                      handles.data(), &outputs, &made, scalar != nullptr ? 1 : 0,
                                      &key, &value),
      op);
}

Result<Array> ArrayOps::Of(const char* op, std::initializer_list<const Array*> inputs) const {
  int outputs = 0;
  void** made = nullptr;
  TENCH_TRY(Invoke(op, inputs, nullptr, outputs, made));
  return Array(*library_, made[0]);
}

Result<Array> ArrayOps::OfScalar(const char* op, const Array& input, double scalar) const {
  const std::string text = fmt::format("{}", scalar);
  int outputs = 0;
  void** made = nullptr;
  TENCH_TRY(Invoke(op, {&input}, &text, outputs, made));
  return Array(*library_, made[0]);
}

Status ArrayOps::Into(const char* op, std::initializer_list<const Array*> inputs,
                      const Array& out) const {
  int outputs = 1;
  void* handle = out.get();
  void** made = &handle;
  return Invoke(op, inputs, nullptr, outputs, made);
}

}  // namespace tench::mxnet
