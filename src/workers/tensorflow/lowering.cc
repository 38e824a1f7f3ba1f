// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/lowering.h"

#include "net/op_traits.h"

namespace tench::tensorflow {
namespace {

class Lowerer {
 public:
  Lowerer(const TypedGraph& graph, const BuildOptions& options, GraphWriter& writer,
          const ParameterValues& constants)
      : graph_(graph),
        options_(options),
        writer_(writer),
        constants_(constants),
        needs_(NeedsGradient(graph)),
        layers_(graph.layers.size()),
        values_(graph.layers.size()),
        arriving_(graph.layers.size()) {
    program_.parameters.resize(graph.parameters.size());
    program_.momenta.resize(graph.parameters.size());
    program_.momenta2.resize(graph.parameters.size());
    program_.sums.resize(graph.parameters.size());
    program_.gradients.assign(graph.parameters.size(), TF_Output{nullptr, 0});
  }

  Result<Program> Go() {
    for (size_t i = 0; i < graph_.layers.size(); ++i) Forward(i);
    SumLosses();
    if (options_.phase != Phase::kForward) {
      for (size_t i = graph_.layers.size(); i-- > 0;) {
        if (needs_[i]) Backward(i);
      }
      AddTargets();
    }
    TENCH_TRY(writer_.status());
    return std::move(program_);
  }

 private:
  void SetScope(char part, size_t layer) {
    writer_.SetScope(fmt::format("{}.{}.{}", part, layer, graph_.layers[layer].layer.name));
  }

  void Forward(size_t i) {
    SetScope('f', i);
    const Op& op = graph_.layers[i].layer.op;
    const LayerSite site(graph_, i, options_, writer_, values_, needs_, program_.parameters,
                         constants_);
    layers_[i] = std::visit(
        Overload{[&](const Input&) { return MakeInput(i); },
                 [&](const Convolution& o) { return LowerConvolution(o, site); },
                 [&](const Pooling& o) { return LowerPooling(o, site); },
                 [&](const Lrn& o) { return LowerLrn(o, site); },
                 [&](const Relu& o) {
                   return o.negative_slope == 0 ? LowerUnary("Relu", site)
                                                : LowerLeakyRelu(o, site);
                 },
                 [&](const Sigmoid&) { return LowerUnary("Sigmoid", site); },
                 [&](const Tanh&) { return LowerUnary("Tanh", site); },
                 [&](const Power& o) { return LowerPower(o, site); },
                 [&](const FullyConnected& o) { return LowerFullyConnected(o, site); },
                 [&](const Dropout& o) { return LowerDropout(o, site); },
                 [&](const Concat&) { return LowerConcat(site); },
                 [&](const Slice& o) { return LowerSlice(o, site); },
                 [&](const Add& o) {
                   return o.coefficients.empty() ? LowerAdd(site) : LowerWeightedSum(o, site);
                 },
                 [&](const Multiply&) { return LowerProduct(site); },
                 [&](const Maximum&) { return LowerMaximum(site); },
                 [&](const Flatten&) { return LowerFlatten(site); },
                 [&](const Reshape&) { return LowerReshape(site); },
                 [&](const Scale& o) { return LowerScale(o, site); },
                 [&](const Softmax&) { return LowerSoftmax(site); },
                 [&](const BatchNorm& o) { return LowerBatchNorm(o, site); },
                 [&](const Embedding&) { return LowerEmbedding(site); },
                 [&](const Lstm& o) { return LowerLstm(o, site); },
                 [&](const MeanOverTime&) { return LowerMeanOverTime(site); },
                 [&](const SoftmaxCrossEntropy& o) { return LowerSoftmaxCrossEntropy(o, site); },
                 [&](const SigmoidCrossEntropy& o) { return LowerSigmoidCrossEntropy(o, site); },
                 [&](const MeanSquaredError& o) { return LowerMeanSquaredError(o, site); }},
        op);
    values_[i] = layers_[i].value;
    program_.outputs.push_back(Fetchable(i));
    program_.layouts.push_back(values_[i].layout);
    if (options_.phase != Phase::kForward)
      program_.targets.insert(program_.targets.end(), layers_[i].side_effects.begin(),
                              layers_[i].side_effects.end());
  }

  // Grappler fuses a convolution, its bias and a LeakyRelu although the inner output is fetched
  // (seen in 2.21). A second reader of that output prevents the fusion in observing builds.
  TF_Output Fetchable(size_t i) {
    const TF_Output output = values_[i].output;
    if (!options_.observe || graph_.layers[i].output.dtype != DType::kF32) return output;
    return writer_.Add("Identity", "observed").In(output).Output();
  }

