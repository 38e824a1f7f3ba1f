# SPDX-License-Identifier: Apache-2.0
"""Errors with the kinds of the protocol's `error` line."""


class WorkerError(Exception):
    """An expected error; `kind` decides the outcome of the run."""

    kind = "failed"


class Failed(WorkerError):
    """A job that cannot be read or obeyed."""


class Unsupported(WorkerError):
    """An op, option, device or precision that the worker lacks; the message names it."""

    kind = "unsupported"


class NotLoaded(WorkerError):
    """The framework of a user's environment does not load; the message has the remedy."""


class OutOfMemory(WorkerError):
    kind = "out_of_memory"


# Frameworks raise the type of any failed check when an allocation fails; only the text differs.
ALLOCATOR_WORDS = ("DefaultCPUAllocator", "out of memory", "bad_alloc", "OOM when allocating",
                   "RESOURCE_EXHAUSTED", "Cannot allocate memory")


def last_line(error):
    """The last line of the traceback: the type and the first line of the message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    name = type(error).__name__
    return "%s: %s" % (name, lines[0]) if lines else name


def kind_of(error):
    if isinstance(error, WorkerError):
        return error.kind
    text = str(error)
    memory = isinstance(error, MemoryError) or any(word in text for word in ALLOCATOR_WORDS)
    return "out_of_memory" if memory else "failed"


def message_of(error):
    return str(error) if isinstance(error, WorkerError) else last_line(error)
