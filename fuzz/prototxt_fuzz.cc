// SPDX-License-Identifier: Apache-2.0
// Fuzzes ReadPrototxt with arbitrary bytes. A network that is read passes Infer, every parameter
// has a place in a .caffemodel, and the written network keeps its batch. Errors and notes are one
// line.

#include <string>
#include <string_view>

#include "net/caffe/prototxt.h"
#include "net/caffe/prototxt_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tench;
  const Result<CaffeNetwork> network =
      ReadPrototxt({reinterpret_cast<const char*>(data), size}, "fuzz.prototxt");
  if (!network.ok()) {
    Check(network.error().message.find('\n') == std::string::npos,
          "an error has more than one line");
    return 0;
  }
  for (const std::string& note : network->notes)
    Check(note.find('\n') == std::string::npos, "a note has more than one line");
  const int64_t batch = network->batch > 0 ? network->batch : 1;
  const Result<TypedGraph> typed = Infer(network->graph, batch);
  Check(typed.ok(), "a network that was read does not pass Infer");
  const auto places = BlobPlaces(*typed, network->names);
  Check(places.ok() && places->size() == typed->parameters.size(),
        "a parameter of a network from Caffe has no place there");
  const Result<std::string> text =
      WriteTrainPrototxt(network->graph, {CaffeData::Kind::kDummy, "", batch});
  if (!text.ok()) return 0;
  const Result<CaffeNetwork> again = ReadPrototxt(*text, "again.prototxt");
  if (again.ok())
    Check(again->batch == batch, "the batch changes when a network is written and read");
  return 0;
}
