// SPDX-License-Identifier: Apache-2.0
// Fuzzes ParseCaffemodel with arbitrary bytes. Every blob that is read has as many values as its
// shape has elements.

#include <string_view>
#include <vector>

#include "net/caffe/caffemodel.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tench;
  const Result<std::vector<CaffeLayer>> layers =
      ParseCaffemodel({reinterpret_cast<const char*>(data), size});
  if (!layers.ok()) return 0;
  for (const CaffeLayer& layer : *layers) {
    for (const CaffeBlob& blob : layer.blobs) {
      Check(blob.count() == ElementCount(blob.shape), "a blob does not fill its shape");
      std::vector<float> values(static_cast<size_t>(blob.count()));
      blob.CopyTo(values);
    }
  }
  return 0;
}
