"""Tell what a machine is: the facts that bounds in knobs.toml are computed from, and those that explain a figure later.

Linux, standard library only and no import of Albacore: this file is copied to every node beside the agent.
"""

# Loading pathlib takes longer than most commands:

import contextlib
import os
import platform
import shutil
import socket

MEMORY_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")

VENDORS = {
    "QEMU": "kvm",
    "Amazon": "kvm (Amazon)",
    "Google": "kvm (Google)",
    "Microsoft": "hyper-v",
    "VMware": "vmware",
    "innotek": "virtualbox",
    "Xen": "xen",
}
"""What firmware says of its vendor -> the hypervisor."""


def _read(path: str) -> str:
    """Return a file's text, or nothing when it cannot be read."""
    with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""


def _value(text: str, key: str, separator: str) -> str:
    """Return the value of the first line that starts with a key."""
    lines = (line for line in text.splitlines() if line.startswith(key))
    return next(lines, separator).split(separator, 1)[1].strip().strip('"')


def ram_bytes() -> int:
    """Return the memory that may be used: the machine's, or less where a control group limits it."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limits = [int(text) for path in MEMORY_LIMITS if (text := _read(path).strip()).isdigit()]
    return min([machine, *limits])


def virtualisation() -> str:
    """Return what the machine runs in: "none", or the hypervisor's or the container's name as far as it is told.

    In this order: a container's mark, Xen's file, the firmware's vendor, the flag `hypervisor` of the processor.
    """
    if os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):
        return "container"
    if hypervisor := _read("/sys/hypervisor/type").strip():
        return hypervisor
    vendor = _read("/sys/class/dmi/id/sys_vendor").strip()
    known = next((name for word, name in VENDORS.items() if word in vendor), "")
    if known:
        return known
    flags = _value(_read("/proc/cpuinfo"), "flags", ":").split()
    return "virtual machine" if "hypervisor" in flags else "none"


def steal_percent() -> float:
    """Return the share of CPU time that the hypervisor gave to others since boot, in percent (proc(5), /proc/stat)."""
    ticks = [int(word) for word in _value(_read("/proc/stat"), "cpu ", " ").split()][:8]
    return round(100 * ticks[7] / sum(ticks), 3) if len(ticks) == 8 and sum(ticks) else 0.0


def disk(directory: str) -> str:
    """Return what a directory lies on: "<file system> on <device>", with the device's model and kind where told."""
    with contextlib.suppress(OSError):
        number = os.stat(directory).st_dev
        wanted = f"{os.major(number)}:{os.minor(number)}"
        for line in _read("/proc/self/mountinfo").splitlines():
            own, _, after = line.partition(" - ")
            if own.split()[2] == wanted:
                system, device = after.split()[:2]
                return f"{system} on {device}{_model(wanted)}"
    return ""


def _model(number: str) -> str:
    """Return the model and the kind of a block device; "" for one that is none."""
    place = os.path.realpath(f"/sys/dev/block/{number}")
    whole = (
        place if os.path.isdir(f"{place}/queue") else os.path.dirname(place)
    )  # a partition lies in its disk's folder
    kind = {"0": "solid", "1": "rotating"}.get(_read(f"{whole}/queue/rotational").strip(), "")
    told = ", ".join(filter(None, (_read(f"{whole}/device/model").strip(), kind)))
    return f" ({told})" if told else ""


def facts(directory: str) -> dict:
    """Return the facts of the machine that a directory is on."""
    return {
        "ram_bytes": ram_bytes(),
        "disk_bytes": shutil.disk_usage(directory).total,
        "disk_free_bytes": shutil.disk_usage(directory).free,
        "cores": len(os.sched_getaffinity(0)),
        "cpu_model": _value(_read("/proc/cpuinfo"), "model name", ":") or platform.machine(),
        "disk": disk(directory),
        "sku": _read("/sys/class/dmi/id/product_name").strip(),
        "virtualisation": virtualisation(),
        "steal_percent": steal_percent(),
        "kernel": platform.release(),
        "os": _value(_read("/etc/os-release"), "PRETTY_NAME=", "=") or platform.system(),
        "python": platform.python_version(),
        "boot_id": _read("/proc/sys/kernel/random/boot_id").strip(),
    }


def busy_ports(first: int, count: int) -> list[int]:
    """Return the ports of a range that somebody listens on; a connection's last minutes do not count."""
    busy = []
    for port in range(first, first + count):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                busy.append(port)
    return busy
