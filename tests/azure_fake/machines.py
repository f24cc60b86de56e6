"""What stands behind a fake machine: a real sshd with the host key and the user key that its first boot was told."""

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azure_fake.group import first_boot
from nodes import sshd


@dataclass(slots=True, kw_only=True)
class Machine(sshd.SshServer):
    """An sshd on an address of its own; its folder goes when it is ended."""

    def kill(self) -> None:
        """Switch the machine off."""
        sshd.SshServer.kill(self)
        shutil.rmtree(self.folder, ignore_errors=True)


def booting(port: int) -> Callable[[str, dict[str, Any]], Machine]:
    """Return what boots a machine whose sshd listens on a port."""

    def boot(name: str, body: dict[str, Any]) -> Machine:
        config = json.loads(first_boot(body).removeprefix("#cloud-config\n"))
        folder, address = Path(tempfile.mkdtemp(prefix="alb-vm-")), body["address"]
        private = folder / "host_ed25519"
        private.write_text(config["ssh_keys"]["ed25519_private"])
        private.chmod(0o600)
        (folder / "host_ed25519.pub").write_text(config["ssh_keys"]["ed25519_public"] + "\n")
        (folder / "authorized_keys").write_text("\n".join(config["ssh_authorized_keys"]) + "\n")
        text = sshd.CONFIG.format(port=port, folder=folder, kind="ed25519", address=address)
        (folder / "sshd_config").write_text(text)
        made = Machine(folder=folder, port=port, address=address)
        made.start()
        return made

    return boot
