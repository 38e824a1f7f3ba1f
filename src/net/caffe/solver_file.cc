// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/solver_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "net/caffe/net_reader.h"
#include "net/caffe/schema.pb.h"
#include "net/caffe/text_message.h"

namespace tench {
namespace {

constexpr double kMaxRate = 1e6;

const std::vector<std::string>& Types() {
  // In the order of SolverType.
  static const std::vector<std::string> types = {"SGD",     "Nesterov", "Adam",
                                                 "RMSProp", "AdaGrad",  "AdaDelta"};
  return types;
}

class SolverReader {
 public:
  SolverReader(const caffe::SolverParameter& from, const MessagePlaces& places,
               const std::string& origin)
      : from_(from), places_(places), origin_(origin) {}

  Result<CaffeSolver> Read(std::string_view text) {
    if (!places_.unknown.empty() && !HoldsNetwork()) {
      const UnknownField& field = places_.unknown.front();
      return Failed("{}:{}:{}: {}", origin_, field.line, field.column, Printable(field.message));
    }
    TENCH_TRY(ReadUpdate());
    TENCH_TRY(ReadRate());
    TENCH_TRY(ReadCourse());
    TENCH_TRY(ReadTests());
    TENCH_TRY(ReadNetwork(text));
    return std::move(to_);
  }

 private:
  bool HoldsNetwork() const {
    return from_.has_net_param() || from_.has_train_net_param() || from_.test_net_param_size() > 0;
  }

  // "solver.prototxt:3: momentum"
  std::string Where(const char* field, int index = -1) const {
    const int line = LineOf(places_.tree.get(), from_, field, index);
    return line > 0 ? fmt::format("{}:{}: {}", origin_, line, field)
                    : fmt::format("{}: {}", origin_, field);
  }
  Result<double> Real(const char* field, float value, double low, double high) const {
    const double real = DecimalOf(value);
    if (!(real >= low && real <= high))
      return Failed("{} is {}; it must be from {} to {}", Where(field), real, low, high);
    return real;
  }
  Result<int64_t> Count(const char* field, int64_t value, int64_t low) const {
    if (value < low) return Failed("{} is {}; it must be at least {}", Where(field), value, low);
    return value;
  }

  Status ReadType() {
    std::string type = from_.type();
    if (from_.has_solver_type()) {
      static const std::vector<std::string> kOld = {"SGD",     "Nesterov", "AdaGrad",
                                                    "RMSProp", "AdaDelta", "Adam"};
      if (from_.has_type()) return Failed("{} and type exclude each other", Where("solver_type"));
      type = kOld[static_cast<size_t>(from_.solver_type())];
    }
    const char* field = from_.has_solver_type() ? "solver_type" : "type";
    for (size_t i = 0; i < Types().size(); ++i) {
      if (Types()[i] == type) {
        to_.solver.type = static_cast<SolverType>(i);
        return Ok();
      }
    }
    return Failed("{} '{}' is unknown{}", Where(field), Printable(type), Hint(type, Types()));
  }

  Status ReadUpdate() {
    TENCH_TRY(ReadType());
    if (!from_.has_base_lr()) return Failed("{} is missing", Where("base_lr"));
    to_.solver.lr = TENCH_TRY(Real("base_lr", from_.base_lr(), 0, kMaxRate));
    to_.solver.momentum = TENCH_TRY(Real("momentum", from_.momentum(), 0, 1));
    to_.solver.weight_decay = TENCH_TRY(Real("weight_decay", from_.weight_decay(), 0, kMaxRate));
    to_.solver.momentum2 = TENCH_TRY(Real("momentum2", from_.momentum2(), 0, 1));
    to_.solver.delta = TENCH_TRY(Real("delta", from_.delta(), 0, 1));
    if (from_.clip_gradients() >= 0 || std::isnan(from_.clip_gradients()))
      to_.solver.clip_gradients =
          TENCH_TRY(Real("clip_gradients", from_.clip_gradients(), 0, 1e30));
    to_.solver.rms_decay = TENCH_TRY(Real("rms_decay", from_.rms_decay(), 0, 1));
    if (from_.regularization_type() == "L1")
      to_.solver.regularization = Regularization::kL1;
    else if (from_.regularization_type() != "L2")
      return Failed("{} '{}' is unknown; L1 and L2 are known", Where("regularization_type"),
                    Printable(from_.regularization_type()));
    to_.solver.iter_size = TENCH_TRY(Count("iter_size", from_.iter_size(), 1));
    const SolverType type = to_.solver.type;
    if ((type == SolverType::kRmsprop || type == SolverType::kAdagrad) && to_.solver.momentum != 0)
      return Failed("{} is {}; {} has no momentum", Where("momentum"), to_.solver.momentum,
                    Types()[static_cast<size_t>(type)]);
    if (UsesDelta(type) && to_.solver.delta == 0)
      return Failed("{} is 0; {} divides by it", Where("delta"),
                    Types()[static_cast<size_t>(type)]);
    return Ok();
  }

