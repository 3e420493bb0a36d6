"""Short rows of bytes written as whole vectors (SIMD): a mask as 0s and 1s, a copy, trains seen from a seat.

A row that is 13 long is written 16 wide, and what stands behind it is written afterwards: so a writer fills
its target from the front to the back and sees to it that the last vector does not pass the end. Loops over
such short rows would take several times as long, since the processor cannot guess their turns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from mexenv.engine._jit import JIT_DISABLED, inner

Array = Any

LARGEST = 127
"""Largest number that is copied; int8 holds no larger one."""

_BYTE = ir.IntType(8)


def _bytes_at(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Pointer to the element `index` of an array of bytes."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, _BYTE.as_pointer()), [index])


def _is_bytes(array: Any) -> bool:
    return (
        isinstance(array, types.Array)
        and array.ndim == 1
        and array.layout == "C"
        and array.dtype in (types.int8, types.uint8)
    )


def _load(builder: Any, pointer: Any, lanes: int) -> Any:
    vector = ir.VectorType(_BYTE, lanes)
    return builder.load(builder.bitcast(pointer, vector.as_pointer()), align=1)


def _store(builder: Any, value: Any, pointer: Any) -> None:
    builder.store(value, builder.bitcast(pointer, value.type.as_pointer()), align=1)


def _splat(builder: Any, value: Any, lanes: int) -> Any:
    """A vector with the low byte of an integer in every lane."""
    vector = ir.VectorType(_BYTE, lanes)
    one = builder.insert_element(
        ir.Constant(vector, ir.Undefined), builder.trunc(value, _BYTE), ir.Constant(ir.IntType(32), 0)
    )
    return builder.shuffle_vector(
        one, ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), lanes), None)
    )


def _constant(number: int, lanes: int) -> Any:
    return ir.Constant(ir.VectorType(_BYTE, lanes), [number] * lanes)


def _make_put_bits(lanes: int) -> Any:
    @intrinsic
    def put_bits(typingctx: Any, out: Any, at: Any, bits: Any) -> Any:
        if not _is_bytes(out):
            return None

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = _bytes_at(context, builder, signature.args[0], args[0], args[1])
            mask = builder.bitcast(
                builder.trunc(args[2], ir.IntType(lanes)), ir.VectorType(ir.IntType(1), lanes)
            )
            _store(builder, builder.zext(mask, ir.VectorType(_BYTE, lanes)), pointer)
            return context.get_dummy_value()

        return types.void(out, types.int64, types.int64), codegen

    return put_bits


def _make_put_bytes(lanes: int) -> Any:
    @intrinsic
    def put_bytes(typingctx: Any, out: Any, at: Any, source: Any, first: Any) -> Any:
        if not (_is_bytes(out) and _is_bytes(source)):
            return None

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            read = _load(builder, _bytes_at(context, builder, signature.args[2], args[2], args[3]), lanes)
            top = _constant(LARGEST, lanes)
            clipped = builder.select(builder.icmp_unsigned(">", read, top), top, read)
            _store(builder, clipped, _bytes_at(context, builder, signature.args[0], args[0], args[1]))
            return context.get_dummy_value()

        return types.void(out, types.int64, source, types.int64), codegen

    return put_bytes


PLACES = 32
"""Lanes of `put_places`."""


@intrinsic
def _put_places(typingctx: Any, out: Any, at: Any, where: Any, first: Any, seat: Any, seats: Any) -> Any:
    if not (_is_bytes(out) and _is_bytes(where)):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        train = _load(builder, _bytes_at(context, builder, signature.args[2], args[2], args[3]), PLACES)
        own, players = _splat(builder, args[4], PLACES), _splat(builder, args[5], PLACES)
        turned = builder.sub(train, own)
        before = builder.icmp_unsigned("<=", train, own)
        turned = builder.select(before, builder.add(turned, players), turned)
        fixed = builder.or_(
            builder.icmp_unsigned(">", train, players),
            builder.icmp_unsigned("==", train, _constant(0, PLACES)),
        )
        place = builder.select(fixed, train, turned)
        _store(builder, place, _bytes_at(context, builder, signature.args[0], args[0], args[1]))
        return context.get_dummy_value()

    return types.void(out, types.int64, where, types.int64, types.int64, types.int64), codegen


BLOCK = 64
"""Entries that `nonzero_bits` looks at."""


@intrinsic
def _nonzero_bits(typingctx: Any, row: Any, first: Any) -> Any:
    if not _is_bytes(row):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        read = _load(builder, _bytes_at(context, builder, signature.args[0], args[0], args[1]), BLOCK)
        return builder.bitcast(builder.icmp_unsigned("!=", read, _constant(0, BLOCK)), ir.IntType(64))

    return types.int64(row, types.int64), codegen


if JIT_DISABLED or sys.byteorder != "little":

    def _plain_put_bits(lanes: int) -> Callable[[Array, int, int], None]:
        @inner
        def put_bits(out: Array, at: int, bits: int) -> None:
            for i in range(lanes):
                out[at + i] = (bits >> i) & 1

        return put_bits

    def _plain_put_bytes(lanes: int) -> Callable[[Array, int, Array, int], None]:
        @inner
        def put_bytes(out: Array, at: int, source: Array, first: int) -> None:
            # What lies behind the row is read by the vectors only, and written over afterwards.
            for i in range(lanes):
                inside = first + i < source.shape[0]
                out[at + i] = min(source[first + i], LARGEST) if inside else 0

        return put_bytes

    put_bits16, put_bits32 = _plain_put_bits(16), _plain_put_bits(32)
    put_bytes16, put_bytes32 = _plain_put_bytes(16), _plain_put_bytes(32)

    @inner
    def put_places(out: Array, at: int, where: Array, first: int, seat: int, seats: int) -> None:
        """Write trains as seen from a seat, see the vector form below."""
        for i in range(PLACES):
            train = int(where[first + i]) if first + i < where.shape[0] else 0
            if 0 < train <= seats:
                train = train - seat if train > seat else train - seat + seats
            out[at + i] = min(train, LARGEST)

    @inner
    def nonzero_bits(row: Array, first: int) -> int:
        """Bit i: entry `first` + i is not 0; see the vector form below."""
        bits = 0
        for i in range(BLOCK):
            if row[first + i]:
                bits |= 1 << i
        return bits if bits < 1 << 63 else bits - (1 << 64)

else:
    put_bits16, put_bits32 = _make_put_bits(16), _make_put_bits(32)
    put_bytes16, put_bytes32 = _make_put_bytes(16), _make_put_bytes(32)

    @inner
    def put_places(out: Array, at: int, where: Array, first: int, seat: int, seats: int) -> None:
        """Write trains as seen from a seat: `PLACES` entries.

        Args:
            out: int8, written from `at` on.
            at: first entry written.
            where: uint8, train + 1 (seats + 1: the Mexican Train; 0: none), read from `first` on.
            first: first entry read.
            seat: the observing seat, whose train becomes 1.
            seats: number of seats.
        """
        _put_places(out, at, where, first, seat, seats)  # type: ignore[call-arg]  # no typing context here

    @inner
    def nonzero_bits(row: Array, first: int) -> int:
        """Bit i: entry `first` + i of an int8 row is not 0, for `BLOCK` entries."""
        return _nonzero_bits(row, first)  # type: ignore[call-arg]  # no typing context here


@inner
def put_bits(out: Array, at: int, bits: int, values: int) -> None:
    """Write the bits of a set of up to `values` elements as 0s and 1s, 16 or 32 entries in all.

    Args:
        out: int8, written from `at` on.
        at: first entry written.
        bits: the bit set, lowest bit first.
        values: up to 16: 16 entries are written; more: 32.
    """
    if values <= 16:
        put_bits16(out, at, bits)
    else:
        put_bits32(out, at, bits)


@inner
def put_bytes(out: Array, at: int, source: Array, first: int, values: int) -> None:
    """Copy counts, at most 127 each, 16 or 32 of them.

    Args:
        out: int8, written from `at` on.
        at: first entry written.
        source: uint8, read from `first` on, past its end where that lies in a record.
        first: first entry read.
        values: up to 16: 16 entries are copied; more: 32.
    """
    if values <= 16:
        put_bytes16(out, at, source, first)
    else:
        put_bytes32(out, at, source, first)
