"""Inventory: machines that are there already, read from one TOML file.

The file says who each machine has to be (its pinned host key) and where the private key is; it holds no secret.
"""

import base64
import binascii
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from albacore.errors import UserError
from albacore.nodes import NODE_NAME

MAX_BYTES = 1_000_000
Role = Literal["system", "load", "monitor"]
Text = Annotated[str, Field(min_length=1, max_length=200)]
Name = Annotated[str, Field(pattern=f"^{NODE_NAME.pattern}$")]
AbsolutePath = Annotated[str, Field(pattern=r"^(/[A-Za-z0-9._+-]+)+$", max_length=200)]
HOW_TO_PIN = (
    "Ask for it with 'ssh-keyscan -t ed25519 {address}', compare its fingerprint ('ssh-keygen -lf') with the one that "
    'the machine\'s own console tells, and write it as host_key = "ssh-ed25519 AAAA…"'
)


def checked_host_key(text: str) -> str:
    """Return a public key as "TYPE BASE64", without its comment.

    Raises:
        ValueError: When it is not one.
    """
    parts = text.split()
    try:
        blob = base64.b64decode(parts[1], validate=True)
    except (IndexError, binascii.Error):
        blob = b""
    # RFC 4253 §6.6: the blob begins with its own type as a string.
    if not blob or blob[4 : 4 + int.from_bytes(blob[:4], "big")] != parts[0].encode():
        raise ValueError("expected a public host key like 'ssh-ed25519 AAAA…'")
    return f"{parts[0]} {parts[1]}"


class Part(BaseModel):
    """A table of the inventory: unknown keys and wrong types are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Access(Part):
    """An sshd, who it has to be, and who logs in with which key: a file, or an Airflow connection."""

    name: Name
    address: Annotated[Text, Field(pattern=r"^[A-Za-z0-9_.:-]+$")]
    port: Annotated[int, Field(ge=1, le=65535)] = 22
    user: Annotated[Text, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.@-]*$")]
    host_key: Annotated[str, AfterValidator(checked_host_key)]
    key_file: Text | None = None
    connection: Text | None = None

    @model_validator(mode="after")
    def _has_one_key(self) -> "Access":
        if (self.key_file is None) == (self.connection is None):
            raise ValueError("expected either 'key_file' or 'connection', which say where the private key is. Give one")
        return self


class Host(Access):
    """A machine, or a part of one, that samples are taken on."""

    machine: Name | None = None
    bastion: Name | None = None
    roles: Annotated[list[Role], Field(min_length=1)] = ["system"]
    labels: dict[Name, Text] = {}
    directory: AbsolutePath = "/var/tmp/albacore"  # noqa: S108 -- what is there is checked to be ours
    python: AbsolutePath = "/usr/bin/python3"
    slots: Annotated[int, Field(ge=1, le=1000)] | None = None
    first_port: Annotated[int, Field(ge=1024, le=65526)] | None = None
    load: Name | None = None
    listen: Annotated[Text, Field(pattern=r"^[A-Za-z0-9_.:-]+$")] | None = None

    @property
    def host(self) -> str:
        """The machine's name."""
        return self.machine or self.name


class Inventory(Part):
    """All machines of a file, and the bastions on the way to them."""

    hosts: Annotated[list[Host], Field(min_length=1)]
    bastions: list[Access] = []

    @model_validator(mode="after")
    def _names_are_clear(self) -> "Inventory":
        _once("hosts", [host.name for host in self.hosts])
        _once("bastions", [bastion.name for bastion in self.bastions])
        known = {bastion.name for bastion in self.bastions}
        for host in self.hosts:
            if host.bastion is not None and host.bastion not in known:
                raise ValueError(f"hosts.{host.name}.bastion: there is no bastion {host.bastion!r}. Add [[bastions]]")
        self._machines_are_clear()
        self._loads_are_clear()
        return self

    def _loads_are_clear(self) -> None:
        """Refuse a load host that is none, or that two systems would share: their loads would disturb each other."""
        users: dict[str, str] = {}
        generators = {host.name: host.host for host in self.of_role("load")}
        for host in (host for host in self.hosts if host.load is not None):
            name = str(host.load)
            if name not in generators or generators[name] == host.host:
                raise ValueError(
                    f"hosts.{host.name}.load: expected another machine's host with the role 'load', got {name!r}. "
                    "Name one of them, or give that one the role"
                )
            if users.setdefault(name, host.name) != host.name:
                raise ValueError(
                    f"hosts.{host.name}.load: {name!r} loads {users[name]} already. Give each system a load host"
                )

    def _machines_are_clear(self) -> None:
        """Refuse one sshd under two machines' names: two samples would run beside each other."""
        machines: dict[tuple[str, int, str | None], Host] = {}
        for host in self.hosts:
            other = machines.setdefault((host.address, host.port, host.bastion), host)
            if other.host != host.host:
                raise ValueError(
                    f"hosts {other.name} and {host.name} are both {host.address}:{host.port}: one machine under two "
                    "names. Remove one, or give both the same 'machine'"
                )

    def of_role(self, role: Role) -> list[Host]:
        """Return the hosts with a role, in the order of the file."""
        return [host for host in self.hosts if role in host.roles]

    def load_of(self, host: Host) -> Host | None:
        """Return the host that loads a system; None when its load runs beside it."""
        return next((each for each in self.hosts if each.name == host.load), None)

    def bastion_of(self, host: Host) -> Access | None:
        """Return the bastion on the way to a host."""
        return next((bastion for bastion in self.bastions if bastion.name == host.bastion), None)