  // As in Caffe: test_net and test_net_param come first, then as many tests of `net` as test_iter
  // is longer.
  Status ReadTests() {
    to_.test_interval = TENCH_TRY(Count("test_interval", from_.test_interval(), 0));
    to_.test_initialization = from_.test_initialization();
    if (to_.test_interval == 0) {
      if (from_.test_iter_size() > 0)
        to_.notes.push_back("test_iter has no effect without a test_interval");
      return Ok();
    }
    if (from_.test_net_param_size() > 0)
      return Unsupported("{} is not supported; name a file with test_net",
                         Where("test_net_param", 0));
    if (from_.test_iter_size() == 0) return Failed("{} needs test_iter", Where("test_interval"));
    if (from_.test_iter_size() < from_.test_net_size())
      return Failed("{} test_iter for {} test_net", from_.test_iter_size(), from_.test_net_size());
    if (from_.test_state_size() > 0 && from_.test_state_size() != from_.test_iter_size())
      return Failed("{} test_state for {} test_iter", from_.test_state_size(),
                    from_.test_iter_size());
    for (int i = 0; i < from_.test_iter_size(); ++i) {
      CaffeTest test;
      if (i < from_.test_net_size()) test.net = from_.test_net(i);
      test.state.test = true;
      if (from_.test_state_size() > 0) {
        test.state.level = from_.test_state(i).level();
        test.state.stages.assign(from_.test_state(i).stage().begin(),
                                 from_.test_state(i).stage().end());
      }
      if (from_.test_iter(i) < 1)
        return Failed("{} is {}; it must be at least 1", Where("test_iter", i), from_.test_iter(i));
      test.iterations = from_.test_iter(i);
      if (test.net.empty() && !from_.has_net() && !from_.has_net_param())
        return Failed("{} has no network; name one with test_net", Where("test_iter", i));
      to_.tests.push_back(std::move(test));
    }
    return Ok();
  }

  Status ReadRate() {
    LearningRate& rate = to_.rate;
    rate.base = to_.solver.lr;
    const std::vector<std::string>& names = RatePolicyNames();
    const auto policy = std::find(names.begin(), names.end(), from_.lr_policy());
    if (!from_.has_lr_policy())
      return Failed("{} is missing; one of {}", Where("lr_policy"), Join(names, ", "));
    if (policy == names.end())
      return Failed("{} '{}' is unknown{}", Where("lr_policy"), Printable(from_.lr_policy()),
                    Hint(from_.lr_policy(), names));
    rate.policy = static_cast<RatePolicy>(policy - names.begin());
    rate.gamma = TENCH_TRY(Real("gamma", from_.gamma(), -kMaxRate, kMaxRate));
    rate.power = TENCH_TRY(Real("power", from_.power(), -kMaxRate, kMaxRate));
    rate.step_size = from_.stepsize();
    if (rate.policy == RatePolicy::kStep) TENCH_TRY(Count("stepsize", rate.step_size, 1));
    for (int i = 0; i < from_.stepvalue_size(); ++i) {
      if (i > 0 && from_.stepvalue(i) < from_.stepvalue(i - 1))
        return Failed("{} must increase", Where("stepvalue", i));
      rate.step_values.push_back(from_.stepvalue(i));
    }
    return Ok();
  }

