# SPDX-License-Identifier: Apache-2.0
"""From an exported program of PyTorch to the layers of docs/network.md: the walk over its nodes.

torch_ops.py has a method per op. Every problem is collected, so that a user sees all of them at
once.
"""
import re

from .torch_ops import Lacking, LastStates, Ops

# In place of the layer of an op that has no form, so that the ops behind it are checked too.
REPORTED = "?"


class Conversion(Ops):
    def __init__(self, program, module, examples, loss):
        self.program, self.module, self.examples, self.loss = program, module, examples, loss
        self.layers, self.values, self.problems, self.names = [], {}, [], set()
        self.readers = set()  # addresses of the parameters that an op has
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
        if name is None or isinstance(name, LastStates):
            raise Lacking("its input is no activation" if name is None else
                          "of the last states of an LSTM; of one layer, [-1] is a layer")
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
        address = self.tensors[name].data_ptr()
        if address in self.readers:
            raise Lacking("it shares %s with another op: the layers of tench share no parameters" %
                          name)
        self.readers.add(address)
        values = self.tensors[name].detach().float()
        std, mean = float(values.std()) if values.numel() > 1 else 0.0, float(values.mean())
        # A mean within its standard error is that of an initialization around 0.
        mean = 0 if abs(mean) < 4 * std / values.numel() ** 0.5 else round(mean, 6)
        fill = {"kind": "gaussian", "mean": mean, "std": round(std, 6)} if std > 1e-6 else \
            {"kind": "constant", "value": mean}
        rule = {"fill": fill}
        if not self.trainable.get(name, True):
            rule.update(lr_mult=0, decay_mult=0)
        return rule

    def with_parameters(self, weight, bias):
        fields = {"weight": self.rule(weight)}
        fields["bias"] = self.rule(bias) if bias is not None else False
        return fields