  // The batch stays in a variable in TensorFlow's layout; the fed value is in the logical order.
  LoweredLayer MakeInput(size_t i) {
    const TensorType& type = graph_.layers[i].output;
    const HostLayout layout = UsualLayout(type.shape);
    const TF_DataType dtype = type.dtype == DType::kF32 ? TF_FLOAT : TF_INT32;
    Variable variable;
    const Dims dims = layout.PhysicalSizes();
    variable.dims = type.shape;
    variable.layout = layout;
    variable.handle = writer_.Add("VarHandleOp", "batch")
                          .Type("dtype", dtype)
                          .Shape("shape", dims)
                          .Text("shared_name", fmt::format("batch.{}", i))
                          .Output();
    variable.read =
        writer_.Add("ReadVariableOp", "read").In(variable.handle).Type("dtype", dtype).Output();
    variable.value =
        writer_.Add("Placeholder", "fed").Type("dtype", dtype).Shape("shape", type.shape).Output();
    TF_Output moved = variable.value;
    if (!layout.plain()) {
      moved = writer_.Add("Transpose")
                  .In(moved)
                  .In(writer_.Integers({layout.order.begin(), layout.order.end()}))
                  .Output();
    } else if (dims != type.shape) {
      moved = writer_.Add("Reshape").In(moved).In(writer_.Integers(dims)).Output();
    }
    variable.assign = writer_.Add("AssignVariableOp", "assign")
                          .In(variable.handle)
                          .In(moved)
                          .Type("dtype", dtype)
                          .Node();
    program_.inputs.push_back(variable);
    return {{variable.read, layout}, nullptr, {}};
  }

  void SumLosses() {
    writer_.SetScope("loss");
    std::vector<TF_Output> losses;
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      if (IsLoss(graph_.layers[i].layer.op)) losses.push_back(values_[i].output);
    }
    program_.loss = losses.size() == 1 ? losses[0] : writer_.Add("AddN").InList(losses).Output();
  }

  TF_Output Sum(const std::vector<TF_Output>& parts) {
    return parts.size() == 1 ? parts[0] : writer_.Add("AddN", "sum").InList(parts).Output();
  }

  void Backward(size_t i) {
    SetScope('b', i);
    const TypedLayer& layer = graph_.layers[i];
    const bool loss = IsLoss(layer.layer.op);
    if (!loss && arriving_[i].empty()) return;
    const TF_Output dy = loss ? TF_Output{nullptr, 0} : Sum(arriving_[i]);
    const LayerGradients gradients =
        layers_[i].backward ? layers_[i].backward(dy) : Differentiate(i, loss ? nullptr : &dy);
    for (size_t k = 0; k < layer.inputs.size(); ++k) {
      if (k < gradients.inputs.size() && gradients.inputs[k].oper != nullptr)
        arriving_[layer.inputs[k]].push_back(gradients.inputs[k]);
    }
    size_t next = 0;
    for (const size_t p : layer.parameters) {
      if (graph_.parameters[p].trained) program_.gradients[p] = gradients.parameters[next++];
    }
  }

  // TF_AddGradients from the layer's output to its first input and its parameters. Layers with
  // several differentiable inputs write their own nodes.
  LayerGradients Differentiate(size_t i, const TF_Output* dy) {
    const TypedLayer& layer = graph_.layers[i];
    std::vector<TF_Output> xs;
    const bool to_input = needs_[layer.inputs[0]];
    if (to_input) xs.push_back(values_[layer.inputs[0]].output);
    for (const size_t p : layer.parameters) {
      if (graph_.parameters[p].trained) xs.push_back(program_.parameters[p].read);
    }
    const std::vector<TF_Output> all = writer_.Gradients(values_[i].output, dy, xs);
    LayerGradients gradients;
    gradients.inputs = {to_input ? all[0] : TF_Output{nullptr, 0}};
    gradients.parameters.assign(all.begin() + (to_input ? 1 : 0), all.end());
    return gradients;
  }

