# SPDX-License-Identifier: Apache-2.0
"""PyTorch from Python, eager or compiled.

Ops are those of torch.nn.functional, the update is torch.optim.SGD with one parameter group per
pair of multipliers. The C++ worker `torch` runs the library without Python.
"""
import os
import shutil

import numpy as np

from tench_worker import (HUGE_PAGES, SHORT_SPIN, Adapter, BuildFacts, Option, Unsupported,
                          candidate)
from tench_worker.lowering import Lowering
from tench_worker.network import ABILITIES
from tench_worker.process_facts import cache_folder
from tench_worker.profile import IntervalClock, ProfileRows


MODE = Option("mode", "`eager`, or `compile`: torch.compile with inductor (PyTorch 2)", "eager",
              ("eager", "compile"))


class Worker(Adapter):
    name = "torch-python"
    package = "torch"
    gpu = "the environment has no CUDA libraries"
    ops = ABILITIES
    updates = ("sgd", "nesterov", "clip_gradients")
    options = (MODE,)
    tuning = (candidate({"mode": "compile"}), SHORT_SPIN, HUGE_PAGES)

    def load(self, job):
        global torch, F
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache_folder("inductor")
        # Compiles in this process: a pool of compilers would outlive the build.
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
        import torch
        import torch.nn.functional as F
        torch.set_num_threads(job.threads)
        if hasattr(torch, "set_num_interop_threads"):
            torch.set_num_interop_threads(1)

    def build(self, graph, job):
        self.graph, self.job, self.rate = graph, job, job.solver.lr
        self.trained, self.statistics, self.lstms = {}, {}, {}
        for parameter in self.graph.trained:
            tensor = torch.zeros(*parameter.shape)
            self.trained[parameter.name] = tensor.requires_grad_(self.job.phase != "forward")
        for parameter in self.graph.statistics:
            self.statistics[parameter.name] = torch.zeros(*parameter.shape)
        for layer in self.graph.layers:
            if layer.op == "lstm":
                self.lstms[layer.name] = self._make_lstm(layer)
        self.optimizer = self._make_optimizer() if self.job.phase == "train" else None
        self.profiled = ProfileRows() if job.profile else None
        self.clock = IntervalClock(self.profiled) if job.profile else None
        self.network = _Network(self)
        mode = job.option(MODE)
        self._select(mode)
        return BuildFacts(0, {"mode": mode}, gradients_materialized=True)

    def _lacks_compiler(self):
        if not hasattr(torch, "compile"):
            return "PyTorch %s has no torch.compile" % torch.__version__
        if shutil.which("g++") is None:
            return "torch.compile needs a C++ compiler; as root: apt-get install g++"
        return None

    def _select(self, mode):
        self.call = self.network.run
        if mode == "eager":
            return
        if self._lacks_compiler() is not None:
            raise Unsupported("option 'mode': %s" % self._lacks_compiler())
        if self.job.profile:
            raise Unsupported("option 'mode': a compiled network has no profile by layer")
        # An observing build reads every layer, so nothing is fused in it.
        if not self.job.observe:
            self.call = torch.compile(self.network.run)
            self._try_batch()
            self.step(self.job.phase)  # the first step compiles

    def compilations(self):
        """Dynamo's count of compiled frames: it grows when a guard fails, too."""
        if self.job.option(MODE) == "eager":
            return None
        import torch._dynamo.utils
        return torch._dynamo.utils.counters["frames"]["total"]

    def _try_batch(self):
        """Any batch; the contract sets batch, parameters and state afterwards."""
        self.set_batch({layer.name: np.ones(layer.shape, np.float32 if layer["role"] == "data"
                                            else np.int32) for layer in self.graph.inputs})

    def _make_lstm(self, layer):
        """nn.LSTM with our weights; its second bias stays zero and is not trained."""
        module = torch.nn.LSTM(layer.inputs[0].shape[2], layer["hidden"], batch_first=True)
        for theirs, suffix in (("weight_ih_l0", "weight_input"), ("weight_hh_l0", "weight_hidden"),
                               ("bias_ih_l0", "bias")):
            self.trained["%s.%s" % (layer.name, suffix)] = getattr(module, theirs)
            getattr(module, theirs).requires_grad_(self.job.phase != "forward")
        with torch.no_grad():
            module.bias_hh_l0.zero_()
        module.bias_hh_l0.requires_grad_(False)
        return module

    def _make_optimizer(self):
        solver, groups = self.job.solver, {}
        for p in self.graph.trained:
            groups.setdefault((p.lr_mult, p.decay_mult), []).append(self.trained[p.name])
        settings = [{"params": tensors, "lr": self.rate * lr_mult, "lr_mult": lr_mult,
                     "weight_decay": solver.weight_decay * decay_mult}
                    for (lr_mult, decay_mult), tensors in groups.items()]
        return torch.optim.SGD(settings, lr=self.rate, momentum=solver.momentum,
                               nesterov=solver.type == "nesterov")

    # --- the contract ---

    def set_parameters(self, source):
        torch.manual_seed(self.job.seed % (1 << 63))
        with torch.no_grad():
            for p in self.graph.trained:
                self.trained[p.name].copy_(torch.from_numpy(np.array(source(p.name))))
        if self.optimizer is not None:
            self.optimizer.state.clear()

    def parameters(self, sink):
        for p in self.graph.trained:
            sink(p.name, self.trained[p.name].detach().contiguous().numpy())

    def _factor(self, parameter):
        """tench's momentum includes the rate, PyTorch's does not."""
        return self.rate * parameter.lr_mult

    def set_state(self, source):
        for p in self.graph.statistics:
            self.statistics[p.name].copy_(torch.from_numpy(np.array(source(p.name))))
        if self.optimizer is None:
            return
        for p in self.graph.trained:
            tensor, factor = self.trained[p.name], self._factor(p)
            values = np.array(source(p.name + ".momentum"))
            values = values / np.float32(factor) if factor else np.zeros_like(values)
            buffer = torch.zeros_like(tensor).detach()
            self.optimizer.state[tensor]["momentum_buffer"] = \
                buffer.copy_(torch.from_numpy(values))

    def state(self, sink):
        for p in self.graph.statistics:
            sink(p.name, self.statistics[p.name].numpy())
        if self.optimizer is None:
            return
        for p in self.graph.trained:
            buffer = self.optimizer.state[self.trained[p.name]]["momentum_buffer"]
            sink(p.name + ".momentum", buffer.contiguous().numpy() * np.float32(self._factor(p)))

    def set_batch(self, inputs):
        self.batch = {}
        for name, values in inputs.items():
            tensor = torch.from_numpy(np.array(values))
            self.batch[name] = tensor if tensor.is_floating_point() else tensor.long()

    def set_learning_rate(self, rate):
        old, self.rate = self.rate, rate
        if self.optimizer is None or rate == old:
            return
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["lr_mult"]
        if rate == 0:
            return
        # Past updates keep their size.
        for state in self.optimizer.state.values():
            state["momentum_buffer"].mul_(old / rate)

    def _clip(self):
        limit = self.job.solver.clip_gradients
        gradients = [self.trained[p.name].grad for p in self.graph.trained if p.lr_mult != 0]
        norm = float(torch.sqrt(sum((g * g).sum() for g in gradients)))
        if norm > limit:
            for gradient in gradients:
                gradient.mul_(limit / norm)

    def step(self, phase):
        if phase == "forward":
            with torch.no_grad():
                loss = self.call(self.batch)
            if self.clock is not None:
                self.clock.end()
            return float(loss)
        for tensor in self.trained.values():
            tensor.grad = None
        loss = self.call(self.batch)
        if self.clock is None:
            loss.backward()
            if phase == "train":
                self._update()
        else:
            self.clock.end()
            loss.backward()
            if phase == "train":
                self.clock.begin("", "update", "SGD")
                self._update()
            self.clock.end()
        return float(loss.detach())

    def restart_profile(self):
        if self.profiled is not None:
            self.profiled.clear()

    def profile(self):
        return self.profiled.rows()

    def _update(self):
        if self.job.observe:
            self.kept = {p.name: self.trained[p.name].grad.clone() for p in self.graph.trained}
        if self.job.solver.clip_gradients > 0:
            self._clip()
        self.optimizer.step()

    def gradients(self, sink):
        for p in self.graph.trained:
            kept = self.kept[p.name] if self.job.phase == "train" else self.trained[p.name].grad
            sink(p.name, kept.contiguous().numpy())

    def outputs(self, layers, sink):
        for name in layers:
            sink(name, self.network.values[name].detach().contiguous().numpy())


