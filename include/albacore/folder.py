"""Digest, pack and unpack a folder, the same way on the controller and on the nodes.

Standard library only and no import of Albacore: this file is copied to every node beside the agent.
"""

import hashlib
import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

MAX_UNPACKED_BYTES = 256_000_000


def files(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield (relative path, path) of every file that counts, sorted by relative path.

    Left out are what Python, editors and file browsers drop: `__pycache__`, `*.pyc`, `*~`, `#*#`, and every name with a
    leading dot. A link to a file that lies beside the folder, in what its neighbours share, counts as that file.

    Raises:
        ValueError: At any other link or a special file, which cannot be copied faithfully.
    """
    found = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if not _is_dropping(name)]
        for name in [*names, *(sub for sub in subfolders if Path(folder, sub).is_symlink())]:
            path = Path(folder, name)
            if not _is_dropping(name):
                found.append((path.relative_to(root).as_posix(), path))
    for relative, path in sorted(found):
        if not path.is_file() or (path.is_symlink() and not _is_shared(path, root)):
            raise ValueError(f"{path}: expected a plain file, found a link or a special file. Replace it by a copy.")
        yield relative, path


def _is_shared(link: Path, root: Path) -> bool:
    """Say whether a link leads to a file in a folder beside `root`."""
    return link.resolve().is_relative_to(root.resolve().parent)


def digest(root: Path) -> str:
    """Return the SHA-256 over relative paths, executable bits and contents."""
    total = hashlib.sha256()
    for relative, path in files(root):
        content = path.read_bytes()
        total.update(f"{relative}\0{'x' if _is_executable(path) else '-'}{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()


def archive(root: Path) -> bytes:
    """Return the folder as a tar.gz that depends on nothing but what `digest` reads."""
    import gzip  # here, because a node that only digests should not wait for it
    import tarfile

    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for relative, path in files(root):
            content = path.read_bytes()
            member = tarfile.TarInfo(relative)
            member.size = len(content)
            member.mode = 0o755 if _is_executable(path) else 0o644
            tar.addfile(member, io.BytesIO(content))
    return gzip.compress(raw.getvalue(), compresslevel=6, mtime=0)


def unpack(packed: bytes, destination: Path) -> None:
    """Replace a folder by the content of an archive; it is never seen half written.

    Raises:
        ValueError: At a member that is not a plain file below the folder, or when the content is larger than 256 MB.
    """
    fresh = destination.with_name(f".{destination.name}.{os.getpid()}")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        _unpack_into(fresh, packed)
        old = destination.with_name(f".{destination.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        if destination.exists():
            destination.rename(old)
        fresh.rename(destination)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _unpack_into(fresh: Path, packed: bytes) -> None:
    """Write the members below a new folder."""
    import tarfile

    fresh.mkdir(parents=True)
    left = MAX_UNPACKED_BYTES
    try:
        tar = tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz")  # noqa: SIM115 -- closed below
    except tarfile.TarError as error:
        raise ValueError(f"not a tar.gz: {error}.") from error
    with tar:
        for member in tar:
            pure = PurePosixPath(member.name)
            left -= member.size
            if not member.isreg() or pure.is_absolute() or ".." in pure.parts or not pure.parts or left < 0:
                raise ValueError(
                    f"archive: member {member.name!r} is not a plain file below the folder, or it is too large."
                )
            content = tar.extractfile(member)
            path = fresh / pure
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read() if content else b"")
            path.chmod(0o755 if member.mode & 0o100 else 0o644)


def _is_dropping(name: str) -> bool:
    """Say whether a name is what a tool leaves behind rather than a part of the folder."""
    return name == "__pycache__" or name.startswith((".", "#")) or name.endswith(("~", ".pyc"))


def _is_executable(path: Path) -> bool:
    """Say whether the owner may execute the file; the only bit of the mode that counts."""
    return bool(path.stat().st_mode & 0o100)