  void AddTargets() {
    if (!writer_.status()) return;
    if (options_.phase == Phase::kGradient) {
      // Targets of the run: as inputs of a node without outputs, Grappler would prune them and the
      // backward pass.
      for (const TF_Output& gradient : program_.gradients) {
        if (gradient.oper != nullptr) program_.targets.push_back(gradient.oper);
      }
      return;
    }
    const std::vector<TF_Operation*> effects = program_.targets;
    const std::vector<TF_Output> sums = AddSums();
    const std::vector<TF_Output> clipped =
        Mean(options_.solver.clip_gradients > 0 ? Clip(sums) : sums);
    std::vector<TF_Output> decayed(graph_.parameters.size(), TF_Output{nullptr, 0});
    for (size_t p = 0; p < graph_.parameters.size(); ++p) {
      if (clipped[p].oper != nullptr) decayed[p] = Decay(p, clipped[p]);
    }
    if (!writer_.status()) return;
    std::vector<TF_Operation*> computed{program_.loss.oper};
    for (const TF_Output& gradient : decayed) {
      if (gradient.oper != nullptr) computed.push_back(gradient.oper);
    }
    const std::set<const TF_Operation*> needed = writer_.Needed(computed);
    std::vector<TF_Operation*> updates;
    for (size_t p = 0; p < graph_.parameters.size(); ++p) {
      if (decayed[p].oper != nullptr) updates.push_back(Update(p, decayed[p], needed));
    }
    for (size_t p = 0; p < sums.size(); ++p) {
      if (program_.sums[p]) updates.push_back(ClearSum(p, sums[p]));
    }
    writer_.SetScope("step");
    for (TF_Operation* power : RaisePowers(updates)) updates.push_back(power);
    NodeDraft step = writer_.Add("NoOp", "train");
    for (TF_Operation* update : updates) step.After(update);
    for (TF_Operation* effect : effects) step.After(effect);
    program_.targets = {step.Node()};
    program_.accumulate_targets.insert(program_.accumulate_targets.end(), effects.begin(),
                                       effects.end());
  }

  // With iter_size > 1 the sums over a step's batches, otherwise the gradients.
  std::vector<TF_Output> AddSums() {
    std::vector<TF_Output> sums = program_.gradients;
    if (options_.solver.iter_size == 1) return sums;
    for (size_t p = 0; p < sums.size(); ++p) {
      if (sums[p].oper == nullptr) continue;
      SetUpdateScope(p);
      const Variable& parameter = program_.parameters[p];
      program_.sums[p] = MakeVariable(writer_, "sum", TF_FLOAT, parameter.dims, parameter.layout);
      program_.accumulate_targets.push_back(writer_.Add("AssignAddVariableOp", "accumulate")
                                                .In(program_.sums[p]->handle)
                                                .In(sums[p])
                                                .Type("dtype", TF_FLOAT)
                                                .Node());
      sums[p] = writer_.Add("AddV2", "total").In(program_.sums[p]->read).In(sums[p]).Output();
    }
    return sums;
  }

  std::vector<TF_Output> Mean(std::vector<TF_Output> sums) {
    if (options_.solver.iter_size == 1) return sums;
    const auto part = static_cast<float>(1 / static_cast<double>(options_.solver.iter_size));
    for (size_t p = 0; p < sums.size(); ++p) {
      if (sums[p].oper == nullptr) continue;
      SetUpdateScope(p);
      sums[p] = writer_.Add("Mul", "mean").In(sums[p]).In(writer_.Scalar(part)).Output();
    }
    return sums;
  }

  // After the last batch, whose total has been read.
  TF_Operation* ClearSum(size_t p, TF_Output total) {
    SetUpdateScope(p);
    const TF_Output zeros = writer_.Add("ZerosLike", "zeros").In(total).Output();
    return writer_.Add("AssignVariableOp", "clear")
        .In(program_.sums[p]->handle)
        .In(zeros)
        .Type("dtype", TF_FLOAT)
        .Node();
  }

  void SetUpdateScope(size_t p) {
    writer_.SetScope(fmt::format("u.{}.{}", graph_.parameters[p].layer, graph_.parameters[p].name));
  }

  // As in tf.clip_by_global_norm.
  std::vector<TF_Output> Clip(const std::vector<TF_Output>& gradients) {
    writer_.SetScope("clip");
    std::vector<TF_Output> halves;
    for (size_t p = 0; p < graph_.parameters.size(); ++p) {
      if (gradients[p].oper != nullptr && graph_.parameters[p].lr_mult != 0)
        halves.push_back(writer_.Add("L2Loss").In(gradients[p]).Output());
    }
    if (halves.empty()) return gradients;
    const auto limit = static_cast<float>(options_.solver.clip_gradients);
    const TF_Output squares =
        writer_.Add("Mul", "squares").In(Sum(halves)).In(writer_.Scalar(2.0f)).Output();
    const TF_Output norm = writer_.Add("Sqrt", "norm").In(squares).Output();
    const TF_Output larger = writer_.Add("Maximum").In(norm).In(writer_.Scalar(limit)).Output();
    const TF_Output scale =
        writer_.Add("RealDiv", "scale").In(writer_.Scalar(limit)).In(larger).Output();
    std::vector<TF_Output> clipped = gradients;
    for (TF_Output& gradient : clipped) {
      if (gradient.oper != nullptr)
        gradient = writer_.Add("Mul", "clipped").In(gradient).In(scale).Output();
    }
    return clipped;
  }

