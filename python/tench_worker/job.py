# SPDX-License-Identifier: Apache-2.0
"""The job of docs/protocol.md. An unknown key is an error: ignoring it would change the run."""
import difflib
import json

from .errors import Failed, Unsupported

PROTOCOL = 1
PHASES = ("forward", "gradient", "train")

BUDGET = {"warmup_steps": 3, "fixed_steps": 0, "epochs": 0, "min_steps": 10,
          "min_time_ns": 500000000, "relative_interval": 0.01, "time_limit_ns": 30000000000}
SOLVER = {"lr": 0.01, "momentum": 0.9, "weight_decay": 0.0005, "type": "sgd", "momentum2": 0.999,
          "delta": 1e-8, "clip_gradients": 0.0, "rms_decay": 0.99, "regularization": "l2",
          "iter_size": 1}
TENSORS = {"load": {}, "folder": "", "outputs": [], "gradients": False, "parameters": False,
           "state": False, "observe": True, "every_step": False}
SNAPSHOTS = {"folder": "", "after": []}
EVALUATION = {"data": "", "every": 1, "until": ""}
# Defaults of a job; None = required.
JOB = {"protocol": None, "network": None, "fingerprint": "", "parameters": [], "batch": None,
       "device": "cpu", "threads": 1, "precision": "f32", "phase": "train", "seed": 1,
       "cycled": False, "data": "", "images": 0, "labels": 0, "solver": {}, "lr_schedule": [],
       "first_step": 0,
       "dropout": True, "budget": {}, "search_ns": 0, "options": {}, "tensors": {},
       "snapshots": {}, "profile": False, "turns": False, "evaluation": {}}
NESTED = {"solver": SOLVER, "budget": BUDGET, "tensors": TENSORS, "snapshots": SNAPSHOTS,
          "evaluation": EVALUATION}
NUMBERS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def hint(word, known):
    near = difflib.get_close_matches(word, list(known), 1)
    return "; did you mean '%s'?" % near[0] if near else ""


class Fields(object):
    """A JSON object with known keys as attributes."""

    def __init__(self, values, known, where):
        if not isinstance(values, dict):
            raise Failed("%s: must be an object" % where)
        for key in values:
            if key not in known:
                raise Failed("%s: unknown key '%s'%s" % (where, key, hint(key, known)))
        for key, default in known.items():
            if key not in values and default is None:
                raise Failed("%s.%s: is missing" % (where, key))
            value = values.get(key, default)
            if isinstance(default, float) and value in NUMBERS:
                value = NUMBERS[value]
            if default is not None and not isinstance(value, _types(default)):
                raise Failed("%s.%s: must be %s" % (where, key, _title(default)))
            setattr(self, key, value)


def _types(default):
    if isinstance(default, bool):
        return bool
    return (int, float) if isinstance(default, (int, float)) else type(default)


def _title(default):
    titles = {bool: "true or false", int: "a number", float: "a number", str: "a text",
              list: "a list", dict: "an object"}
    return titles[type(default)]


class Job(Fields):
    evaluates = False  # the inference network that evaluates a training

    def __init__(self, values):
        if not isinstance(values, dict):
            raise Failed("job: must be an object")
        version = values.get("protocol")
        if version != PROTOCOL:
            raise Failed("job.protocol: this worker speaks version %d, not %s" %
                         (PROTOCOL, json.dumps(version)))
        if values.get("data_threads"):
            raise Unsupported("workers in Python have no loader threads (job.data_threads)")
        if values.get("trace"):
            raise Unsupported("workers in Python have no trace of their kernels (job.trace)")
        Fields.__init__(self, values, JOB, "job")
        self.values = values  # for the reader of real data
        for key, known in NESTED.items():
            setattr(self, key, Fields(getattr(self, key), known, "job." + key))
        for key in ("batch", "threads", "seed", "images", "labels"):
            least = 1 if key in ("batch", "threads") else 0
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise Failed("job.%s: must be an integer from %d on" % (key, least))
        if self.phase not in PHASES:
            raise Failed("job.phase: unknown phase '%s'" % self.phase)
        self.lr_schedule = [float(rate) for rate in self.lr_schedule]

    @property
    def observe(self):
        return self.evaluates or bool(self.tensors.folder) and self.tensors.observe

    def of_evaluation(self):
        """The job of the inference network that evaluates this training."""
        job = Job(dict(self.values, phase="forward", profile=False, tensors={}, snapshots={},
                       evaluation={}))
        job.evaluates = True
        return job

    @property
    def keeps_snapshots(self):
        return bool(self.snapshots.folder)

    def option(self, option):
        """The value of an Option: the job's, or its default."""
        return self.options.get(option.name, option.default)


