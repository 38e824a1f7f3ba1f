// SPDX-License-Identifier: Apache-2.0
#pragma once
// The protocol between tench and a worker: one passive struct per message type, with ToJson and
// Parse. A job is one JSON file; answers are JSON lines on a separate descriptor. docs/protocol.md
// is the specification for workers in other languages; a test checks that both agree. Not aware of
// processes, time or frameworks.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "net/graph.h"
#include "net/solver.h"
#include "record/budget.h"
#include "record/phase.h"
#include "record/profile_row.h"
#include "record/role.h"
#include "record/target.h"

namespace tench {

inline constexpr int kProtocolVersion = 1;
inline constexpr size_t kMaxLineBytes = 8 << 20;  // a longer line is a protocol error

// Tensors that leave or enter a worker: raw little-endian files, never JSON.
struct TensorFiles {
  // Tensors to read before the first step: parameter, state or input name -> file. net/fill
  // generates the others.
  std::map<std::string, std::string> load;
  // Tensors to write to `folder`/KIND/NAME.bin (tensor_path.h) after the last step:
  std::string folder;                // "" = none
  std::vector<std::string> outputs;  // names of layers; "*" = all
  // The outputs of every step instead of the last: `folder`/STEPS/outputs/NAME.bin, with the number
  // of steps so far.
  bool every_step = false;
  bool gradients = false;
  bool parameters = false;
  bool state = false;  // momenta and running statistics
  // Whether the build may differ from a timed one, so that every tensor is readable. If not, no
  // outputs can be requested, and gradients only in phase gradient.
  bool observe = true;
  bool any() const { return !folder.empty(); }
};

// Snapshots of the parameters and running statistics during a training: after each number of steps
// in `after` (ascending, including warm-up), and when the worker is asked to stop,
// FOLDER/STEPS/{parameters,state}/NAME.bin. The folder STEPS appears only when it is complete.
struct Snapshots {
  std::string folder;  // "" = none
  std::vector<int64_t> after;
  bool any() const { return !folder.empty(); }
};

// The intervals of the timed steps `first` to `last`, counted from 1, in a file (trace_file.h).
struct TraceRequest {
  std::string file;  // "" = none
  int64_t first = 1, last = 3;
  bool any() const { return !file.empty(); }
};

// The settings that a framework's build obeys. A job and the adapter's BuildOptions share them, so
// that a new one reaches every adapter.
struct BuildSettings {
  std::string device = "cpu";
  int64_t threads = 1;
  std::string precision = "f32";
  Phase phase = Phase::kTrain;  // the phase of every step
  Solver solver;
  uint64_t seed = 1;    // of weights, data and dropout masks
  bool dropout = true;  // false: dropout layers are the identity, also in training
  // The wall time that a build may spend on a search, if an option asks for one; 0 = the worker's
  // own limit.
  int64_t search_ns = 0;
  std::map<std::string, std::string> options;
  bool profile = false;  // the result contains the cost of each kernel
  // With a profile: also keep the interval of each kernel, of so many timed steps.
  int64_t traced_steps = 0;
  // > 0: this many threads of the worker's process load the batches of cycled input during the
  // steps, and keep `prefetch` of them ready.
  int64_t data_threads = 0, prefetch = 2;
  // Parameters and state are read between the steps of a training, and set between the steps of the
  // inference network that evaluates them.
  bool evaluated = false;
};

// Evaluation of a training (record/evaluation.h).
struct EvaluationPlan {
  std::string data;   // the test split, as FORMAT:PATH with an absolute path; "" = none
  int64_t every = 1;  // steps from one evaluation to the next
  Target until;       // ends the run when it is reached
  bool any() const { return !data.empty(); }
};

// One slice of a job in turns: the steps to make now, warm-up steps first.
struct Turn {
  int64_t warmup_steps = 1, steps = 1;