  TF_Output Decay(size_t p, TF_Output gradient) {
    const double decay = options_.solver.weight_decay * graph_.parameters[p].decay_mult;
    if (decay == 0) return gradient;
    SetUpdateScope(p);
    const TF_Output read = program_.parameters[p].read;
    const bool l1 = options_.solver.regularization == Regularization::kL1;
    const TF_Output pull = writer_.Add("Mul", "decay")
                               .In(l1 ? writer_.Add("Sign").In(read).Output() : read)
                               .In(writer_.Scalar(static_cast<float>(decay)))
                               .Output();
    return writer_.Add("AddV2", "decayed").In(gradient).In(pull).Output();
  }

  TF_Operation* Update(size_t p, TF_Output gradient, const std::set<const TF_Operation*>& needed) {
    SetUpdateScope(p);
    const Variable& parameter = program_.parameters[p];
    program_.momenta[p] =
        MakeVariable(writer_, "momentum", TF_FLOAT, parameter.dims, parameter.layout);
    const TF_Output rate = Rate(graph_.parameters[p].lr_mult);
    SetUpdateScope(p);
    const SolverType type = options_.solver.type;
    if (HasSecondHistory(type) || type == SolverType::kRmsprop)
      program_.momenta2[p] =
          MakeVariable(writer_, "momentum2", TF_FLOAT, parameter.dims, parameter.layout);
    NodeDraft update = UpdateNode(p, rate, gradient);
    // An update must wait for the readers of the weights, or it would copy them first.
    for (TF_Operation* reader : writer_.Consumers(parameter.read)) {
      if (needed.contains(reader)) update.After(reader);
    }
    return update.Node();
  }

  // TensorFlow's RMSProp adds epsilon inside of the root. Its Adam with beta1 = 0, Nesterov
  // momentum and no bias correction is Caffe's RMSProp: the step is rate·g / (√v + epsilon).
  NodeDraft UpdateNode(size_t p, TF_Output rate, TF_Output gradient) {
    const Solver& solver = options_.solver;
    const auto scalar = [&](double value) { return writer_.Scalar(static_cast<float>(value)); };
    const bool adam = solver.type == SolverType::kAdam;
    const TF_Output power = adam ? PowerOf(0) : TF_Output{},
                    power2 = adam ? PowerOf(1) : TF_Output{};
    SetUpdateScope(p);
    const TF_Output delta = scalar(solver.delta), momentum = scalar(solver.momentum);
    const TF_Output parameter = program_.parameters[p].handle,
                    history = program_.momenta[p]->handle,
                    second = program_.momenta2[p] ? program_.momenta2[p]->handle : TF_Output{};
    switch (solver.type) {
      case SolverType::kAdam: {
        const TF_Output momentum2 = scalar(solver.momentum2);
        NodeDraft update = writer_.Add("ResourceApplyAdam");
        update.In(parameter).In(history).In(second).In(power).In(power2).In(rate);
        update.In(momentum).In(momentum2).In(delta).In(gradient);
        return update;
      }
      case SolverType::kRmsprop: {
        const TF_Output zero = scalar(0), decay = scalar(solver.rms_decay);
        NodeDraft update = writer_.Add("ResourceApplyAdam");
        update.In(parameter).In(second).In(history).In(zero).In(zero).In(rate);
        update.In(zero).In(decay).In(delta).In(gradient).Bool("use_nesterov", true);
        return update;
      }
      case SolverType::kAdagrad: {
        NodeDraft update = writer_.Add("ResourceApplyAdagradV2");
        update.In(parameter).In(history).In(rate).In(delta).In(gradient);
        return update;
      }
      case SolverType::kAdadelta: {
        NodeDraft update = writer_.Add("ResourceApplyAdadelta");
        update.In(parameter).In(history).In(second).In(rate).In(momentum).In(delta).In(gradient);
        return update;
      }
      case SolverType::kSgd:
      case SolverType::kNesterov:
        break;
    }
    NodeDraft update = writer_.Add("ResourceApplyKerasMomentum");
    update.In(parameter).In(history).In(rate).In(gradient).In(momentum).Bool(
        "use_nesterov", solver.type == SolverType::kNesterov);
    return update;
  }

