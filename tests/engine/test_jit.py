"""Where compiled kernels are kept, when they are made anew, and what is said about it."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from mexenv.engine import _jit
from mexenv.engine import state as st
from mexenv.engine._intrinsics import ctz, popcount
from mexenv.engine.deal import halves
from mexenv.rules.tiles import tile_of

KERNEL = """
from mexenv.engine import _jit
from mexenv.engine import state as st
assert _jit.CACHE_FOLDER is None, _jit.CACHE_FOLDER

@_jit.kernel
def double(x):
    return 2 * x

print(double(21))
for _ in range(2):
    with _jit.announced_compile("game"):
        pass
"""


@pytest.fixture
def no_homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Caches go nowhere but below the returned folder."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(_jit.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    return tmp_path


def test_the_folder_is_below_the_users_caches(no_homes: Path) -> None:
    folder = _jit._find_cache_folder()
    assert folder is not None and folder.parent == no_homes / "home" / "mexenv"
    assert folder.name == f"kernels-{_jit._source_hash()}"
    assert not list(folder.iterdir()), "the probe is gone"
    assert folder.stat().st_mode & 0o077 == 0, "others cannot write code that is run here"


def test_numbas_own_setting_comes_first(no_homes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(no_homes / "mine"))
    folder = _jit._find_cache_folder()
    assert folder is not None and folder.parent == no_homes / "mine" / "mexenv"


def test_an_unwritable_home_falls_back_to_the_temporary_folder(no_homes: Path) -> None:
    (no_homes / "home").write_text("a file, no folder")
    folder = _jit._find_cache_folder()
    assert folder is not None and folder.parent.parent == no_homes / "tmp"


def test_without_any_writable_folder_there_is_no_cache(no_homes: Path) -> None:
    for name in ("home", "tmp"):
        (no_homes / name).write_text("a file, no folder")
    assert _jit._find_cache_folder() is None


def test_a_folder_of_somebody_else_is_not_trusted(no_homes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(os, "getuid"):
        pytest.skip("files have no owners here")
    owner = os.getuid()
    monkeypatch.setattr(_jit.os, "getuid", lambda: owner + 1)
    assert _jit._find_cache_folder() is None


def test_kernels_work_without_a_cache(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    script = tmp_path / "script.py"
    script.write_text(KERNEL)
    done = subprocess.run(
        [sys.executable, str(script)], env={**os.environ, "NUMBA_CACHE_DIR": str(blocked / "below")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, ["42"]), done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("mexenv:")]
    assert len(told) == 1, "said once"
    assert "no folder to keep it in is writable" in told[0]


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package whose sources may be edited."""
    copy = tmp_path / "mexenv"
    shutil.copytree(_jit._PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(_jit, "_PACKAGE", copy)
    return copy


@pytest.mark.parametrize(
    "name",
    ["engine/play.py", "engine/state.py", "engine/_jit.py", "observation/encode.py", "agents/scripted.py"],
)
def test_an_edit_of_a_kernel_source_changes_the_folder(name: str, sources: Path) -> None:
    before = _jit._source_hash()
    assert before == _jit._source_hash()
    path = sources / name
    path.write_text(path.read_text() + "\n# edited\n")
    edited = _jit._source_hash()
    assert edited != before
    path.rename(path.with_name("renamed.py"))
    assert _jit._source_hash() not in (before, edited)


def test_the_installed_package_and_a_copy_of_it_share_kernels(sources: Path) -> None:
    before = _jit._source_hash()
    (sources / "render" / "text.py").write_text("# no kernels here\n")
    assert _jit._source_hash() == before


def test_every_file_with_kernels_is_in_a_folder_that_counts_or_stands_alone() -> None:
    """Elsewhere a kernel may be defined only if no other file's kernels are built on it."""
    using = {
        path.relative_to(_jit._PACKAGE).parts[0]
        for path in _jit._PACKAGE.rglob("*.py")
        if "@kernel" in path.read_text(encoding="utf-8")
    }
    assert using <= {*_jit._KERNEL_FOLDERS, "envs"}


def test_another_numba_or_python_gets_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _jit._source_hash()
    monkeypatch.setattr(_jit.numba, "__version__", "0.0")
    assert _jit._source_hash() != before


def test_old_folders_are_dropped_but_for_two(no_homes: Path) -> None:
    base = no_homes / "home" / "mexenv"
    for age in range(5):
        folder = base / f"kernels-{age}"
        (folder / "inside").mkdir(parents=True)
        os.utime(folder, (1000 - age, 1000 - age))
    (base / "other").mkdir()
    folder = _jit._find_cache_folder()
    assert folder is not None
    assert {path.name for path in base.iterdir()} == {folder.name, "kernels-0", "kernels-1", "other"}


def test_compilation_is_announced_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_jit, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(_jit, "_announced", set())
    with pytest.raises(ZeroDivisionError), _jit.announced_compile("test"):
        assert "compiling the test kernels (once" in capsys.readouterr().err
        assert not gc.isenabled()
        raise ZeroDivisionError
    assert gc.isenabled()
    with _jit.announced_compile("test"):
        assert capsys.readouterr().err == "", "not twice in a process"
    monkeypatch.setattr(_jit, "_announced", set())
    with _jit.announced_compile("test"):
        assert "compiling the test" in capsys.readouterr().err, "again, since it did not come to its end"
    monkeypatch.setattr(_jit, "_announced", set())
    with _jit.announced_compile("test"):
        assert capsys.readouterr().err == "", "not in a later process"
    with _jit.announced_compile("other"):
        assert "the other kernels" in capsys.readouterr().err


def test_nothing_is_announced_without_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_jit, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(_jit, "JIT_DISABLED", True)
    with _jit.announced_compile("test"):
        assert capsys.readouterr().err == ""


def test_kernels_leave_numbas_own_cache_setting_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "untouched")

    @_jit.kernel
    def nothing(x: int) -> int:
        return x

    assert numba.config.CACHE_DIR == "untouched"
    assert nothing(3) == 3


