"""loco-sim new, and the C++ package that its projects find: in the build tree, and where it is installed."""

import os
import pathlib
import re
import resource
import shutil
import subprocess

import pytest

FILES = ["CMakeLists.txt", "README.md", "loco_program.cpp", "verbs_program.cpp"]


def call(*command, cwd=None, timeout=600):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(project):
    """Builds it with the two commands of its README, and returns what its programs print."""
    commands = re.search(r"```\n(.*?)```", (project / "README.md").read_text(), re.DOTALL)[1].splitlines()
    for command in commands[:2]:
        call(*command.split(), cwd=project)
    assert commands[2:] == ["build/loco_program", "build/verbs_program"]
    return [call(*command.split(), cwd=project) for command in commands[2:]]


def expect_right(outputs):
    loco, verbs = outputs
    *reads, verdict = loco.splitlines()
    assert sorted(line.split(" after ")[0] for line in reads) == [f"node {n} reads 21.5" for n in range(4)]
    assert verdict.startswith("consistent: rdmawait, sv, bal")
    assert re.fullmatch(r"success after \d+ ns\nhost 1 has 42\n", verbs)


def test_the_project_is_written(loco_sim, tmp_path):
    project = tmp_path / "a ring, of 3"
    done = loco_sim("new", project)
    assert done.returncode == 0 and done.stderr == ""
    assert sorted(path.name for path in project.iterdir()) == FILES
    assert "project(a_ring__of_3 " in (project / "CMakeLists.txt").read_text()
    assert not any("@" in path.read_text() for path in project.iterdir())
    (tmp_path / "empty").mkdir()
    assert loco_sim("new", tmp_path / "empty").returncode == 0


def test_what_is_there_is_left_alone(loco_sim, tmp_path):
    (tmp_path / "mine.cpp").write_text("int main() {}\n")
    for there in (tmp_path, tmp_path / "mine.cpp"):
        done = loco_sim("new", there)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f'loco-sim new: expected a folder that is not there yet, or empty, found "{there}"\n'
    assert [path.name for path in tmp_path.iterdir()] == ["mine.cpp"]