  // The variable of momentum (0) or momentum2 (1).
  TF_Output PowerOf(size_t which) {
    while (program_.powers.size() < 2) {
      writer_.SetScope("power");
      const bool first = program_.powers.empty();
      program_.powers.push_back(
          {first ? options_.solver.momentum : options_.solver.momentum2,
           MakeVariable(writer_, first ? "momentum" : "momentum2", TF_FLOAT, {}, {})});
    }
    return program_.powers[which].variable.read;
  }

  // Runs after the updates, for the next ones.
  std::vector<TF_Operation*> RaisePowers(const std::vector<TF_Operation*>& updates) {
    std::vector<TF_Operation*> raised;
    for (const RateVariable& power : program_.powers) {
      const TF_Output factor = writer_.Scalar(static_cast<float>(power.multiplier));
      NodeDraft assign = writer_.Add("AssignVariableOp", "raise");
      assign.In(power.variable.handle)
          .In(writer_.Add("Mul").In(power.variable.read).In(factor).Output())
          .Type("dtype", TF_FLOAT);
      for (TF_Operation* update : updates) assign.After(update);
      raised.push_back(assign.Node());
    }
    return raised;
  }

  TF_Output Rate(double multiplier) {
    for (const RateVariable& rate : program_.rates) {
      if (rate.multiplier == multiplier) return rate.variable.read;
    }
    writer_.SetScope("rate");
    program_.rates.push_back(
        {multiplier,
         MakeVariable(writer_, fmt::format("rate.{}", program_.rates.size()), TF_FLOAT, {}, {})});
    return program_.rates.back().variable.read;
  }

  const TypedGraph& graph_;
  const BuildOptions& options_;
  GraphWriter& writer_;
  const ParameterValues& constants_;
  const std::vector<bool> needs_;
  std::vector<LoweredLayer> layers_;
  std::vector<Value> values_;
  // Gradients of each layer's output, one per reader.
  std::vector<std::vector<TF_Output>> arriving_;
  Program program_;
};

}  // namespace

Variable MakeVariable(GraphWriter& writer, std::string_view label, TF_DataType type,
                      const Dims& dims, HostLayout layout) {
  Variable variable;
  variable.dims = dims;
  variable.layout = std::move(layout);
  const std::string name(label);
  variable.handle = writer.Add("VarHandleOp", name)
                        .Type("dtype", type)
                        .Shape("shape", dims)
                        .Text("shared_name", writer.scope() + "/" + name)
                        .Output();
  variable.read =
      writer.Add("ReadVariableOp", name + ".read").In(variable.handle).Type("dtype", type).Output();
  variable.value =
      writer.Add("Placeholder", name + ".fed").Type("dtype", type).Shape("shape", dims).Output();
  variable.assign = writer.Add("AssignVariableOp", name + ".assign")
                        .In(variable.handle)
                        .In(variable.value)
                        .Type("dtype", type)
                        .Node();
  return variable;
}

TF_Output LayerSite::PlainIn(size_t i) const {
  const Value& value = input(i);
  const bool flattened_image = shape(i).size() == 2 && !value.layout.plain();
  if (!flattened_image) return value.output;
  // (N, H·W·C) to an image, to the order C, H, W, to flat again.
  const TF_Output image = writer.Add("Reshape", "image")
                              .In(value.output)
                              .In(writer.Integers(value.layout.PhysicalSizes()))
                              .Output();
  const TF_Output moved =
      writer.Add("Transpose", "logical").In(image).In(writer.Integers({0, 3, 1, 2})).Output();
  return writer.Add("Reshape", "flat").In(moved).In(writer.Integers(shape(i))).Output();
}

TF_Output LayerSite::Parameter(size_t i, HostLayout layout) const {
  const size_t p = graph_.layers[layer_].parameters[i];
  const Dims dims = layout.PhysicalSizes();
  // The rank of a filter or matrix; the layout counts an image's dimensions separately.
  const bool matrix = graph_.parameters[p].shape.size() == 2 && dims.size() == 4;
  const Dims shape = matrix ? Dims{dims[0] * dims[1] * dims[2], dims[3]} : dims;
  parameters_[p] =
      MakeVariable(writer, graph_.parameters[p].name, TF_FLOAT, shape, std::move(layout));
  return constants_.empty() ? parameters_[p].read : writer.Constant(constants_[p], shape);
}

HostLayout UsualLayout(const Shape& shape) {
  if (shape.size() != 4) return {shape, {}};
  return MakeLayout(shape, {0, 2, 3, 1});
}

Result<Program> Lower(const TypedGraph& graph, const BuildOptions& options, GraphWriter& writer,
                      const ParameterValues& constants) {
  return Lowerer(graph, options, writer, constants).Go();
}

}  // namespace tench::tensorflow
