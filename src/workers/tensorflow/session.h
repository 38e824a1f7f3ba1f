// SPDX-License-Identifier: Apache-2.0
#pragma once
// One TF_Session over a graph. The session has the threads and the variables. Run returns when all
// fetches and targets are computed. Ownership: the writer, whose graph it runs, must outlive it.
// Used by one thread.

#include <span>
#include <string>
#include <vector>

#include "workers/tensorflow/graph_writer.h"

namespace tench::tensorflow {

struct SessionSettings {
  int64_t intra_op = 1;
  int64_t inter_op = 1;  // -1: nodes run in the thread that calls Run
  bool gpu = false;      // otherwise no GPU is touched, even by a library that has them
};

std::string ConfigProto(const SessionSettings& settings);

struct RunRequest {
  std::vector<TF_Output> feeds;
  std::vector<TF_Tensor*> fed;  // as many as feeds; owned by the caller
  std::vector<TF_Output> fetches;
  std::vector<TF_Operation*> targets;
};

class Session {
 public:
  static Result<Session> Open(const GraphWriter& writer, const SessionSettings& settings);
  Session(Session&&) = default;
  Session& operator=(Session&&) = default;

  Result<std::vector<TensorHandle>> Run(const RunRequest& request);
  // The same with every node timed; `metadata` becomes a serialised RunMetadata.
  Result<std::vector<TensorHandle>> RunTraced(const RunRequest& request, std::string& metadata);
  // The number of GPUs that this session can use.
  Result<int> CountGpus();

 private:
  struct Closer {
    const CApi* api;
    void operator()(TF_Session* session) const;
  };
  Session(const CApi& api, TF_Session* session);
  Result<std::vector<TensorHandle>> RunWith(const RunRequest& request, const TF_Buffer* options,
                                            TF_Buffer* metadata);

  const CApi* api_;
  std::unique_ptr<TF_Session, Closer> session_;
  Owned<TF_Status> status_;
};

}  // namespace tench::tensorflow