class _Network(Lowering):
    """The model: run(batch) returns the loss."""

    def __init__(self, worker):
        super(_Network, self).__init__(worker.graph, worker.job)
        self.lstms, self.trained, self.statistics = worker.lstms, worker.trained, worker.statistics
        self.keeps_values = worker.job.observe
        if worker.clock is not None:
            self._calls = [(self.timed(call, worker.clock), layer) for call, layer in self._calls]

    @staticmethod
    def timed(call, clock):
        """The gradient of a layer's output is ready when the layer's backward pass begins."""
        def lower(layer, *inputs):
            clock.begin(layer.name, "forward", layer.op)
            value = call(layer, *inputs)
            if value.requires_grad:
                value.register_hook(lambda _: clock.begin(layer.name, "backward", layer.op))
            return value
        return lower

    def weight(self, layer, suffix="weight"):
        return self.trained["%s.%s" % (layer.name, suffix)]

    def bias(self, layer):
        return self.weight(layer, "bias") if layer.has_bias else None

    def conv(self, layer, x):
        return F.conv2d(x, self.weight(layer), self.bias(layer), layer["stride"], layer["pad"],
                        layer["dilation"], layer["groups"])

    def pool(self, layer, x):
        kernel, stride, pad = layer["kernel"], layer["stride"], layer["pad"]
        if layer["global"]:
            one = F.adaptive_max_pool2d if layer["mode"] == "max" else F.adaptive_avg_pool2d
            return one(x, 1)
        # PyTorch allows pads up to half of the kernel.
        if any(2 * p > k for p, k in zip(pad, kernel)):
            raise Unsupported("layer '%s': PyTorch has no pool with a pad above half the kernel" %
                              layer.name)
        if layer["mode"] == "max":
            return F.max_pool2d(x, kernel, stride, pad, ceil_mode=layer["ceil_mode"])
        return F.avg_pool2d(x, kernel, stride, pad, layer["ceil_mode"], True)

    def lrn(self, layer, x):
        if layer["region"] == "across_channels":
            return F.local_response_norm(x, layer["size"], layer["alpha"], layer["beta"],
                                         layer["k"])
        size = layer["size"]
        mean = F.avg_pool2d(x * x, size, 1, size // 2, False, True)
        return x / (layer["k"] + layer["alpha"] * mean) ** layer["beta"]

    def relu(self, layer, x):
        slope = layer["negative_slope"]
        return F.relu(x) if slope == 0 else F.leaky_relu(x, slope)

    def sigmoid(self, layer, x):
        return torch.sigmoid(x)

    def tanh(self, layer, x):
        return torch.tanh(x)

    def power(self, layer, x):
        if layer["power"] == 0 or layer["scale"] == 0:
            return torch.full_like(x, float(layer["shift"]) ** layer["power"]).detach()
        base = layer["shift"] + layer["scale"] * x
        return base if layer["power"] == 1 else torch.pow(base, layer["power"])

    def fc(self, layer, x):
        return F.linear(x, self.weight(layer), self.bias(layer))

    def dropout(self, layer, x):
        return F.dropout(x, layer["ratio"], self.training and self.job.dropout)

    def concat(self, layer, *inputs):
        return torch.cat(inputs, 1)

    def slice(self, layer, x):
        return x[:, layer["begin"]:layer["end"]]

    def larger(self, x, y):
        return torch.max(x, y)

    def flatten(self, layer, x):
        return x.reshape(layer.shape)

    reshape = flatten

    def batch_norm(self, layer, x):
        weight = self.weight(layer) if layer.has_weight else None
        return F.batch_norm(x, self.statistics[layer.name + ".running_mean"],
                            self.statistics[layer.name + ".running_var"], weight,
                            self.bias(layer), self.training, layer["momentum"], layer["eps"])

    def scale(self, layer, x):
        view = (1, -1, 1, 1) if x.dim() == 4 else (1, -1)
        y = x * self.weight(layer).view(*view)
        return y + self.bias(layer).view(*view) if layer.has_bias else y

    def softmax(self, layer, x):
        return F.softmax(x, 1)

    def embedding(self, layer, tokens):
        return F.embedding(tokens, self.weight(layer))

    def lstm(self, layer, x):
        return self.lstms[layer.name](x)[0]

    def mean_over_time(self, layer, x, lengths):
        steps = torch.arange(x.size(1)).unsqueeze(0)
        mask = (steps < lengths.unsqueeze(1)).to(x.dtype).unsqueeze(2)
        return (x * mask).sum(1) / lengths.to(x.dtype).unsqueeze(1)

    def softmax_cross_entropy(self, layer, scores, labels):
        ignored = layer["ignore_label"]
        if ignored is None:
            loss = F.cross_entropy(scores, labels)
        else:
            # 0 if every sample is ignored, where F.cross_entropy is NaN.
            total = F.cross_entropy(scores, labels, ignore_index=ignored, reduction="sum")
            loss = total / (labels != ignored).sum().clamp(min=1).to(scores.dtype)
        return self.weighted(layer, loss)

    def sigmoid_cross_entropy(self, layer, scores, targets):
        total = F.binary_cross_entropy_with_logits(scores, targets, reduction="sum")
        return total * (layer["loss_weight"] / scores.size(0))

    def mean_squared_error(self, layer, values, targets):
        return self.weighted(layer, F.mse_loss(values, targets))
