# SPDX-License-Identifier: Apache-2.0
"""Networks: the JSON of docs/network.md as layers with shapes and parameters.

Tensors are in the logical order (N, C, H, W), whatever layout a framework uses. tench has checked
the network before it wrote the job; this module checks only what a worker relies on.
"""
import math

from .errors import Failed

# The fields of each op with their defaults; None = required.
FIELDS = {
    "input": {"role": "data", "shape": [], "fill": {"kind": "constant", "value": 0}},
    "conv": {"out_channels": None, "kernel": 1, "stride": 1, "pad": 0, "dilation": 1, "groups": 1},
    "pool": {"mode": "max", "kernel": 1, "stride": 1, "pad": 0, "ceil_mode": False,
             "global": False},
    "lrn": {"size": 5, "alpha": 0.0001, "beta": 0.75, "k": 1, "region": "across_channels"},
    "relu": {"negative_slope": 0},
    "sigmoid": {},
    "tanh": {},
    "power": {"power": 1, "scale": 1, "shift": 0},
    "fc": {"out_features": None},
    "dropout": {"ratio": 0.5},
    "concat": {},
    "slice": {"begin": None, "end": None},
    "add": {"coefficients": []},
    "multiply": {},
    "maximum": {},
    "flatten": {},
    "reshape": {"shape": None},
    "batch_norm": {"eps": 0.00001, "momentum": 0.1, "affine": True},
    "scale": {},
    "softmax": {},
    "embedding": {"vocabulary": None, "dimension": None},
    "lstm": {"hidden": None},
    "mean_over_time": {},
    "softmax_cross_entropy": {"loss_weight": 1, "auxiliary": False, "ignore_label": None},
    "sigmoid_cross_entropy": {"loss_weight": 1},
    "mean_squared_error": {"loss_weight": 1},
}
OPTIONAL = {"ignore_label"}  # its default is "none", not "required"
PAIRS = ("kernel", "stride", "pad", "dilation")
LOSSES = ("softmax_cross_entropy", "sigmoid_cross_entropy", "mean_squared_error")
WITH_WEIGHT = ("conv", "fc", "batch_norm", "scale", "embedding", "lstm")
WITH_BIAS = ("conv", "fc", "batch_norm", "scale", "lstm")
# Every op, and the fields that were added after their op, by their values at the default.
OPS = tuple(FIELDS)
ABILITY_FIELDS = {"lrn": ("region", "across_channels"), "relu": ("negative_slope", 0),
                  "add": ("coefficients", []), "batch_norm": ("affine", True),
                  "softmax_cross_entropy": ("ignore_label", None)}
ABILITIES = OPS + tuple("%s.%s" % (op, field) for op, (field, _) in ABILITY_FIELDS.items())


def product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


class Parameter(object):
    """A trained parameter, or a running statistic (`trained` false)."""

    def __init__(self, name, shape, fill, lr_mult=1.0, decay_mult=1.0, trained=True):
        self.name, self.shape, self.fill = name, tuple(shape), fill
        self.lr_mult, self.decay_mult, self.trained = lr_mult, decay_mult, trained


class Layer(object):
    """One layer: `layer["kernel"]` reads a field, pairs are (height, width).

    `inputs` are layers, `shape` is the output's, `parameters` maps suffixes ("weight", "bias",
    "running_mean", ...) to Parameter.
    """

    def __init__(self, json):
        if not isinstance(json, dict) or not isinstance(json.get("name"), str):
            raise Failed("job.network: a layer has no name")
        self.name, self.op = json["name"], json.get("op")
        if self.op not in FIELDS:
            raise Failed("layer '%s': unknown op '%s'" % (self.name, self.op))
        known = FIELDS[self.op]
        self.input_names = list(json.get("inputs", []))
        self.fields = {}
        for key, default in known.items():
            if key not in json and default is None and key not in OPTIONAL:
                raise Failed("layer '%s': %s is missing" % (self.name, key))
            value = json.get(key, default)
            if key in PAIRS:
                value = (value, value) if isinstance(value, int) else tuple(value)
            self.fields[key] = value
        self.weight_rule = json.get("weight", {})
        self.bias_rule = json.get("bias", {})
        extra = set(json) - set(known) - {"name", "op", "inputs", "weight", "bias"}
        if extra:
            raise Failed("layer '%s': unknown key '%s'" % (self.name, sorted(extra)[0]))
        self.inputs, self.shape, self.parameters = [], (), {}

    def __getitem__(self, field):
        return self.fields[field]

    @property
    def is_loss(self):
        return self.op in LOSSES

    @property
    def is_auxiliary(self):
        return bool(self.fields.get("auxiliary", False))

    @property
    def has_weight(self):
        return self.op in WITH_WEIGHT and self.fields.get("affine", True)

    @property
    def has_bias(self):
        return self.has_weight and self.op in WITH_BIAS and self.bias_rule is not False

    def needs(self):
        """The abilities that a worker must list to run this layer."""
        words = [self.op]
        if self.op in ABILITY_FIELDS:
            field, plain = ABILITY_FIELDS[self.op]
            if self.fields[field] != plain:
                words.append("%s.%s" % (self.op, field))
        return words