  bool operator==(const Turn&) const = default;
};

struct Job : BuildSettings {
  Graph network;
  int64_t batch = 1;
  bool cycled = false;  // a new batch every step; otherwise one resident batch
  // Real data, with absolute paths (data/data_reference.h); "" = synthetic.
  std::string data;
  int64_t images = 0;  // samples in the data set; 0 = one batch
  int64_t labels = 0;  // distinct classes in the labels; 0 = all
  // Learning rate of step i; the last one continues. Empty = solver.lr for all steps.
  std::vector<double> lr_schedule;
  // > 0: continues a training after this many steps, whose parameters and state are in
  // tensors.load. The data and the random choices go on; the job's own steps still count from 0.
  int64_t first_step = 0;
  Budget budget;
  // Environment variables of the worker's process. Not part of the JSON: tench sets them.
  std::map<std::string, std::string> environment;
  TensorFiles tensors;
  Snapshots snapshots;
  TraceRequest trace;  // needs `profile`
  // After the warm-up the worker makes steps only when standard input tells it to: a Turn per line.
  // The end of standard input is the end of the steps.
  bool turns = false;
  EvaluationPlan evaluation;
};

// An option of one framework, declared in --describe.
struct WorkerOption {
  std::string name, help, fallback;
  std::vector<std::string> choices;  // empty = free text
};

// A setting that may be faster than the default. The runner tries the candidates of a worker in
// order (docs/protocol.md); a later one is tried on top of the best so far.
struct TuningCandidate {
  std::map<std::string, std::string> options, environment;
  std::vector<std::string> phases;  // the phases in which it has an effect; empty = all
  std::vector<std::string> ops;     // it has an effect with one of these ops only; empty = always
};

// The answer to --describe, also part of `hello`.
struct Description {
  int protocol = kProtocolVersion;
  std::string name;     // "reference"
  std::string version;  // of the framework
  Role role = Role::kFramework;
  std::vector<std::string> ops;                // abilities, see OpNeeds
  std::vector<std::string> updates = {"sgd"};  // abilities, see SolverNeeds
  std::vector<std::string> devices, precisions;
  std::vector<WorkerOption> options;
  std::vector<TuningCandidate> tuning;
  bool turns = false;                        // obeys Job::turns
  std::map<std::string, std::string> facts;  // other facts to store: build flags, BLAS
};

// The first line of a run: the worker and the libraries that it loaded.
struct Hello {
  Description worker;
  // Relevant shared objects of the process: BLAS, OpenMP, oneDNN, the framework.
  std::vector<std::string> libraries;
  std::string flush_to_zero;  // "on", "off", "unknown"
  int64_t rss_bytes = 0;      // before Build
};

struct Built {
  int64_t build_ns = 0;
  int64_t peak_rss_bytes = 0;                  // high-water mark so far
  int64_t planned_bytes = 0;                   // the framework's own estimate; 0 = none
  std::map<std::string, std::string> choices;  // what the worker selected by itself
  // Options that repeat this build without its search; empty if nothing was searched.
  std::map<std::string, std::string> frozen;
  // Phase gradient: every step writes the gradient of every trained parameter to memory. False = no
  // or unknown.
  bool gradients_materialized = false;
};

// Consecutive steps. While steps are executed, a line comes at least about every 0.2 s.
struct Steps {
  int64_t first = 0;  // number of the first step in this line, including warm-up
  bool warmup = false;
  std::vector<int64_t> step_ns;
  // SetBatch, and the wait for a batch that a loader fills; empty for fixed input.
  std::vector<int64_t> input_ns;
  std::vector<double> loss;
  int64_t compilations = 0;  // during these steps: XLA, a JIT compiler
};

// Job::turns: the worker waits for its next turn.
struct Ready {};

struct Done {
  bool converged = false;                // false under a stop rule: the time limit came first
  int64_t peak_rss_bytes = 0;            // high-water mark of the steps alone
  int64_t cpu_ns = 0, wall_ns = 0;       // over the timed steps
  std::vector<ProfileRow> profile = {};  // over the timed steps; empty unless requested
  // Of the threads that computed the timed steps: "on", "off", "mixed"; "" = unknown.
  std::string flush_to_zero = {};
  // Of the loader's threads, over all steps: the samples that they loaded and their CPU time.
  int64_t loaded_samples = 0, loading_ns = 0;
};

struct Failure {
  ErrorKind kind = ErrorKind::kFailed;  // "failed", "unsupported", "out_of_memory"
  std::string message;
};

using Message = std::variant<Hello, Built, Steps, Ready, Evaluation, Done, Failure>;

Json ToJson(const Job& job);
Result<Job> ParseJob(std::string_view text, std::string_view origin);

std::string ToLine(const Message& message);  // with "type", without the newline
// Unknown keys are allowed, unknown types are not.
Result<Message> ParseMessage(std::string_view line);

std::string TurnLine(const Turn& turn);  // without the newline
Result<Turn> ParseTurn(std::string_view line);

Json ToJson(const Description& description);
Result<Description> ParseDescription(std::string_view text, std::string_view origin);

}  // namespace tench
