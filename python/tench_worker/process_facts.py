# SPDX-License-Identifier: Apache-2.0
"""Facts about this process: clocks, memory, loaded libraries (C++: worker/process_facts)."""
import os
import time

SMALLEST_NORMAL = 2.0 ** -126

if hasattr(time, "monotonic_ns"):
    now_ns, cpu_ns = time.monotonic_ns, time.process_time_ns
else:  # Python 3.6
    def now_ns():
        return int(time.monotonic() * 1e9)

    def cpu_ns():
        return int(time.process_time() * 1e9)


def cache_folder(name):
    """Where a framework's compiler may keep its code: the user's cache folder of tench."""
    home = os.environ.get("HOME") or "/tmp"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(cache, "tench", name)


def _status_bytes(field):
    try:
        with open("/proc/self/status") as status:
            for line in status:
                if line.startswith(field):
                    return int(line.split()[1]) * 1024
    except (IOError, OSError):
        pass
    return 0


def resident_bytes():
    return _status_bytes("VmRSS:")


def peak_resident_bytes():
    return _status_bytes("VmHWM:")


def reset_peak_resident():
    try:
        with open("/proc/self/clear_refs", "w") as control:
            control.write("5")
        return True
    except (IOError, OSError):
        return False


# The C and C++ runtime, and extension modules of Python itself.
EVERYWHERE = ("libc.so", "libc-", "ld-", "ld64.so", "libm.so", "libm-", "libpthread", "libdl.so",
              "libdl-", "librt.so", "librt-", "libstdc++.so", "libgcc_s")


def loaded_libraries():
    libraries = []
    try:
        with open("/proc/self/maps") as maps:
            for line in maps:
                at = line.find("/")
                path = line[at:].rstrip("\n").replace(" (deleted)", "") if at >= 0 else ""
                name = path[path.rfind("/") + 1:]
                shared = name.endswith(".so") or ".so." in name
                if shared and "lib-dynload" not in path and not name.startswith(EVERYWHERE) and \
                        path not in libraries:
                    libraries.append(path)
    except (IOError, OSError):
        pass
    return libraries


def flush_to_zero():
    """Measured, since Python cannot read the control register."""
    import numpy as np
    half = np.full(8, SMALLEST_NORMAL, np.float32) * np.float32(0.5)
    return "on" if not half.any() else "off"
