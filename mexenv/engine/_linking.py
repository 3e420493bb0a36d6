"""Compile a function for other kernels alone: as code to link into them.

Numba optimises each function, and makes machine code of it, together with all that it calls, so the
innermost ones as often as there are functions around them. A function that only kernels call needs neither:
whichever kernel Python calls is optimised as a whole. This takes a third off the compilation of the engine.

Numba documents its own pipelines (`pipeline_class`) but not the library of a function's code, of which two
steps are left out here; `tests/engine/test_jit.py` holds what is relied on.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class _LinkedLibrary(JITCodeLibrary):
    """Code of one function and of those it calls, which is linked into kernels and never run by itself."""

    def _optimize_final_module(self) -> None:
        """Leave it to the kernel that this is linked into."""

    def _finalize_final_module(self) -> None:
        """Make no machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LinkedLowering(NativeLowering):
    _name = "linked_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        # What callers find the code by. Numba takes the machine code's address, of which there is none.
        entry = object()
        state.targetctx.insert_user_function(entry, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=entry)
        return True


class LinkedCompiler(CompilerBase):
    """Numba's compiler up to the code that others link."""

    def define_pipelines(self) -> list[Any]:
        """The usual passes, but for the last."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        last = {NativeLowering: (_LinkedLowering, "code for kernels to link")}
        manager.passes = [last.get(each[0], each) for each in manager.passes]
        manager.finalize()
        return [manager]
