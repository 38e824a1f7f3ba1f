# SPDX-License-Identifier: Apache-2.0
"""The slices of a job in turns, as lines on standard input (docs/protocol.md).

The same as src/worker/turn_source.h. While it waits, the process sleeps in select(2).
"""
import collections
import json
import os
import select

from .errors import Failed

# A signal between the test of `stopped` and the wait would otherwise stay unseen.
LOOK_SECONDS = 0.1

Turn = collections.namedtuple("Turn", "warmup_steps steps")


def take_standard_input():
    """A descriptor of it. Descriptor 0 becomes /dev/null, so that nothing else reads the lines."""
    own = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return own


def parse_turn(line):
    try:
        turn = json.loads(line.decode("utf-8"))
        warmup_steps, steps = turn["warmup_steps"], turn["steps"]
    except (ValueError, KeyError, TypeError):
        raise Failed("standard input: no turn: %s" % line[:80].decode("utf-8", "replace"))
    if turn.get("type") != "go" or not all(isinstance(each, int) for each in (warmup_steps, steps)) \
            or warmup_steps < 0 or steps < 1:
        raise Failed("standard input: no turn: %s" % line[:80].decode("utf-8", "replace"))
    return Turn(warmup_steps, steps)


class TurnSource(object):
    def __init__(self, fd, stopped):
        self.fd, self.stopped, self.buffer = fd, stopped, b""

    def next(self):
        """Waits for a line; None at the end of the descriptor, and once a stop is requested."""
        while not self.stopped():
            line, newline, rest = self.buffer.partition(b"\n")
            if newline:
                self.buffer = rest
                return parse_turn(line)
            if not select.select([self.fd], [], [], LOOK_SECONDS)[0]:
                continue
            data = os.read(self.fd, 1 << 16)
            if not data and self.buffer:
                raise Failed("standard input: a turn is one line")
            if not data:
                return None
            self.buffer += data
        return None
