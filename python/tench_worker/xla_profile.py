# SPDX-License-Identifier: Apache-2.0
"""Rows of a profile from XLA's CPU trace and the text of the compiled module.

An event of the trace is one op of the module. The module's text has the op's name in JAX, with the
scopes in which it was traced: Lowering.scope_layers gives each layer one. A fusion belongs to the
layer of its result. Not aware of workers; only `trace_events` needs JAX.
"""
import bisect
import collections
import re

# `kind` is OP, END (of an op, with its `pair`) or RESUMED (of the module, by a thread).
Event = collections.namedtuple("Event", "kind thread name module start_ns duration_ns pair")

OP, END, RESUMED = "op", "end: ", "ThunkExecutor::Execute"
# Their bodies' ops have events of their own.
CONTAINERS = ("while", "conditional", "call")
_SCOPE = re.compile(r"(?:^|[/(])l([0-9]+)(?=[/)])")
_INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%?([\w.-]+) = .*?\s([a-z][\w-]*)\((.*)$")


class Op(object):
    """`name` is the JAX name with its scopes, or ""; `called` is a fusion's computation."""

    def __init__(self, opcode, operands, name, called):
        self.opcode, self.operands, self.name, self.called = opcode, operands, name, called


class Module(object):
    """The ops of a module by their names."""

    def __init__(self, text):
        self.name = re.match(r"HloModule ([^\s,]+)", text).group(1)
        self.ops, self._names = {}, collections.defaultdict(list)
        computation = ""
        for line in text.splitlines():
            opened = re.match(r"^(?:ENTRY )?%?([\w.-]+) \(.*\{$", line)
            if opened:
                computation = opened.group(1)
            found = _INSTRUCTION.match(line)
            if not found:
                continue
            rest = found.group(3)
            name = re.search(r'op_name="([^"]*)"', rest)
            called = re.search(r"(?:calls|to_apply)=%?([\w.-]+)", rest)
            operands = re.findall(r"%([\w.-]+)", rest.split(")", 1)[0])
            op = Op(found.group(2), operands, name.group(1) if name else "",
                    called.group(1) if called else "")
            self.ops[found.group(1)] = op
            if op.name:
                self._names[computation].append(op.name)
        self._readers, self._operands = (collections.defaultdict(list) for _ in range(2))
        for reader, op in self.ops.items():
            for operand in op.operands:
                self._readers[operand].append(reader)
                self._operands[reader].append(operand)

    def _own_name(self, op):
        """Of the op, or of the last op in its fusion; with a layer if any of them has one."""
        names = [self.ops[op].name] + self._names.get(self.ops[op].called, [])[::-1]
        named = [name for name in names if name]
        return ([name for name in named if _SCOPE.search(name)] or named or [""])[0]

    def jax_name(self, op):
        """XLA's own ops, such as copies, have no name: theirs is that of the nearest op with a
        layer that reads their result, else of the nearest op that they read.
        """
        name = self._own_name(op)
        for neighbours in (self._readers, self._operands):
            seen, front = {op}, [op]
            while front and not name:
                front = [other for each in front for other in neighbours[each]
                         if other in self.ops and other not in seen]
                seen.update(front)
                names = [self._own_name(other) for other in front]
                name = ([each for each in names if _SCOPE.search(each)] or [""])[0]
        return name

    def place(self, op, training):
        """(place of the layer or None, direction)"""
        name = self.jax_name(op)
        found = _SCOPE.search(name)
        if found is None:
            return None, "update" if training else "forward"
        return int(found.group(1)), "backward" if "transpose(" in name else "forward"


def trace_events(jax, folder):
    """The events of the only trace in `folder`."""
    import glob
    path, = glob.glob(folder + "/**/*.xplane.pb", recursive=True)
    events = []
    for plane in jax.profiler.ProfileData.from_file(path).planes:
        for line in plane.lines:
            for event in line.events:
                stats = dict(event.stats)
                kind = OP if "hlo_op" in stats else RESUMED if event.name == RESUMED else \
                    END if event.name.startswith(END) else ""
                if kind:
                    events.append(Event(kind, line.name, stats.get("hlo_op", ""),
                                        stats.get("hlo_module", ""), event.start_ns,
                                        event.duration_ns,
                                        stats.get("_p" if kind == OP else "_c")))
    return events


def op_times(events):
    """(op, module, nanoseconds) of each executed op.

    An op that its own thread completes lasts as long as its event. The event of an asynchronous op
    is only its launch: it is complete when a thread resumes the module after it, which the trace
    shows at that resumption, and its end after the ops that followed.
    """
    ends = {event.pair: event for event in events if event.kind == END}
    resumed = collections.defaultdict(list)
    for event in events:
        if event.kind == RESUMED:
            resumed[event.thread].append(event.start_ns)
    for starts in resumed.values():
        starts.sort()
    for event in events:
        if event.kind != OP:
            continue
        time_ns, end = event.duration_ns, ends.get(event.pair)
        stop_ns = event.start_ns + event.duration_ns
        if end is not None and (end.thread != event.thread or end.start_ns > stop_ns):
            starts = resumed[end.thread]
            at = bisect.bisect_right(starts, end.start_ns) - 1
            after = at >= 0 and starts[at] > event.start_ns
            time_ns = (starts[at] if after else end.start_ns) - event.start_ns
        yield event.name, event.module, time_ns


def add_rows(rows, events, text, layers, training):
    """Adds the ops of the module `text` to `rows` (profile.ProfileRows); `layers` are names."""
    module = Module(text)
    for op, owner, time_ns in op_times(events):
        if owner != module.name or op not in module.ops or \
                module.ops[op].opcode in CONTAINERS:
            continue
        place, direction = module.place(op, training)
        rows.add("" if place is None else layers[place], direction,
                 re.sub(r"(\.[0-9]+)+$", "", op), time_ns)
