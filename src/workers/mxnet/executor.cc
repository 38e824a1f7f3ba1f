// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/executor.h"

#include "base/text.h"

namespace tench::mxnet {
namespace {

// Names, gradient requests and shapes of all arguments, in the format of the C API.
struct BindLists {
  std::vector<const char*> names, requests;
  std::vector<int> sizes;
  std::vector<uint32_t> starts = {0};

  void Add(const std::string& name, bool gradient, const Shape& shape) {
    names.push_back(name.c_str());
    requests.push_back(gradient ? "write" : "null");
    for (const int64_t size : shape) sizes.push_back(static_cast<int>(size));
    starts.push_back(static_cast<uint32_t>(sizes.size()));
  }
};

}  // namespace

Result<std::unique_ptr<Executor>> Executor::Bind(const Library& library, const SymbolMaker& maker,
                                                 const Lowered& lowered, bool gradients,
                                                 Device device) {
  const std::vector<std::string> arguments = TENCH_TRY(maker.Arguments(lowered.heads));
  const std::vector<std::string> states = TENCH_TRY(maker.AuxiliaryStates(lowered.heads));
  std::unique_ptr<Executor> made(new Executor(library));
  BindLists lists;
  for (const std::string& name : arguments) {
    const bool gradient = gradients && lowered.trained.contains(name);
    const Shape& shape = lowered.variables.at(name);
    lists.Add(name, gradient, shape);
    made->variable_bytes_ +=
        ElementCount(shape) * static_cast<int64_t>(sizeof(float)) * (gradient ? 2 : 1);
  }
  const uint32_t count = static_cast<uint32_t>(arguments.size());
  int no_shared_buffer = -1;
  const char** shared_names = nullptr;
  void **shared = nullptr, **argument_arrays = nullptr, **gradient_arrays = nullptr,
       **state_arrays = nullptr, *executor = nullptr;
  uint32_t argument_count = 0, state_count = 0;
  TENCH_TRY(library.Ask(
      library->MXExecutorSimpleBindEx(
          lowered.heads, device.type, device.id, 0, nullptr, nullptr, nullptr, count,
          lists.names.data(), lists.requests.data(), count, lists.names.data(), lists.sizes.data(),
          lists.starts.data(), 0, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr,
          &no_shared_buffer, nullptr, nullptr, &shared_names, &shared, &argument_count,
          &argument_arrays, &gradient_arrays, &state_count, &state_arrays, nullptr, &executor),
      "binding"));
  made->executor_ = Handle(executor, {library->MXExecutorFree});
  Check(argument_count == arguments.size() && state_count == states.size(),
        "MXNet bound other variables than it listed");
  TENCH_TRY(made->Keep(arguments, argument_arrays, made->variables_));
  TENCH_TRY(made->Keep(arguments, gradient_arrays, made->gradients_));
  TENCH_TRY(made->Keep(states, state_arrays, made->variables_));
  uint32_t output_count = 0;
  void** outputs = nullptr;
  TENCH_TRY(library.Ask(library->MXExecutorOutputs(executor, &output_count, &outputs), "outputs"));
  for (uint32_t i = 0; i < output_count; ++i) made->outputs_.emplace_back(library, outputs[i]);
  return made;
}

Status Executor::Keep(const std::vector<std::string>& names, void** arrays,
                      std::map<std::string, Array>& into) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (arrays[i] != nullptr) into.emplace(names[i], Array(library_, arrays[i]));
  }
  return Ok();
}

Status Executor::Forward(bool training) {
  return library_.Ask(library_->MXExecutorForward(executor_.get(), training ? 1 : 0), "forward");
}

Status Executor::Backward() {
  return library_.Ask(library_->MXExecutorBackwardEx(executor_.get(), 0, nullptr, 1), "backward");
}

Array& Executor::variable(const std::string& name) {
  const auto found = variables_.find(name);
  Check(found != variables_.end(), "a variable that was not bound");
  return found->second;
}

Array& Executor::gradient(const std::string& name) {
  const auto found = gradients_.find(name);
  Check(found != gradients_.end(), "a gradient that was not bound");
  return found->second;
}

Result<std::string> Executor::Listing() const {
  const char* text = nullptr;
  TENCH_TRY(library_.Ask(library_->MXExecutorPrint(executor_.get(), &text), "listing"));
  return std::string(text);
}

// The listing ends in "Total 12 MB allocated".
Result<int64_t> Executor::Bytes() const {
  constexpr std::string_view kTotal = "Total ", kUnit = " MB allocated";
  const std::string text = TENCH_TRY(Listing());
  const size_t end = text.rfind(kUnit);
  const size_t start = end == std::string::npos ? end : text.rfind(kTotal, end);
  if (start == std::string::npos) return variable_bytes_;
  const Result<int64_t> megabytes =
      ParseInteger(text.substr(start + kTotal.size(), end - start - kTotal.size()));
  return variable_bytes_ + (megabytes.ok() ? *megabytes << 20 : 0);
}

}  // namespace tench::mxnet
