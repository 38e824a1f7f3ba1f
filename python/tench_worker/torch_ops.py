# SPDX-License-Identifier: Apache-2.0
"""The ops of ATen as layers of docs/network.md: a method of Ops each.

A method takes the node of the graph and returns the name of a layer, or raises Lacking with the
reason. The class Conversion (torch_conversion.py) calls them, and has their `layer`, `source`,
`shape`, `argument` and `with_parameters`.
"""


class Lacking(Exception):
    pass


class LastStates(object):
    """The last hidden states of a stack of LSTMs: a layer each, of (N, steps, hidden)."""

    def __init__(self, layers, steps, hidden):
        self.layers, self.steps, self.hidden = layers, steps, hidden


def pair(value, default=None):
    if isinstance(value, int):
        return [value, value]
    return list(value) if value else default


class Ops(object):
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
        top, tops = self.source(x), []
        for index in range(count):
            weight = parameters[4 * index]
            if index > 0 and dropout > 0:
                top = self.layer(node, "dropout", [top], ratio=dropout)
            top = self.layer(node, "lstm", [top], hidden=self.shape(weight)[0] // 4,
                             weight=self.rule(weight), bias=self.rule(parameters[4 * index + 2]))
            tops.append(top)
        # The last cell states are no layers.
        return [top, LastStates(tops, self.shape(x)[1], self.shape(weight)[0] // 4), None]

    def _last_state(self, node, states, index):
        flat = self.layer(node, "flatten", [states.layers[index]])
        end = states.steps * states.hidden
        return self.layer(node, "slice", [flat], begin=end - states.hidden, end=end)

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

    def _reduced(self, node, mode):
        size, dims = self.shape(node.args[0]), self.argument(node, 1, "dim")
        dims = sorted(dim % len(size) for dim in ([dims] if isinstance(dims, int) else dims or []))
        kept = [1 if dim in dims else extent for dim, extent in enumerate(size)]
        if len(size) == 4 and dims == [2, 3]:
            top = self._simple(node, "pool", mode=mode, **{"global": True})
        elif len(size) == 3 and dims in ([1], [2]):
            # A sequence is an image of one channel, T high and F wide.
            image = self._simple(node, "reshape", shape=[1] + size[1:])
            kernel = [size[1], 1] if dims == [1] else [1, size[2]]
            top = self.layer(node, "pool", [image], mode=mode, kernel=kernel)
            if self.argument(node, 2, "keepdim", False):
                return self.layer(node, "reshape", [top], shape=kept[1:])
        else:
            raise Lacking("over dimensions %s of %d" % (dims, len(size)))
        return top if self.argument(node, 2, "keepdim", False) else \
            self.layer(node, "flatten", [top])

    def op_mean(self, node):
        return self._reduced(node, "avg")

    def op_amax(self, node):
        return self._reduced(node, "max")

    def op_max(self, node):
        if self.argument(node, 1, "dim") is None:
            raise Lacking("over the batch")
        if any(user.args[1] != 0 and user.users for user in node.users):
            raise Lacking("its indices are used")
        return [self._reduced(node, "max"), None]

    # --- element-wise ---

    def _simple(self, node, op, **fields):
        return self.layer(node, op, [self.source(node.args[0])], **fields)

    def op_relu(self, node):
        return self._simple(node, "relu")

    op_relu_ = op_relu

    def op_leaky_relu(self, node):
        return self._simple(node, "relu",
                            negative_slope=self.argument(node, 1, "negative_slope", 0.01))

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

    def op_log_softmax(self, node):
        """softmax_cross_entropy of log-probabilities is that of the scores."""
        last = self.outputs == [node.name] and self.loss == "softmax_cross_entropy"
        if not last or len(self.shape(node)) != 2 or node.args[1] % 2 != 1:
            raise Lacking("elsewhere than before the loss softmax_cross_entropy")
        return self.source(node.args[0])

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

    def op_rsub(self, node):
        other, alpha = node.args[1], self.argument(node, 2, "alpha", 1)
        if not isinstance(other, (int, float)):
            return self._binary(node, "add", [-alpha, 1])
        return self._power(node, scale=-alpha, shift=other)

    def op_neg(self, node):
        return self._power(node, scale=-1)

    def op_sqrt(self, node):
        return self._power(node, power=0.5)

    def op_rsqrt(self, node):
        return self._power(node, power=-0.5)

    def op_square(self, node):
        return self._power(node, power=2)

    def op_reciprocal(self, node):
        return self._power(node, power=-1)

    def op_clamp_min(self, node):
        if self.argument(node, 1, "min") != 0:
            raise Lacking("with another bound than 0")
        return self._simple(node, "relu")

    def op_clamp(self, node):
        if self.argument(node, 2, "max") is not None:
            raise Lacking("with an upper bound")
        return self.op_clamp_min(node)

    def op_pow(self, node):
        if not isinstance(node.args[1], (int, float)):
            raise Lacking("by an activation")
        return self._power(node, power=node.args[1])

    def op_maximum(self, node):
        return self._binary(node, "maximum")

    # --- shapes ---

    def op_squeeze(self, node):
        states = self.values.get(node.args[0])
        if isinstance(states, LastStates) and len(states.layers) == 1:
            return self._last_state(node, states, 0)
        return self.op_view(node)

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

    op_reshape = op_flatten = op_unsqueeze = op__unsafe_view = op_unflatten = op_view

    def op_cat(self, node):
        size = self.shape(node)
        if self.argument(node, 1, "dim", 0) % len(size) != 1:
            raise Lacking("along another dimension than the channels")
        parts = [self.source(one) for one in node.args[0]]
        if len(size) != 3:
            return self.layer(node, "concat", parts)
        top = self.layer(node, "concat", [self.layer(node, "flatten", [part]) for part in parts])
        return self.layer(node, "reshape", [top], shape=size[1:])

    def op_slice(self, node):
        size = self.shape(node.args[0])
        dim = self.argument(node, 1, "dim", 0) % len(size)
        begin, end = self.argument(node, 2, "start") or 0, self.argument(node, 3, "end")
        end = size[dim] if end is None else min(end if end >= 0 else end + size[dim], size[dim])
        begin = begin if begin >= 0 else begin + size[dim]
        if begin == 0 and end == size[dim]:
            return self.source(node.args[0])
        if dim != 1 or self.argument(node, 4, "step", 1) != 1:
            raise Lacking("of another dimension than the channels")
        if len(size) != 3:
            return self._simple(node, "slice", begin=begin, end=end)
        return self.layer(node, "reshape", [self._time_steps(node, begin, end)],
                          shape=[end - begin, size[2]])

    def _time_steps(self, node, begin, end):
        """Steps of a sequence (N, T, F) as (N, steps * F)."""
        width = self.shape(node.args[0])[2]
        flat = self._simple(node, "flatten")
        return self.layer(node, "slice", [flat], begin=begin * width, end=end * width)

    def op_select(self, node):
        size, dim, index = self.shape(node.args[0]), node.args[1], node.args[2]
        states = self.values.get(node.args[0])
        if isinstance(states, LastStates) and dim == 0:
            return self._last_state(node, states, index)
        if dim % len(size) != 1 or len(size) == 2:
            raise Lacking("of another dimension than the channels or the time")
        index %= size[1]
        if len(size) == 3:
            return self._time_steps(node, index, index + 1)
        top = self._simple(node, "slice", begin=index, end=index + 1)
        return self.layer(node, "reshape", [top], shape=size[2:])

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