  Status ReadCourse() {
    to_.max_iterations = TENCH_TRY(Count("max_iter", from_.max_iter(), 1));
    to_.rate.max_iterations = to_.max_iterations;
    to_.display = TENCH_TRY(Count("display", from_.display(), 0));
    to_.average_loss = TENCH_TRY(Count("average_loss", from_.average_loss(), 1));
    to_.snapshot = TENCH_TRY(Count("snapshot", from_.snapshot(), 0));
    to_.snapshot_after_train = from_.snapshot_after_train();
    to_.snapshot_prefix = SnapshotPrefix();
    if (from_.has_random_seed() && from_.random_seed() >= 0) to_.random_seed = from_.random_seed();
    for (const std::string& list : from_.weights()) {
      for (const std::string& file : Split(list, ',')) to_.weights.emplace_back(Trim(file));
    }
    if (from_.snapshot_format() == caffe::SolverParameter::HDF5)
      to_.notes.push_back("snapshots are written as .caffemodel, not as HDF5");
    return Ok();
  }

  std::string SnapshotPrefix() const {
    const std::filesystem::path file(origin_);
    if (!from_.has_snapshot_prefix()) return (file.parent_path() / file.stem()).string();
    std::error_code none;
    if (std::filesystem::is_directory(from_.snapshot_prefix(), none))
      return (std::filesystem::path(from_.snapshot_prefix()) / file.stem()).string();
    return from_.snapshot_prefix();
  }

  Status ReadNetwork(std::string_view text) {
    to_.state.level = from_.train_state().level();
    to_.state.stages.assign(from_.train_state().stage().begin(), from_.train_state().stage().end());
    const int given = from_.has_net() + from_.has_train_net() + from_.has_net_param() +
                      from_.has_train_net_param();
    if (given != 1)
      return Failed(
          "{}: it must name one network (net, train_net, net_param or train_net_param), not {}",
          origin_, given);
    to_.net = from_.has_net() ? from_.net() : from_.train_net();
    if (!from_.has_net_param() && !from_.has_train_net_param()) return Ok();
    const char* field = from_.has_net_param() ? "net_param" : "train_net_param";
    const auto* descriptor = from_.GetDescriptor()->FindFieldByName(field);
    const caffe::NetParameter& net =
        from_.has_net_param() ? from_.net_param() : from_.train_net_param();
    PrototxtRemarks remarks = TENCH_TRY(ReadRemarks(text, origin_));
    to_.network = TENCH_TRY(ReadNet({net, places_.tree->GetTreeForNested(descriptor, -1),
                                     places_.unknown, origin_, std::move(remarks)},
                                    to_.state));
    return Ok();
  }