def _once(where: str, names: list[str]) -> None:
    """Refuse a name that is given twice."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{where}: expected each name once, {', '.join(twice)} is there twice. Rename or remove one")


def read(path: Path) -> Inventory:
    """Return the inventory of a file; `~` and relative key files are resolved from the file's folder.

    Raises:
        UserError: When the file is missing, too large, not TOML, or not an inventory: the first fault, with its remedy.
    """
    try:
        content = path.read_bytes()
        if len(content) > MAX_BYTES:
            raise UserError(f"{path}: expected at most {MAX_BYTES} bytes, got {len(content)}. Is this an inventory?")
        data = tomllib.loads(content.decode())
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}. Check [nodes] inventory.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path}: not TOML: {error}. Correct that line.") from error
    return parse(data, where=str(path), folder=path.absolute().parent)


def parse(data: Mapping[str, Any], *, where: str, folder: Path) -> Inventory:
    """Return the inventory that a table describes; what `[defaults]` says holds for each host that says nothing else.

    Raises:
        UserError: Names `where`, the host, the key, what was expected and what was given; the first fault only.
    """
    plain = dict(data)
    defaults = plain.pop("defaults", {})
    if isinstance(defaults, Mapping) and isinstance(hosts := plain.get("hosts"), list):
        plain["hosts"] = [_with(defaults, host, folder) for host in hosts]
    if isinstance(bastions := plain.get("bastions"), list):
        plain["bastions"] = [_with({}, bastion, folder) for bastion in bastions]
    try:
        return Inventory.model_validate(plain)
    except ValidationError as error:
        raise _told(where, plain, error.errors()[0]) from error


def _with(defaults: Mapping[str, Any], host: Any, folder: Path) -> Any:
    """Return a host with the defaults of what it leaves out; one kind of key keeps the other one's default out."""
    if not isinstance(host, Mapping):
        return host
    own = {"key_file", "connection"} & set(host)
    merged = {**{k: v for k, v in defaults.items() if not (own and k in ("key_file", "connection"))}, **host}
    if isinstance(merged.get("key_file"), str):
        merged["key_file"] = str(folder / Path(merged["key_file"]).expanduser())
    return merged


def _told(where: str, plain: Mapping[str, Any], fault: Mapping[str, Any]) -> UserError:
    """Return a fault in the words of somebody who writes inventories."""
    place: list[str] = []
    current: Any = plain
    for part in fault["loc"]:
        if isinstance(current, list) and isinstance(part, int):
            current = current[part]
        else:
            current = current.get(part) if isinstance(current, Mapping) else None
        is_named = isinstance(part, int) and isinstance(current, Mapping) and "name" in current
        place.append(str(current["name"]) if is_named else str(part))
    key, kind = ".".join(place), fault["type"]
    if fault["loc"][-1:] == ("host_key",):
        host = plain[fault["loc"][0]][fault["loc"][1]]
        found = "there is none" if kind == "missing" else f"got {fault['input']!r:.60}"
        remedy = HOW_TO_PIN.format(address=host.get("address", "ADDRESS"))
        return UserError(f"{where}: {key}: expected the machine's public host key, {found}. {remedy}.", key=key)
    if kind == "extra_forbidden":
        said = "unknown key; remove it or correct its spelling"
    elif kind == "missing":
        said = "expected a value, there is none; add it"
    else:
        said = re.sub(r"^Value error, ", "", str(fault["msg"]))
    given = "" if kind in ("missing", "value_error") else f", got {fault['input']!r:.80}"
    return UserError(f"{where}: {f'{key}: ' if key else ''}{said}{given}. See docs/tutorial/06-your-own-machines.md.")
