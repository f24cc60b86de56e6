"""Identity: the host key that a machine is born with, so that its first connection is to nobody else.

The key follows from the campaign's private SSH key and the machine's name: asking for a machine again asks for the same
one, and nothing but the public half has to be kept anywhere. Whoever has the private key could log in anyway; whoever
is root on a machine sees that machine's own host key and learns nothing of the others.
"""

import base64
import hashlib
import hmac
import struct
from dataclasses import dataclass, field

KIND = b"ssh-ed25519"
LABEL = b"albacore host key 1\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostKey:
    """A pair: `private` goes to the machine only, `public` is pinned."""

    private: str = field(repr=False)
    public: str


def host_key(secret: str, name: str) -> HostKey:
    """Return the host key of a machine: the same for the same secret and name.

    Args:
        secret: The private SSH key's text.
        name: The machine's name.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    seed = hmac.new(secret.strip().encode(), LABEL + name.encode(), hashlib.sha256).digest()
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    blob = _text(KIND) + _text(public)
    return HostKey(private=_openssh(seed, public, blob), public=f"{KIND.decode()} {base64.b64encode(blob).decode()}")


def _openssh(seed: bytes, public: bytes, blob: bytes) -> str:
    """Return a private key as OpenSSH writes it (PROTOCOL.key), but with a check number that is not random.

    Two requests for one machine must not differ in a byte: Azure refuses to change what it was made with.
    """
    check = hashlib.sha256(blob).digest()[:4]
    secret = check + check + _text(KIND) + _text(public) + _text(seed + public) + _text(b"")
    secret += bytes(range(1, 1 + -len(secret) % 8))
    whole = b"openssh-key-v1\0" + _text(b"none") * 2 + _text(b"") + struct.pack(">I", 1) + _text(blob) + _text(secret)
    encoded = base64.b64encode(whole).decode()
    lines = [encoded[i : i + 70] for i in range(0, len(encoded), 70)]
    return "\n".join(["-----BEGIN OPENSSH PRIVATE KEY-----", *lines, "-----END OPENSSH PRIVATE KEY-----", ""])


def _text(content: bytes) -> bytes:
    """Return a string as SSH counts it (RFC 4251 §5)."""
    return struct.pack(">I", len(content)) + content
