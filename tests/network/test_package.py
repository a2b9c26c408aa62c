"""find_package(loco): a program of one's own over LOCO alone, without the simulator and what that needs."""

import shutil
import subprocess

import pytest

from .conftest import ROOT, LOCO_SIM, Cluster

BUILD = LOCO_SIM.resolve().parent.parent

CMAKE = """cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES CXX)
find_package(loco REQUIRED)
add_executable(mine mine.cpp)
target_link_libraries(mine PRIVATE loco::loco)
"""


def page() -> str:
    return (ROOT / "docs/loco-on-networks.md").read_text()


def program_of_the_page() -> str:
    return page().split("```cpp\n")[1].split("```")[0]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    if shutil.which("cmake") is None or not (BUILD / "CMakeCache.txt").exists():
        pytest.skip("no build tree")
    folder = tmp_path_factory.mktemp("mine")
    archives = BUILD / "loco_sim/launch/libloco_sim_launch.a"
    if not archives.exists():
        pytest.skip("loco_sim_launch is not built")
    prefix = folder / "prefix"
    subprocess.run(["cmake", "--install", BUILD, "--component", "loco", "--prefix", prefix], check=True,
                   capture_output=True, timeout=120)
    (folder / "CMakeLists.txt").write_text(CMAKE)
    (folder / "mine.cpp").write_text(program_of_the_page())
    for command in (["cmake", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}"], ["cmake", "--build", "build"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_what_is_installed_knows_no_simulator(built):
    headers = {p.relative_to(built / "prefix/include/loco-sim").parts[:2] for p in built.glob("prefix/include/**/*.hpp")}
    assert {h[0] for h in headers} == {"loco_sim", "rdma", "trace"}
    assert {h[1] for h in headers if h[0] == "loco_sim"} <= {"loco", "process", "libibverbs", "libfabric", "launch"}
    names = subprocess.run(["nm", "-C", built / "build/mine"], capture_output=True, text=True, check=True).stdout
    assert "loco::barrier::waiting" in names
    for stranger in ("loco::sim::", "loco::nic::", "loco::hosts::", "loco::model::"):
        assert stranger not in names


def test_the_program_of_the_page_runs(built):
    if not shutil.which("fi_info"):
        pytest.skip("no libfabric-bin")
    told = Cluster(str(built / "build/mine"), 3).end()
    assert [status for status, _, _ in told] == [0, 0, 0], told
    assert sorted(out for _, out, _ in told) == [f"node {n} of 3 reads 21.5\n" for n in range(3)]