def test_a_program_without_its_package_says_so(program, tmp_path):
    copy = shutil.copy(program, tmp_path)
    done = subprocess.run([copy, "new", tmp_path / "x"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("loco-sim new: expected the C++ package") and done.stderr.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_a_build_tree_without_its_libraries_says_so(program, tmp_path):
    """There is the file that find_package reads as soon as it is configured; what that names may be yet to be built."""
    package = tmp_path / "lib/cmake/loco_sim"
    package.mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    (package / "loco_sim-config.cmake").write_text("")
    library = tmp_path / "libx.a"
    (package / "loco_sim-targets.cmake").write_text(f'set_target_properties(x PROPERTIES IMPORTED_LOCATION_RELEASE "{library}")\n')
    copy = shutil.copy(program, tmp_path / "bin")
    done = subprocess.run([copy, "new", tmp_path / "x"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, (tmp_path / "x").exists()) == (2, "", False)
    assert done.stderr.startswith("loco-sim new: expected the C++ package beside this program")
    library.write_text("")
    assert subprocess.run([copy, "new", tmp_path / "x"], capture_output=True, timeout=60).returncode == 0


@pytest.mark.long  # it compiles
def test_the_project_builds_with_the_build_tree(loco_sim, tmp_path):
    loco_sim("new", tmp_path / "project")
    expect_right(built(tmp_path / "project"))


@pytest.mark.long
def test_the_project_builds_with_an_installed_package(program, root, tmp_path):
    build = pathlib.Path(program).parents[1]
    prefix = tmp_path / "prefix"
    for component in ("program", "package"):
        call("cmake", "--install", build, "--prefix", prefix, "--component", component)
    call(prefix / "bin/loco-sim", "new", tmp_path / "project", cwd=tmp_path)
    assert str(prefix) in (tmp_path / "project/CMakeLists.txt").read_text()
    expect_right(built(tmp_path / "project"))

    # a project of somebody else: a library of ours by its own name, and no warning from our headers
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(other CXX)\nfind_package(loco_sim 0.1 REQUIRED)\n"
        "add_executable(ring ring.cpp)\ntarget_link_libraries(ring PRIVATE loco_sim::verbs loco_sim::nic_model fmt::fmt)\n"
        "target_compile_options(ring PRIVATE -Wall -Wextra -Werror)\n")
    shutil.copy(root / "examples/verbs_ring.cpp", tmp_path / "ring.cpp")
    call("cmake", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=tmp_path)
    call("cmake", "--build", "build", cwd=tmp_path)
    assert re.fullmatch(r"400 hops of \d\.\d+ us\n", call(tmp_path / "build/ring", cwd=tmp_path))


def test_scenarios_by_name(loco_sim, program, root, tmp_path):
    listed = loco_sim("list", "scenarios").stdout
    assert re.search(r"^quickstart +\S", listed, re.MULTILINE) and re.search(r"^fabric/flow +\S", listed, re.MULTILINE)
    names = [line.split()[0] for line in listed.splitlines()[1:]]
    assert names == sorted(str(path.relative_to(root / "scenarios"))[:-5] for path in (root / "scenarios").rglob("*.yaml"))

    def run(name):
        return subprocess.run([program, "run", name], cwd=tmp_path, env=os.environ | {"LOCO_SIM_DATA": str(root)},
                              capture_output=True, text=True, timeout=60)

    by_path = loco_sim("run", "scenarios/quickstart.yaml")
    assert run("quickstart").stdout == by_path.stdout
    assert run("barrier_without_fence").returncode == 1  # of scenarios/faults/
    for name, hint in (("quikstart", 'did you mean "quickstart"?'),
                       ("scenarios/quickstart.yaml", "did you mean the scenario quickstart?"),
                       ("incast_dcqcn", "did you mean the scenario fabric/incast_dcqcn or gallery/incast_dcqcn?")):
        done = run(name)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (f"{name}:1:1: expected a readable file, or the name of a scenario (loco-sim list scenarios), "
                               f"found none; {hint}\n")
    (tmp_path / "quickstart").write_text("workload: {kind: nothing}\n")  # a file comes before a name
    assert "nothing" in run("quickstart").stderr


@pytest.mark.parametrize(("place", "said"), [("file/ring", "Not a directory"), ("/proc/ring", "No such file or directory")])
def test_a_folder_that_cannot_be_made_is_told_in_one_line(loco_sim, tmp_path, place, said):
    (tmp_path / "file").write_text("")
    folder = tmp_path / place
    done = loco_sim("new", folder)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"loco-sim: {folder}: {said}\n")


@pytest.mark.parametrize("name", ["x" * 256, "x/" * 3000])
def test_a_name_that_no_folder_can_have_is_bad_input(loco_sim, tmp_path, name):
    done = loco_sim("new", f"{tmp_path}/{name}")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "expected a name of at most 255 bytes in a path of at most 4095, found a longer one" in done.stderr


@pytest.mark.parametrize("there", [False, True], ids=["made", "there before"])
def test_a_project_that_cannot_be_written_leaves_nothing(program, root, tmp_path, there):
    folder = tmp_path / "above" / "ring"
    if there:
        folder.mkdir(parents=True)
    done = subprocess.run([program, "new", folder], cwd=root, capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY)))
    assert done.returncode == 1 and done.stderr.endswith(": File too large\n") and done.stderr.count("\n") == 1
    assert folder.exists() == there and (tmp_path / "above").exists() == there
    assert not there or not list(folder.iterdir())


def test_a_link_to_nothing_is_no_new_folder(loco_sim, tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    done = loco_sim("new", tmp_path / "link")
    assert done.returncode == 2 and "expected a folder that is not there yet, or empty" in done.stderr
