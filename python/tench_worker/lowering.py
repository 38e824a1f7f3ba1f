# SPDX-License-Identifier: Apache-2.0
"""From a network to a framework's graph: the base class of a worker's lowering.

A subclass has one method per op, named like the op. It gets the layer and the values of the layer's
inputs, and returns the layer's value: a symbol of a static graph, or an array of an eager one. A
subclass overrides the element-wise ops below if its framework has an op for them.
"""


class Lowering(object):
    keeps_values = True  # an eager framework keeps them for an observing build only

    def __init__(self, graph, job):
        self.graph, self.job = graph, job
        self.training = job.phase != "forward"
        self.values = {}
        self._calls = [(getattr(self, layer.op), layer) for layer in graph.computed]

    def scope_layers(self, scope):
        """Lowers each layer in the context scope("l3") of its place, which a profile shows."""
        def scoped(call, name):
            def lower(layer, *inputs):
                with scope(name):
                    return call(layer, *inputs)
            return lower

        places = {layer.name: place for place, layer in enumerate(self.graph.layers)}
        self._calls = [(scoped(call, "l%d" % places[layer.name]), layer)
                       for call, layer in self._calls]

    def run(self, inputs):
        """The network's loss. `values` then has the value of every layer by its name."""
        values, losses = dict(inputs), []
        for lower, layer in self._calls:
            value = lower(layer, *[values[name] for name in layer.input_names])
            values[layer.name] = value
            if layer.is_loss:
                losses.append(value)
        if self.keeps_values:
            self.values = values
        return self.total(losses)

    def total(self, losses):
        result = losses[0]
        for loss in losses[1:]:
            result = result + loss
        return result

    def drops(self, layer):
        """Whether a dropout layer is more than the identity in this job."""
        return self.training and self.job.dropout and layer["ratio"] > 0

    @staticmethod
    def weighted(layer, loss):
        weight = float(layer["loss_weight"])
        return loss if weight == 1 else weight * loss

    def add(self, layer, *inputs):
        factors = layer["coefficients"] or [1] * len(inputs)
        result = None
        for factor, x in zip(factors, inputs):
            term = x if factor == 1 else float(factor) * x
            result = term if result is None else result + term
        return result

    def multiply(self, layer, *inputs):
        result = inputs[0]
        for x in inputs[1:]:
            result = result * x
        return result

    def larger(self, x, y):
        raise NotImplementedError

    def maximum(self, layer, *inputs):
        result = inputs[0]
        for x in inputs[1:]:
            result = self.larger(result, x)
        return result
