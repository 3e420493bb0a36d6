"""Single instructions of a processor that kernels use, and their plain forms for when the compiler is off."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from mexenv.engine._jit import JIT_DISABLED

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

    def compare_and_swap(words: Any, i: int, old: int, new: int) -> bool:
        """Put one value in place of another, see below."""
        swapped = bool(words[i] == old)
        if swapped:
            words[i] = new
        return swapped

    def load(words: Any, i: int) -> int:
        """Read a word, see below."""
        return int(words[i])

    def store(words: Any, i: int, new: int) -> None:
        """Write a word, see below."""
        words[i] = new

    def pause() -> None:
        """Nothing, see below."""

    def give_way() -> None:
        """Nothing, see below."""

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

    def _word(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Where the word is: the first two arguments are an array and an index."""
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.gep(data, [args[1]])

    @intrinsic
    def fetch_add(typingctx: Any, counters: Any, i: Any, more: Any) -> Any:
        """Add to a counter (int64) that several threads use; returns what it was before."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.atomic_rmw("add", _word(context, builder, signature, args), args[2], "seq_cst")

        return types.int64(counters, types.int64, types.int64), codegen

    @intrinsic
    def compare_and_swap(typingctx: Any, words: Any, i: Any, old: Any, new: Any) -> Any:
        """Put `new` in place of `old` in a word (int64) that several threads use, if `old` is there."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = _word(context, builder, signature, args)
            return builder.extract_value(builder.cmpxchg(word, args[2], args[3], "seq_cst"), 1)

        return types.boolean(words, types.int64, types.int64, types.int64), codegen

    @intrinsic
    def load(typingctx: Any, words: Any, i: Any) -> Any:
        """Read a word (int64) that several threads use."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load_atomic(_word(context, builder, signature, args), "seq_cst", 8)

        return types.int64(words, types.int64), codegen

    @intrinsic
    def store(typingctx: Any, words: Any, i: Any, new: Any) -> Any:
        """Write a word (int64) that several threads use."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store_atomic(args[2], _word(context, builder, signature, args), "seq_cst", 8)
            return context.get_dummy_value()

        return types.void(words, types.int64, types.int64), codegen

    @intrinsic
    def pause(typingctx: Any) -> Any:
        """Tell the processor that this thread looks at a word again and again, where it can be told."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if platform.machine() in ("x86_64", "AMD64"):
                kind = ir.FunctionType(ir.VoidType(), [])
                builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), [])
            return context.get_dummy_value()

        return types.void(), codegen

    _PREFETCHED = 640
    """Bytes of a record, from its front, that a step is likely to look at."""

    _function_of_c: Any = cgutils.get_or_insert_function

    @intrinsic
    def give_way(typingctx: Any) -> Any:
        """Let another thread have this core if one waits for it, where the system can be told (POSIX)."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if os.name == "posix":
                kind = ir.FunctionType(ir.IntType(32), [])
                builder.call(_function_of_c(builder.module, kind, "sched_yield"), [])
            return context.get_dummy_value()

        return types.void(), codegen

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