def parse_job(text):
    try:
        values = json.loads(text)
    except ValueError as error:
        raise Failed("job: %s" % error)
    return Job(values)


def _check_named(worker, what, name, known):
    if name not in known:
        raise Unsupported("%s has no %s '%s' (it has: %s)%s" %
                          (worker["name"], what, name, ", ".join(known), hint(name, known)))


def _check_options(job, worker):
    options = {option["name"]: option for option in worker["options"]}
    for name, value in job.options.items():
        if name not in options:
            none = ": it has none" if not options else hint(name, options)
            raise Unsupported("%s has no option '%s'%s" % (worker["name"], name, none))
        choices = options[name].get("choices")
        if choices and value not in choices:
            raise Unsupported("option '%s' of %s cannot be '%s' (choices: %s)" %
                              (name, worker["name"], value, ", ".join(choices)))


def _check_tensors(job):
    tensors = job.tensors
    wanted = tensors.outputs or tensors.gradients or tensors.parameters or tensors.state
    if wanted and not tensors.folder:
        raise Failed("job.tensors: tensors are requested, but 'folder' is empty")
    if tensors.gradients and job.phase == "forward":
        raise Failed("job.tensors: phase forward computes no gradients")
    if not tensors.observe and tensors.outputs:
        raise Failed("job.tensors: outputs can be read from an observing build only")
    if not tensors.observe and tensors.gradients and job.phase != "gradient":
        raise Failed("job.tensors: gradients can be read from an observing build or in phase "
                     "gradient only")


def check_job(job, graph, worker):
    """Refuses what the description `worker` does not list."""
    device = "gpu:0" if job.device == "gpu" else job.device.replace("cuda:", "gpu:")
    _check_named(worker, "device", device, worker["devices"])
    _check_named(worker, "precision", job.precision, worker["precisions"])
    for layer in graph.layers:
        for word in layer.needs():
            if word not in worker["ops"]:
                raise Unsupported("layer '%s': %s has no %s" % (layer.name, worker["name"], word))
    if job.phase == "train":
        _check_named(worker, "update", job.solver.type, worker["updates"])
        if job.solver.clip_gradients > 0:
            _check_named(worker, "update", "clip_gradients", worker["updates"])
        if job.solver.regularization != "l2":
            _check_named(worker, "update", job.solver.regularization, worker["updates"])
        if job.solver.iter_size > 1:
            _check_named(worker, "update", "iter_size", worker["updates"])
    if job.first_step > 0:
        raise Unsupported("%s cannot continue a training" % worker["name"])
    if job.tensors.every_step:
        raise Unsupported("%s writes outputs after the last step only" % worker["name"])
    _check_options(job, worker)
    if job.turns and not job.budget.fixed_steps:
        raise Failed("job.turns: a job in turns needs a fixed number of steps")
    _check_tensors(job)


def fixed_steps(job):
    """The number of timed steps; 0 = the stop rule decides."""
    budget = job.budget
    if budget.epochs == 0:
        return budget.fixed_steps
    if budget.fixed_steps > 0:
        raise Failed("job.budget: both fixed_steps and epochs are given")
    if job.images // job.batch == 0:
        raise Failed("job.budget: an epoch of %d images has no whole batch of %d" %
                     (job.images, job.batch))
    return job.images // job.batch * budget.epochs