def pool_windows(size, kernel, stride, pad, ceil_mode):
    room = size + 2 * pad - kernel
    if not ceil_mode:
        return room // stride + 1
    windows = -(-room // stride) + 1
    return windows - 1 if (windows - 1) * stride >= size + pad else windows


def pool_padding(size, kernel, stride, pad, windows):
    """(before, after): zeros around `size` that make `windows` floor-mode windows fit exactly.

    `after` is negative where the last elements belong to no window.
    """
    return pad, (windows - 1) * stride + kernel - size - pad


def exact_pads(layer):
    """(before, after) per dimension, with which floor mode makes the windows of a conv or pool."""
    dilation = layer.fields.get("dilation", (1, 1))
    sizes, windows = layer.inputs[0].shape[2:], layer.shape[2:]
    pads = []
    for i in (0, 1):
        extent = dilation[i] * (layer["kernel"][i] - 1) + 1
        before, after = pool_padding(sizes[i], extent, layer["stride"][i], layer["pad"][i],
                                     windows[i])
        pads.append((before, max(0, after)))
    return pads


def average_counts(layer):
    """Divisors of an average pool: each window's elements inside the padded image, in f32."""
    import numpy as np
    sizes = [layer.inputs[0].shape[2 + i] + 2 * layer["pad"][i] for i in (0, 1)]
    counts = []
    for i in (0, 1):
        begin = np.arange(layer.shape[2 + i]) * layer["stride"][i]
        counts.append(np.minimum(layer["kernel"][i], sizes[i] - begin).astype(np.float32))
    return np.outer(counts[0], counts[1])


def average_share(layer):
    """Factors from a mean over the whole kernel to the layer's; None if all are 1."""
    share = product(layer["kernel"]) / average_counts(layer)
    return None if (share == 1).all() else share


def _output_shape(layer, batch):
    op, shapes = layer.op, [source.shape for source in layer.inputs]
    first = shapes[0] if shapes else ()
    if op == "input":
        return (batch,) + tuple(layer["shape"])
    if op == "conv":
        sizes = [(first[2 + i] + 2 * layer["pad"][i] -
                  layer["dilation"][i] * (layer["kernel"][i] - 1) - 1) // layer["stride"][i] + 1
                 for i in (0, 1)]
        return (batch, layer["out_channels"]) + tuple(sizes)
    if op == "pool":
        if layer["global"]:
            layer.fields["kernel"], layer.fields["ceil_mode"] = first[2:], False
        sizes = [pool_windows(first[2 + i], layer["kernel"][i], layer["stride"][i],
                              layer["pad"][i], layer["ceil_mode"]) for i in (0, 1)]
        return first[:2] + tuple(sizes)
    if op == "fc":
        return (batch, layer["out_features"])
    if op == "concat":
        return (batch, sum(shape[1] for shape in shapes)) + first[2:]
    if op == "slice":
        return (batch, layer["end"] - layer["begin"]) + first[2:]
    if op == "flatten":
        return (batch, product(first[1:]))
    if op == "reshape":
        return (batch,) + tuple(layer["shape"])
    if op == "embedding":
        return (batch, first[1], layer["dimension"])
    if op == "lstm":
        return (batch, first[1], layer["hidden"])
    if op == "mean_over_time":
        return (batch, first[2])
    return () if layer.is_loss else first


def resolve_fill(fill, shape):
    """xavier and msra as the uniform or Gaussian fill that they stand for."""
    fan_in = product(shape) / float(shape[0])
    if fill["kind"] == "xavier":
        bound = math.sqrt(3 / fan_in)
        return {"kind": "uniform", "low": -bound, "high": bound}
    if fill["kind"] == "msra":
        return {"kind": "gaussian", "mean": 0.0, "std": math.sqrt(2 / fan_in)}
    if fill["kind"] == "msra_fan_out":
        return {"kind": "gaussian", "mean": 0.0,
                "std": math.sqrt(2 / (product(shape) / float(shape[1])))}
    return fill


def _parameters(layer):
    """The layer's parameters in the order of the job: suffix and Parameter."""
    size = layer.inputs[0].shape if layer.inputs else ()
    found = []

    def add(suffix, shape, rule, default):
        rule = rule or {}
        fill = resolve_fill(rule.get("fill", default), shape)
        found.append((suffix, Parameter("%s.%s" % (layer.name, suffix), shape, fill,
                                        float(rule.get("lr_mult", 1)),
                                        float(rule.get("decay_mult", 1)))))

    xavier, zero, one = {"kind": "xavier"}, {"kind": "constant", "value": 0}, \
        {"kind": "constant", "value": 1}
    weight, op = layer.weight_rule, layer.op
    if op == "conv":
        add("weight", (layer["out_channels"], size[1] // layer["groups"]) + layer["kernel"],
            weight, xavier)
        bias = layer["out_channels"]
    elif op == "fc":
        add("weight", (layer["out_features"], size[1]), weight, xavier)
        bias = layer["out_features"]
    elif op in ("scale", "batch_norm"):
        bias = size[1]
        if layer.has_weight:
            add("weight", (bias,), weight, one)
    elif op == "embedding":
        add("weight", (layer["vocabulary"], layer["dimension"]), weight, xavier)
    elif op == "lstm":
        bias = 4 * layer["hidden"]
        add("weight_input", (bias, size[2]), weight, xavier)
        add("weight_hidden", (bias, layer["hidden"]), weight, xavier)
    if layer.has_bias:
        add("bias", (bias,), layer.bias_rule, zero)
    if op == "batch_norm":
        for suffix, start in (("running_mean", 0), ("running_var", 1)):
            found.append((suffix, Parameter("%s.%s" % (layer.name, suffix), (size[1],),
                                            {"kind": "constant", "value": start}, 0, 0, False)))
    return found


class Graph(object):
    """The layers of a network with the shapes of one batch size."""

    def __init__(self, layers, batch):
        self.layers, self.batch, self.parameters = layers, batch, []
        self.by_name = {}
        for layer in layers:
            try:
                layer.inputs = [self.by_name[name] for name in layer.input_names]
            except KeyError as missing:
                raise Failed("layer '%s': input %s is no earlier layer" % (layer.name, missing))
            if layer.name in self.by_name:
                raise Failed("two layers are named '%s'" % layer.name)
            self.by_name[layer.name] = layer
            layer.shape = _output_shape(layer, batch)
            pairs = _parameters(layer)
            layer.parameters = dict(pairs)
            self.parameters.extend(parameter for _, parameter in pairs)
        if not any(layer.is_loss for layer in layers):
            raise Failed("the network has no loss")

    @property
    def inputs(self):
        return [layer for layer in self.layers if layer.op == "input"]

    @property
    def computed(self):
        return [layer for layer in self.layers if layer.op != "input"]

    @property
    def trained(self):
        return [parameter for parameter in self.parameters if parameter.trained]

    @property
    def statistics(self):
        return [parameter for parameter in self.parameters if not parameter.trained]

    def readers(self, name):
        return [layer for layer in self.layers if name in layer.input_names]


def _inference(layers):
    """Without auxiliary losses and the layers that only they need."""
    used = set(name for layer in layers for name in layer.input_names)
    needed, kept = set(), []
    for layer in reversed(layers):
        if layer.is_auxiliary or (layer.name in used and layer.name not in needed):
            continue
        needed.update(layer.input_names)
        kept.append(layer)
    return kept[::-1]


def read_graph(json, batch, phase="train"):
    """The graph of a phase from the `network` of a job."""
    if not isinstance(json, dict) or not isinstance(json.get("layers"), list):
        raise Failed("job.network: must have a list of layers")
    layers = [Layer(layer) for layer in json["layers"]]
    return Graph(_inference(layers) if phase == "forward" else layers, batch)