def test_bits() -> None:
    @_jit.kernel
    def lowest(x: int) -> int:
        return ctz(x)

    @_jit.kernel
    def count(x: int) -> int:
        return popcount(x)

    for x in (1, 2, 3, 12, 1 << 18, (1 << 19) - 1, 1 << 62):
        assert (lowest(x), count(x)) == ((x & -x).bit_length() - 1, x.bit_count())
    assert count(0) == 0


@_jit.kernel
def both_halves(tile: int) -> tuple[int, int]:
    return halves(tile)


def test_halves_of_every_tile() -> None:
    for tile in range(190):
        assert tuple(both_halves(tile)) == tile_of(tile)


def test_inner_kernels_are_compiled_for_themselves_when_python_calls_them() -> None:
    assert both_halves(5) == (2, 2)  # compiled by now, as a part of that
    assert [tuple(halves(tile)) for tile in (0, 2, 5)] == [tile_of(0), tile_of(2), tile_of(5)]


def test_inner_kernels_have_no_machine_code_of_their_own() -> None:
    """They are linked into whichever kernel Python calls, and are optimised with it."""

    @_jit.inner
    def double(x: int) -> int:
        return 2 * x

    @numba.njit
    def quadruple(x: int) -> int:
        return double(double(x))

    assert quadruple(3) == 12
    for compiled, made in ((double, False), (quadruple, True)):
        (result,) = compiled.overloads.values()
        engine = result.library.codegen._engine
        assert engine.is_symbol_defined(result.fndesc.llvm_func_name) is made


def test_constants_make_no_code_of_their_own() -> None:
    @_jit.inner
    def scaled(x: int, factor: int, negative: bool) -> int:
        return -x * factor if negative else x * factor

    @numba.njit
    def caller(x: int) -> int:
        return scaled(x, 2, True) + scaled(x, 3, False) + scaled(x, x, x > 1)

    assert caller(1) == 2
    assert len(scaled.overloads) == 1


def test_kernels_for_each_size_of_records_are_announced_by_a_name_of_their_own() -> None:
    assert st.name_of_kernels("scripted play", st.SMALL) == "scripted play"
    assert st.name_of_kernels("scripted play", st.LARGE) == "large scripted play"
