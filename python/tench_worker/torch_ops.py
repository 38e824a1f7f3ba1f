# SPDX-License-Identifier: Apache-2.0
"""From an exported program of PyTorch to the layers of docs/network.md: one method per op of ATen.

A method takes the node of the graph and returns the name of a layer, or raises Lacking with the
reason. Every problem is collected, so that a user sees all of them at once.
"""
import re


# In place of the layer of an op that has no form, so that the ops behind it are checked too.
REPORTED = "?"


class Lacking(Exception):
    pass


def pair(value, default=None):
    if isinstance(value, int):
        return [value, value]
    return list(value) if value else default


def product(sizes):
    result = 1
    for size in sizes:
        result *= int(size)
    return result


class Conversion(object):
    def __init__(self, program, module, examples, loss):
        self.program, self.module, self.examples, self.loss = program, module, examples, loss
        self.layers, self.values, self.problems, self.names = [], {}, [], set()
        signature = program.graph_signature
        self.parameters = dict(signature.inputs_to_parameters)
        self.buffers = dict(signature.inputs_to_buffers)
        self.tensors = dict(program.state_dict)
        self.trainable = {name: p.requires_grad for name, p in module.named_parameters()}
        self.outputs = list(signature.user_outputs)
        self.batch = int(examples[0].shape[0])

    # --- the walk ---

    def run(self):
        inputs = []
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                if node.name not in self.parameters and node.name not in self.buffers:
                    inputs.append(node)
                    self._input(node, len(inputs))
            elif node.op == "call_function":
                self._call(node)
        if not self.problems:
            self._finish()
        return self._needed()

    def _input(self, node, number):
        value = node.meta["val"]
        name = self._unique("data" if number == 1 else "data%d" % number)
        shape = [int(size) for size in value.shape[1:]]
        if value.is_floating_point() and 1 <= len(shape) <= 3:
            fill = {"kind": "gaussian", "mean": 0, "std": 1}
            self._append(name, "input", [], shape=shape, fill=fill)
        elif not value.is_floating_point() and len(shape) == 1:
            self._append(name, "input", [], role="tokens", shape=shape,
                         fill={"kind": "integer", "low": 0, "high": self._vocabulary(node)})
        else:
            self.problems.append("an input of shape %s and type %s" % (tuple(value.shape),
                                                                     value.dtype))
        self.values[node] = name

    def _vocabulary(self, node):
        for user in node.users:
            if "embedding" in str(user.target):
                return int(user.args[0].meta["val"].shape[0])
        return 2

    def _call(self, node):
        target = str(node.target)
        op = target.split(".")[1] if target.startswith("aten.") else target
        # Reads of sizes and counters of batches are no computation; `_needed` drops their results.
        if op in ("add_", "sym_size", "_assert_tensor_metadata") and not self._inputs_of(node):
            return
        if "getitem" in op:
            source, index = node.args
            found = self.values.get(source)
            self.values[node] = found[index] if isinstance(found, list) else found
            return
        method = getattr(self, "op_" + op, None)
        try:
            if method is None:
                raise Lacking("")
            self.values[node] = method(node)
        except Lacking as lacking:
            reason = " (%s)" % lacking if str(lacking) else ""
            where = self._path(node)
            self.problems.append("%s%s%s" % (target, " in " + where if where else "", reason))
            self.values[node] = REPORTED

    def _inputs_of(self, node):
        return [given for given in node.all_input_nodes if given in self.values]

    def _finish(self):
        if len(self.outputs) != 1:
            self.problems.append("%d outputs, where one is needed" % len(self.outputs))
            return
        last = [node for node in self.program.graph.nodes if node.name == self.outputs[0]][0]
        shape = last.meta["val"].shape
        if self.values.get(last) is None:
            self.problems.append("an output that is no activation")
            return
        if self.loss == "softmax_cross_entropy":
            if len(shape) != 2:
                self.problems.append("an output of shape %s: softmax_cross_entropy needs (batch, "
                                     "classes)" % (tuple(shape),))
                return
            label = self._append(self._unique("label"), "input", [], role="label",
                                 fill={"kind": "integer", "low": 0, "high": int(shape[1])})
        else:
            fill = {"kind": "gaussian", "mean": 0, "std": 1} if "squared" in self.loss else \
                {"kind": "uniform", "low": 0, "high": 1}
            label = self._append(self._unique("target"), "input", [],
                                 shape=[int(size) for size in shape[1:]], fill=fill)
        self._append(self._unique("loss"), self.loss, [self.values[last], label])

    def _needed(self):
        """The layers that a loss needs: a layer without readers is an error."""
        needed, kept = set(), []
        for layer in reversed(self.layers):
            if layer["name"] in needed or layer["op"] == self.loss:
                needed.update(layer.get("inputs", []))
                kept.append(layer)
        return kept[::-1]

    # --- names and layers ---

    def _path(self, node):
        stack = node.meta.get("nn_module_stack") or {}
        paths = [entry[0] for entry in stack.values()]
        path = paths[-1] if paths else ""
        return re.sub(r"^L\['self'\]\.?|^_export_root\.?", "", path).replace("['", "").replace(
            "']", "")

    def _unique(self, name):
        name = re.sub(r"[^\x21-\x7e]|[./]", "_", name)[:180] or "layer"
        unique, count = name, 1
        while unique in self.names:
            count += 1
            unique = "%s_%d" % (name, count)
        self.names.add(unique)
        return unique

    def _append(self, name, op, inputs, **fields):
        layer = {"name": name, "op": op}
        if inputs:
            layer["inputs"] = inputs
        layer.update(fields)
        self.layers.append(layer)
        return name

    def layer(self, node, op, inputs, **fields):
        path = self._path(node)
        return self._append(self._unique(path or op), op, inputs, **fields)

    def source(self, node):
        name = self.values.get(node)
        if name is None:
            raise Lacking("its input is no activation")
        return name

    def shape(self, node):
        return [int(size) for size in node.meta["val"].shape]

    def argument(self, node, index, name, default=None):
        if len(node.args) > index:
            return node.args[index]
        return node.kwargs.get(name, default)

    def rule(self, node):
        """How a parameter begins and learns, by the module's own tensor."""
        if node.name not in self.parameters:
            raise Lacking("its weight is computed")
        name = self.parameters[node.name]
        values = self.tensors[name].detach().float()
        std, mean = float(values.std()) if values.numel() > 1 else 0.0, float(values.mean())
        fill = {"kind": "gaussian", "mean": 0, "std": round(std, 6)} if std > 1e-6 else \
            {"kind": "constant", "value": round(mean, 6)}
        rule = {"fill": fill}
        if not self.trainable.get(name, True):
            rule.update(lr_mult=0, decay_mult=0)
        return rule

    def with_parameters(self, weight, bias):
        fields = {"weight": self.rule(weight)}
        fields["bias"] = self.rule(bias) if bias is not None else False
        return fields

    # --- ops with parameters ---

    def op_conv2d(self, node):
        pad = self.argument(node, 4, "padding", 0)
        weight = node.args[1]
        kernel = self.shape(weight)[2:]
        dilation = pair(self.argument(node, 5, "dilation", 1), [1, 1])
        if pad == "valid":
            pad = 0
        elif pad == "same":
            extents = [d * (k - 1) for d, k in zip(dilation, kernel)]
            if any(extent % 2 for extent in extents):
                raise Lacking("padding on one side")
            pad = [extent // 2 for extent in extents]
        return self.layer(node, "conv", [self.source(node.args[0])],
                          out_channels=self.shape(weight)[0], kernel=kernel,
                          stride=pair(self.argument(node, 3, "stride", 1), [1, 1]),
                          pad=pair(pad, [0, 0]), dilation=dilation,
                          groups=self.argument(node, 6, "groups", 1),
                          **self.with_parameters(weight, self.argument(node, 2, "bias")))

    def op_linear(self, node):
        if len(self.shape(node.args[0])) != 2:
            raise Lacking("an input of %d dimensions" % len(self.shape(node.args[0])))
        weight = node.args[1]
        return self.layer(node, "fc", [self.source(node.args[0])],
                          out_features=self.shape(weight)[0],
                          **self.with_parameters(weight, self.argument(node, 2, "bias")))

    def op_batch_norm(self, node):
        x, weight, bias, mean, _, training, momentum, eps = node.args[:8]
        if mean is None or not training:
            raise Lacking("without running statistics" if mean is None else "in evaluation mode")
        if (weight is None) != (bias is None):
            raise Lacking("a weight without a bias")
        fields = self.with_parameters(weight, bias) if weight is not None else {"affine": False}
        return self.layer(node, "batch_norm", [self.source(x)], eps=eps, momentum=momentum,
                          **fields)

    def op_embedding(self, node):
        vocabulary, dimension = self.shape(node.args[0])
        return self.layer(node, "embedding", [self.source(node.args[1])], vocabulary=vocabulary,
                          dimension=dimension, weight=self.rule(node.args[0]))

    def op_lstm(self, node):
        x, _, parameters, biased, count, dropout, _, both_ways, batch_first = node.args[:9]
        if both_ways or not batch_first or not biased:
            raise Lacking("bidirectional" if both_ways else
                          "without batch_first" if not batch_first else "without bias")
        if len(parameters) != 4 * count:
            raise Lacking("a projection")
        top = self.source(x)
        for index in range(count):
            weight = parameters[4 * index]
            if index > 0 and dropout > 0:
                top = self.layer(node, "dropout", [top], ratio=dropout)
            top = self.layer(node, "lstm", [top], hidden=self.shape(weight)[0] // 4,
                             weight=self.rule(weight), bias=self.rule(parameters[4 * index + 2]))
        return [top, None, None]  # the output; the last states are not layers

    # --- pooling ---

    def _pool(self, node, mode, ceil, **more):
        kernel = pair(node.args[1])
        return self.layer(node, "pool", [self.source(node.args[0])], mode=mode, kernel=kernel,
                          stride=pair(self.argument(node, 2, "stride"), kernel),
                          pad=pair(self.argument(node, 3, "padding", 0), [0, 0]), ceil_mode=ceil,
                          **more)

    def op_max_pool2d(self, node):
        if pair(self.argument(node, 4, "dilation", 1), [1, 1]) != [1, 1]:
            raise Lacking("dilation")
        return self._pool(node, "max", bool(self.argument(node, 5, "ceil_mode", False)))

    def op_avg_pool2d(self, node):
        padded = any(pair(self.argument(node, 3, "padding", 0), [0, 0]))
        if padded and not self.argument(node, 5, "count_include_pad", True):
            raise Lacking("count_include_pad=False")
        if self.argument(node, 6, "divisor_override") is not None:
            raise Lacking("divisor_override")
        return self._pool(node, "avg", bool(self.argument(node, 4, "ceil_mode", False)))

    def _adaptive(self, node, mode):
        sizes, wanted = self.shape(node.args[0])[2:], pair(node.args[1])
        if wanted == [1, 1]:
            return self.layer(node, "pool", [self.source(node.args[0])], mode=mode,
                              **{"global": True})
        if sizes == wanted:
            return self.source(node.args[0])
        if any(size % want for size, want in zip(sizes, wanted)):
            raise Lacking("windows of several sizes: %s to %s" % (sizes, wanted))
        kernel = [size // want for size, want in zip(sizes, wanted)]
        return self.layer(node, "pool", [self.source(node.args[0])], mode=mode, kernel=kernel,
                          stride=kernel)

    def op_adaptive_avg_pool2d(self, node):
        return self._adaptive(node, "avg")

    def op_adaptive_max_pool2d(self, node):
        return self._adaptive(node, "max")

    def op_mean(self, node):
        dims = sorted(dim % 4 for dim in (self.argument(node, 1, "dim") or []))
        if len(self.shape(node.args[0])) != 4 or dims != [2, 3]:
            raise Lacking("over other dimensions than height and width")
        top = self.layer(node, "pool", [self.source(node.args[0])], mode="avg", **{"global": True})
        return top if self.argument(node, 2, "keepdim", False) else \
            self.layer(node, "flatten", [top])

    # --- element-wise ---

    def _simple(self, node, op, **fields):
        return self.layer(node, op, [self.source(node.args[0])], **fields)

    def op_relu(self, node):
        return self._simple(node, "relu")

    op_relu_ = op_relu

    def op_leaky_relu(self, node):
        return self._simple(node, "relu", negative_slope=self.argument(node, 1, "slope", 0.01))

    op_leaky_relu_ = op_leaky_relu

    def op_sigmoid(self, node):
        return self._simple(node, "sigmoid")

    def op_tanh(self, node):
        return self._simple(node, "tanh")

    def op_silu(self, node):
        gate = self._simple(node, "sigmoid")
        return self.layer(node, "multiply", [self.source(node.args[0]), gate])

    op_silu_ = op_silu

    def op_dropout(self, node):
        if not self.argument(node, 2, "train", True) or node.args[1] == 0:
            return self.source(node.args[0])
        return self._simple(node, "dropout", ratio=node.args[1])

    op_dropout_ = op_dropout

    def op_softmax(self, node):
        dims = len(self.shape(node.args[0]))
        if node.args[1] % dims != 1 or dims not in (2, 4):
            raise Lacking("over another dimension than the second")
        return self._simple(node, "softmax")

    def _power(self, node, **fields):
        return self._simple(node, "power", **fields)

    def _binary(self, node, op, coefficients=None):
        left, right = node.args[:2]
        if self.shape(left) != self.shape(right):
            raise Lacking("shapes %s and %s" % (self.shape(left), self.shape(right)))
        fields = {"coefficients": coefficients} if coefficients else {}
        return self.layer(node, op, [self.source(left), self.source(right)], **fields)

    def op_add(self, node):
        other, alpha = node.args[1], self.argument(node, 2, "alpha", 1)
        if isinstance(other, (int, float)):
            return self._power(node, shift=other * alpha)
        return self._binary(node, "add", [1, alpha] if alpha != 1 else None)

    op_add_ = op_add

    def op_sub(self, node):
        other, alpha = node.args[1], self.argument(node, 2, "alpha", 1)
        if isinstance(other, (int, float)):
            return self._power(node, shift=-other * alpha)
        return self._binary(node, "add", [1, -alpha])

    def op_mul(self, node):
        if isinstance(node.args[1], (int, float)):
            return self._power(node, scale=node.args[1])
        return self._binary(node, "multiply")

    op_mul_ = op_mul

    def op_div(self, node):
        if not isinstance(node.args[1], (int, float)):
            raise Lacking("by an activation")
        return self._power(node, scale=1.0 / node.args[1])

    def op_neg(self, node):
        return self._power(node, scale=-1)

    def op_pow(self, node):
        if not isinstance(node.args[1], (int, float)):
            raise Lacking("by an activation")
        return self._power(node, power=node.args[1])

    def op_maximum(self, node):
        return self._binary(node, "maximum")

    # --- shapes ---

    def op_view(self, node):
        before, after = self.shape(node.args[0]), self.shape(node)
        if after[0] != before[0]:
            raise Lacking("across the batch")
        if before == after:
            return self.source(node.args[0])
        if len(after) == 2:
            return self._simple(node, "flatten")
        if len(after) > 4:
            raise Lacking("%d dimensions" % len(after))
        return self._simple(node, "reshape", shape=after[1:])

    op_reshape = op_flatten = op_squeeze = op_unsqueeze = op__unsafe_view = op_unflatten = op_view

    def op_cat(self, node):
        dims = len(self.shape(node))
        if self.argument(node, 1, "dim", 0) % dims != 1 or dims == 3:
            raise Lacking("along another dimension than the channels")
        return self.layer(node, "concat", [self.source(one) for one in node.args[0]])

    def op_slice(self, node):
        size = self.shape(node.args[0])
        dim = self.argument(node, 1, "dim", 0) % len(size)
        begin, end = self.argument(node, 2, "start") or 0, self.argument(node, 3, "end")
        end = size[dim] if end is None else min(end if end >= 0 else end + size[dim], size[dim])
        if begin == 0 and end == size[dim]:
            return self.source(node.args[0])
        if dim != 1 or len(size) == 3 or self.argument(node, 4, "step", 1) != 1:
            raise Lacking("of another dimension than the channels")
        return self._simple(node, "slice", begin=begin if begin >= 0 else begin + size[dim],
                            end=end)

    def _slices(self, node, widths, dim):
        size = self.shape(node.args[0])
        if dim % len(size) != 1 or len(size) == 3:
            raise Lacking("of another dimension than the channels")
        names, begin = [], 0
        for width in widths:
            end = min(begin + width, size[1])
            names.append(self._simple(node, "slice", begin=begin, end=end))
            begin = end
        return names

    def op_chunk(self, node):
        size, count = self.shape(node.args[0])[1], node.args[1]
        width = -(-size // count)
        return self._slices(node, [width] * (-(-size // width)), self.argument(node, 2, "dim", 0))

    def op_split(self, node):
        size, widths = self.shape(node.args[0])[1], node.args[1]
        if isinstance(widths, int):
            widths = [widths] * (-(-size // widths))
        return self._slices(node, widths, self.argument(node, 2, "dim", 0))

    op_split_with_sizes = op_split

    # --- without effect ---

    def _same(self, node):
        return self.source(node.args[0])

    op_clone = op_contiguous = op_alias = op_detach_ = op_identity = _same

    def op_to(self, node):
        if node.meta["val"].dtype != node.args[0].meta["val"].dtype:
            raise Lacking("to another type")
        return self.source(node.args[0])

    def op_zeros(self, node):
        return None  # the first state of an LSTM

    def op_permute(self, node):
        raise Lacking("tensors have the order (N, C, H, W) and (N, T, F)")

    op_transpose = op_permute
