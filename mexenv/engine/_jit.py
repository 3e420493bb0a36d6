"""How the kernels are compiled: one decorator, one cache, a few bit intrinsics.

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
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

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
    line = f"mexenv: compiling the {what} kernels ({kept}; about ten seconds) ..."
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

if TYPE_CHECKING:

    def wide(value: Any) -> int:
        """`value` as a 64-bit integer: a record's small unsigned fields must not mix with signed ones."""

else:
    wide = np.int64

if JIT_DISABLED:

    def borrowed(array: Any) -> Any:
        """The array itself, see below."""
        return array

    def prefetch(games: Any, i: int) -> None:
        """Nothing, see below."""

    def fetch_add(counters: Any, i: int, more: int) -> int:
        """Add to a counter, see below."""
        before = int(counters[i])
        counters[i] += more
        return before

    def ctz(x: int) -> int:
        """Index of the lowest set bit of `x` (x > 0)."""
        return (int(x) & -int(x)).bit_length() - 1

    def popcount(x: int) -> int:
        """Number of set bits of `x`."""
        return int(x).bit_count()

else:

    @intrinsic
    def borrowed(typingctx: Any, array: Any) -> Any:
        """The same array without a reference to its owner, who must outlive every use.

        Each view of an array (`masks[i]`) counts a reference up and down by atomic instructions, which would
        cost more than the rules do. A borrowed array's views count nothing.
        """

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            view = context.make_array(signature.args[0])(context, builder, args[0])
            view.meminfo = ir.Constant(view.meminfo.type, None)
            view.parent = ir.Constant(view.parent.type, None)
            return view._getvalue()

        return array(array), codegen

    @intrinsic
    def prefetch(typingctx: Any, games: Any, i: Any) -> Any:
        """Ask for the front of record `i`, which every step looks at, while other games are stepped."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            byte, word = ir.IntType(8), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), word, word, word])
            ask = builder.module.declare_intrinsic("llvm.prefetch", [byte.as_pointer()], kind)
            size = signature.args[0].dtype.size
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            offset = builder.mul(args[1], ir.Constant(args[1].type, size))
            start = builder.gep(builder.bitcast(data, byte.as_pointer()), [offset])
            for line in range(0, min(size, _PREFETCHED), 64):
                at = builder.gep(start, [ir.Constant(ir.IntType(64), line)])
                builder.call(ask, [at, ir.Constant(word, 1), ir.Constant(word, 3), ir.Constant(word, 1)])
            return context.get_dummy_value()

        return types.void(games, types.int64), codegen

    @intrinsic
    def fetch_add(typingctx: Any, counters: Any, i: Any, more: Any) -> Any:
        """Add to a counter (int64) that several threads use; returns what it was before."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            return builder.atomic_rmw("add", builder.gep(data, [args[1]]), args[2], "seq_cst")

        return types.int64(counters, types.int64, types.int64), codegen

    _PREFETCHED = 640
    """Bytes of a record, from its front, that a step is likely to look at."""

    def _bit_intrinsic(name: str) -> Any:
        @intrinsic
        def count(typingctx: Any, x: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                word = ir.IntType(64)
                if name == "cttz":
                    return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))
                function = builder.module.declare_intrinsic("llvm.ctpop", [word])
                return builder.call(function, [args[0]])

            return types.int64(types.int64), codegen

        return count

    ctz = _bit_intrinsic("cttz")
    popcount = _bit_intrinsic("ctpop")
