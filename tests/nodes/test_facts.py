"""A machine's facts, read from what Linux tells: written as other machines tell it, and as this one does."""

import platform

import pytest

from albacore.nodes import facts

FILES = {
    "/proc/cpuinfo": "processor\t: 0\nmodel name\t: Xeon 8272CL @ 2.60GHz\nflags\t\t: fpu hypervisor sse\n",
    "/proc/stat": "cpu  600 10 190 1000 50 0 50 100 40 0\ncpu0 300 5 95 500 25 0 25 50 20 0\nctxt 5\n",
    "/sys/class/dmi/id/product_name": "Virtual Machine\n",
    "/sys/class/dmi/id/sys_vendor": "Microsoft Corporation\n",
    "/etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
    "/proc/sys/kernel/random/boot_id": "0b7e\n",
}


@pytest.fixture
def machine(monkeypatch) -> dict[str, str]:
    """Give the files of a machine, to be changed."""
    files = dict(FILES)
    monkeypatch.setattr(facts, "_read", lambda path: files.get(path, ""))
    monkeypatch.setattr(facts.os.path, "exists", lambda path: False)  # no container's mark
    return files


def test_a_cloud_machine_is_told_by_processor_sku_hypervisor_and_stolen_time(machine, tmp_path):
    """Stolen time is the eighth count of all eight: guest time is part of user time already (proc(5))."""
    found = facts.facts(str(tmp_path))

    assert found["cpu_model"] == "Xeon 8272CL @ 2.60GHz"
    assert found["sku"] == "Virtual Machine"
    assert found["virtualisation"] == "hyper-v"
    assert found["steal_percent"] == pytest.approx(5.0)
    assert found["os"] == "Debian GNU/Linux 12 (bookworm)"
    assert found["boot_id"] == "0b7e"


def test_this_machine_tells_every_fact_of_the_documentation(tmp_path):
    """None is left out, and those that any Linux knows are not empty."""
    found = facts.facts(str(tmp_path))

    assert found["kernel"] == platform.release()
    assert found["cores"] >= 1
    assert 0 < found["disk_free_bytes"] <= found["disk_bytes"]
    assert found["ram_bytes"] > 2**20
    assert found["disk"] and found["cpu_model"] and found["virtualisation"] and found["boot_id"]
    assert 0 <= found["steal_percent"] <= 100
    assert isinstance(found["sku"], str)


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("/sys/class/dmi/id/sys_vendor", "QEMU\n", "kvm"),
        ("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n", "kvm (Amazon)"),
        ("/sys/hypervisor/type", "xen\n", "xen"),
        ("/sys/class/dmi/id/sys_vendor", "Unheard Of Ltd\n", "virtual machine"),
    ],
)
def test_the_hypervisor_is_told_by_the_first_file_that_knows_it(machine, file, text, told):
    """A vendor that nobody has heard of leaves the processor's flag."""
    machine[file] = text

    assert facts.virtualisation() == told


def test_a_machine_of_its_own_has_no_hypervisor(machine):
    """Without the processor's flag nothing hints at one."""
    machine |= {"/proc/cpuinfo": "flags\t: fpu sse\n", "/sys/class/dmi/id/sys_vendor": "Unheard Of Ltd\n"}

    assert facts.virtualisation() == "none"


@pytest.mark.parametrize("text", ["", "cpu  1 2 3\n", "cpu  0 0 0 0 0 0 0 0 0 0\n"])
def test_stolen_time_that_is_not_told_is_none(machine, text):
    """Old kernels and containers tell less."""
    machine["/proc/stat"] = text

    assert facts.steal_percent() == 0.0


def test_a_limit_of_the_control_group_bounds_the_memory(machine):
    """What a machine has is not what its processes may use."""
    machine[facts.MEMORY_LIMITS[0]] = "1048576\n"
    assert facts.ram_bytes() == 2**20

    machine[facts.MEMORY_LIMITS[0]] = "max\n"
    assert facts.ram_bytes() > 2**20
