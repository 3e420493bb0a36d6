"""How the kernels are compiled: three decorators and one cache.

Numba's on-disk cache looks at the file that defines a function only, so an edit in another
file would be missed. The cache folder's name therefore carries a hash of every kernel source;
folders of older sources are removed.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import njit, types

from mexenv.engine._linking import LinkedCompiler

F = TypeVar("F", bound=Callable[..., Any])

_config: Any = numba.config  # its settings are set when it is imported, so no checker sees them
JIT_DISABLED = bool(_config.DISABLE_JIT)
"""Kernels run as plain Python (`NUMBA_DISABLE_JIT=1`), to step through them or to count what is covered."""

_PACKAGE = Path(__file__).resolve().parent.parent
_KERNEL_FOLDERS = ("engine", "observation", "games", "agents")


def _source_hash() -> str:
    digest = hashlib.sha256(f"{numba.__version__}/{sys.version_info[:2]}".encode())
    for folder in _KERNEL_FOLDERS:
        for path in sorted((_PACKAGE / folder).glob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _find_cache_folder() -> Path | None:
    """A writable folder for compiled kernels, or None (compile anew in each process)."""
    name = f"kernels-{_source_hash()}"
    candidates = []
    if os.environ.get("NUMBA_CACHE_DIR"):
        candidates.append(Path(os.environ["NUMBA_CACHE_DIR"]) / "mexenv")
    else:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        candidates.append(Path(home) / "mexenv")
        user = os.getuid() if hasattr(os, "getuid") else "user"
        candidates.append(Path(tempfile.gettempdir()) / f"mexenv-{user}")
    for base in candidates:
        folder = base / name
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Cached kernels are executed, so a folder that somebody else owns is not trusted.
            if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
                continue
            probe = folder / f".probe-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError:
            continue
        _drop_stale(base, keep=name)
        return folder
    return None


def _drop_stale(base: Path, keep: str) -> None:
    """Remove older kernel folders, all but the two newest: another checkout may use them."""
    stale = [p for p in base.glob("kernels-*") if p.name != keep]
    stale.sort(key=lambda p: p.stat().st_mtime, reverse=True)
    for path in stale[2:]:
        shutil.rmtree(path, ignore_errors=True)


CACHE_FOLDER = _find_cache_folder()


def kernel(function: F) -> F:
    """Compile `function` with Numba: no Python objects, no GIL, cached on disk where possible.

    The three decorators do the same when the compiler is off: they leave the function as it is.
    """
    return _compiled(function, cache=CACHE_FOLDER is not None)


def inner(function: F) -> F:
    """Compile `function` as a part of the kernels that call it.

    A call from Python compiles it as a kernel of its own first.
    """
    return _linked(function)


def inlined(function: F) -> F:
    """An `inner` whose code is put in place of each call, for the short ones that every step runs through."""
    return _linked(function, forceinline=True)


def _linked(function: F, **options: Any) -> F:
    if JIT_DISABLED:
        return function
    linked: Any = _compiled(
        function, pipeline_class=LinkedCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options
    )
    alone: list[F] = []

    def for_python(*args: Any) -> F:
        if not alone:
            alone.append(kernel(function))
        return alone[0]  # which Numba calls then

    # There is nothing that Python could jump to: the dispatcher is not told what has been compiled.
    linked.add_overload = lambda result: linked.overloads.update({result.signature.args: result})
    linked._compile_for_args = for_python
    return cast(F, linked)


def _compiled(function: F, **options: Any) -> F:
    before = _config.CACHE_DIR
    try:
        if CACHE_FOLDER is not None:
            _config.CACHE_DIR = str(CACHE_FOLDER)
        compiled: Any = njit(nogil=True, error_model="numpy", **options)(function)
    finally:
        _config.CACHE_DIR = before
    if not JIT_DISABLED:
        # One code for all the constants that an argument may be in its callers, not one for each.
        plain: Callable[[Any], Any] = types.unliteral
        template = compiled.get_call_template
        compiled.get_call_template = lambda args, named: template(
            tuple(map(plain, args)), {name: plain(kind) for name, kind in named.items()}
        )
    return cast(F, compiled)


def direct(compiled: Callable[..., Any], *example: Any) -> Callable[..., Any]:
    """A kernel for one kind of arguments, called without Numba's choice among kinds.

    That choice takes longer than a move of a game does.

    Args:
        compiled: the kernel.
        *example: arguments; those of later calls must be of the same types, which nobody checks.
    """
    if JIT_DISABLED:
        return compiled
    kernel_: Any = compiled
    typeof: Callable[[Any], Any] = numba.typeof
    signature = tuple(typeof(argument) for argument in example)
    kernel_.compile(signature)
    called: Callable[..., Any] = kernel_.overloads[signature].entry_point
    return called


def record_dtype(fields: list[tuple[Any, ...]]) -> np.dtype[Any]:
    """The dtype of records that kernels read by attribute, compiled or not."""
    plain = np.dtype(fields, align=True)
    # Plain Python finds fields as attributes in `np.record` only; Numba does not need it.
    return np.dtype((np.record, plain)) if JIT_DISABLED else plain


@contextlib.contextmanager
def announced_compile(what: str) -> Iterator[None]:
    """Say once that the kernels for `what` are being compiled, when no earlier run has done so.

    Args:
        what: a short word for the set of kernels, part of a marker file's name.
    """
    marker = None if CACHE_FOLDER is None else CACHE_FOLDER / f"compiled-{what}"
    if JIT_DISABLED or (marker is not None and marker.exists()) or what in _announced:
        yield
        return
    _announced.add(what)
    kept = "once" if marker is not None else "for this process, no folder to keep it in is writable"
    line = f"mexenv: compiling the {what} kernels ({kept}; five to ten seconds) ..."
    print(line, file=sys.stderr, flush=True)
    collecting = gc.isenabled()
    gc.disable()  # the compiler makes so many objects that looking for garbage takes a tenth of its time
    try:
        yield
    finally:
        if collecting:
            if gc.get_freeze_count() == 0:
                # What the compiler made, most of which stays, becomes old without being looked through.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
    if marker is not None:
        with contextlib.suppress(OSError):
            marker.touch()


_announced: set[str] = set()
