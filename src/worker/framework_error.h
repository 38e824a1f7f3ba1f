// SPDX-License-Identifier: Apache-2.0
#pragma once
// A framework's failures as Errors: exceptions, and messages of C APIs. An Error has one line, so a
// stack trace is dropped; a failed allocation is kOutOfMemory, which becomes an outcome of its own.
// Not aware of any framework's types. Stateless.

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tench {

// The first line of a message that is not part of a stack trace. kOutOfMemory if the message names
// an allocator's failure.
Error ErrorOf(std::string_view message);

// Runs `work`, which returns a Result or a Status; an exception becomes its error.
template <class Work>
auto Guarded(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Error{"out of memory", ErrorKind::kOutOfMemory};
  } catch (const std::length_error&) {
    return Error{"out of memory: a tensor is larger than any memory", ErrorKind::kOutOfMemory};
  } catch (const std::exception& exception) {
    return ErrorOf(exception.what());
  } catch (...) {
    return Failed("an exception of unknown type");
  }
}

}  // namespace tench
