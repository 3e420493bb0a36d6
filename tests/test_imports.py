"""The house has one-way doors: walk every import of the package and check where it leads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mexenv

ROOT = Path(mexenv.__file__).parent
ORDER = ["rules", "engine", "observation", "games", "agents", "envs"]
# What each room may import besides itself; `assets` finds files, `files` writes them, both import nothing.
ALLOWED = {room: {*ORDER[:place], "assets", "files"} for place, room in enumerate(ORDER)}
ALLOWED |= {
    "assets": set(),
    "files": set(),
    "render": {"rules", "engine", "games"},
    "arena": {"rules", "engine", "observation", "games", "agents", "assets", "files"},
    "testing": {*ORDER},
    "mexican_train_v0": {"envs"},
    "terminal": {"rules", "games", "agents", "render"},
    "bench": {*ORDER, "mexican_train_v0", "files"},
    "cli": {*ORDER, "assets", "files", "render", "arena", "terminal", "bench"},
    "__init__": {*ORDER},
}
# A function may show a game without its module depending on the drawing code.
LAZY = {"envs": {"render"}, "cli": {"training"}}
HEAVY = {"torch", "stable_baselines3", "sb3_contrib", "tensorboard", "onnx"}


def imports(path: Path) -> list[tuple[str, bool]]:
    """Every (imported module, whether at module level) of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []

    def walk(node: ast.AST, top: bool) -> None:
        for child in ast.iter_child_nodes(node):
            inner = top and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            if isinstance(child, ast.Import):
                found.extend((alias.name, top) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}: relative import"
                assert child.module is not None
                found.append((child.module, top))
                if child.module == "mexenv":
                    found.extend((f"mexenv.{alias.name}", top) for alias in child.names)
            walk(child, inner)

    walk(tree, True)
    return found


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


FILES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_left(path: Path) -> None:
    room = room_of(path)
    assert room in ALLOWED, f"{room} is a room without a rule: give it one in this test"
    for name, top in imports(path):
        head, *rest = name.split(".")
        if head == "mexenv" and rest:
            target = rest[0]
            lazily = not top and target in LAZY.get(room, set())
            assert target == room or target in ALLOWED[room] or lazily, f"{path}: imports {name}"
        elif head == "training":
            assert not top and "training" in LAZY.get(room, set()), f"{path}: imports {name}"
        elif head in HEAVY:
            assert path == ROOT / "envs" / "sb3.py", f"{path}: imports {name}"


def test_importing_the_package_stays_light() -> None:
    code = (
        "import sys, mexenv\n"
        "heavy = {'numba', 'onnxruntime', 'matplotlib', 'PIL', 'torch', 'stable_baselines3', 'pydantic'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("package", ["mexenv", "mexenv.envs"])
def test_every_public_name_loads(package: str) -> None:
    if package == "mexenv.envs":
        pytest.importorskip("stable_baselines3")
    module = __import__(package, fromlist=["_"])
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert name in dir(module)
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        module.nothing_of_the_kind  # noqa: B018


@pytest.mark.parametrize("path", [ROOT / "__init__.py", ROOT / "envs" / "__init__.py"], ids=str)
def test_lazy_names_are_known_to_type_checkers(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    seen = {
        alias.asname: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    module = __import__("mexenv" if path.parent == ROOT else "mexenv.envs", fromlist=["_"])
    assert seen == module._HOME