  const caffe::SolverParameter& from_;
  const MessagePlaces& places_;
  const std::string& origin_;
  CaffeSolver to_;
};

}  // namespace

Result<CaffeSolver> ReadSolver(std::string_view text, const std::string& origin) {
  caffe::SolverParameter from;
  const MessagePlaces places = TENCH_TRY(ParseMessageText(text, origin, from));
  return SolverReader(from, places, origin).Read(text);
}

Result<CaffeSolver> ReadSolverFile(const std::string& path) {
  const std::string text = TENCH_TRY(ReadFile(path, kMostTextBytes));
  return ReadSolver(text, path);
}

std::string ResolveCaffePath(const std::string& name, const std::string& solver_path) {
  const std::filesystem::path named(name),
      folder = std::filesystem::path(solver_path).parent_path();
  std::error_code none;
  for (const std::filesystem::path& path : {named, folder / named, folder / named.filename()}) {
    if (std::filesystem::exists(path, none)) return path.string();
  }
  return name;
}

std::string NetworkPath(const CaffeSolver& solver, const std::string& solver_path) {
  return solver.network ? "" : ResolveCaffePath(solver.net, solver_path);
}

Result<CaffeNetwork> NetworkOf(const CaffeSolver& solver, const std::string& solver_path) {
  if (solver.network) return *solver.network;
  return ReadPrototxtFile(NetworkPath(solver, solver_path), solver.state);
}

std::string WriteSolver(const CaffeSolver& solver) {
  caffe::SolverParameter to;
  const auto narrow = [](double value) { return static_cast<float>(value); };
  if (!solver.net.empty()) to.set_net(solver.net);
  to.set_type(Types()[static_cast<size_t>(solver.solver.type)]);
  to.set_base_lr(narrow(solver.rate.base));
  to.set_lr_policy(RatePolicyNames()[static_cast<size_t>(solver.rate.policy)]);
  if (solver.rate.gamma != 0) to.set_gamma(narrow(solver.rate.gamma));
  if (solver.rate.power != 0) to.set_power(narrow(solver.rate.power));
  if (solver.rate.step_size != 0) to.set_stepsize(static_cast<int32_t>(solver.rate.step_size));
  for (const int64_t value : solver.rate.step_values) to.add_stepvalue(static_cast<int32_t>(value));
  to.set_momentum(narrow(solver.solver.momentum));
  to.set_weight_decay(narrow(solver.solver.weight_decay));
  // A file may set the fields of another type. Dropping them would change the solver.
  const SolverType type = solver.solver.type;
  if (type == SolverType::kAdam || solver.solver.momentum2 != Solver{}.momentum2)
    to.set_momentum2(narrow(solver.solver.momentum2));
  if (type == SolverType::kRmsprop || solver.solver.rms_decay != Solver{}.rms_decay)
    to.set_rms_decay(narrow(solver.solver.rms_decay));
  if (solver.solver.regularization == Regularization::kL1) to.set_regularization_type("L1");
  if (solver.solver.iter_size > 1) to.set_iter_size(static_cast<int32_t>(solver.solver.iter_size));
  if (solver.test_interval > 0) to.set_test_interval(static_cast<int32_t>(solver.test_interval));
  if (!solver.test_initialization) to.set_test_initialization(false);
  const bool states = std::ranges::any_of(solver.tests, [](const CaffeTest& test) {
    return test.state != CaffeState{0, {}, true};
  });
  for (const CaffeTest& test : solver.tests) {
    to.add_test_iter(static_cast<int32_t>(test.iterations));
    if (!test.net.empty()) to.add_test_net(test.net);
    if (!states) continue;
    caffe::NetState& state = *to.add_test_state();
    state.set_level(test.state.level);
    for (const std::string& stage : test.state.stages) state.add_stage(stage);
  }
  if (UsesDelta(type) || solver.solver.delta != Solver{}.delta)
    to.set_delta(narrow(solver.solver.delta));
  if (solver.solver.clip_gradients > 0) to.set_clip_gradients(narrow(solver.solver.clip_gradients));
  to.set_max_iter(static_cast<int32_t>(solver.max_iterations));
  to.set_display(static_cast<int32_t>(solver.display));
  if (solver.average_loss != 1) to.set_average_loss(static_cast<int32_t>(solver.average_loss));
  if (solver.snapshot > 0) to.set_snapshot(static_cast<int32_t>(solver.snapshot));
  if (!solver.snapshot_prefix.empty()) to.set_snapshot_prefix(solver.snapshot_prefix);
  if (!solver.snapshot_after_train) to.set_snapshot_after_train(false);
  if (solver.random_seed) to.set_random_seed(*solver.random_seed);
  for (const std::string& file : solver.weights) to.add_weights(file);
  if (solver.state.level != 0) to.mutable_train_state()->set_level(solver.state.level);
  for (const std::string& stage : solver.state.stages) to.mutable_train_state()->add_stage(stage);
  to.set_solver_mode(caffe::SolverParameter::CPU);
  std::string text;
  Check(google::protobuf::TextFormat::PrintToString(to, &text), "protobuf cannot print a solver");
  return text;
}

}  // namespace tench
