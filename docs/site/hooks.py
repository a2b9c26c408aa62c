"""What the site has beside the pages: reference pages of the Python package and the C++ headers, and the files of the source
tree that pages lead to."""

import ast
import html
import pathlib
import re

from mkdocs.structure.files import File, Files

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\((\.\./[^)#\s]*)(#[^)\s]*)?\)")


def _python_api() -> str:
    """A section for each public name, by the module that has it."""
    tree = ast.parse((ROOT / "pybind/loco_sim/__init__.py").read_text())
    [home] = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "_HOME"]
    names = ast.literal_eval(home)
    text = "# Python reference\n\nEvery name of `import loco_sim as ls`. [python.md](python.md) shows how they go together.\n"
    for name in sorted(names, key=str.lower):
        text += f"\n::: loco_sim.{names[name]}.{name}\n"
    for module in ("plot", "verbs"):
        text += f"\n## loco_sim.{module}\n\n"
        if module == "plot":
            for file in ("_times", "_over_time", "_graphs"):
                text += f"\n::: loco_sim.plot.{file}\n    options: {{show_root_heading: false, show_root_toc_entry: false}}\n"
        else:
            text += "\n::: loco_sim.verbs\n    options: {show_root_heading: false, show_root_toc_entry: false}\n"
    return text


def _source_page(path: pathlib.Path) -> str:
    """A file or a folder of the source tree as a page."""
    name = path.relative_to(ROOT)
    if path.is_dir():
        below = sorted(p.name + ("/" if p.is_dir() else "") for p in path.iterdir() if not p.name.startswith((".", "__pycache__")))
        readme = path / "README.md"
        about = f"<pre>{html.escape(readme.read_text())}</pre>" if readme.exists() else ""
        body = "<ul>" + "".join(f"<li><code>{html.escape(b)}</code></li>" for b in below) + f"</ul>{about}"
    else:
        body = f"<pre>{html.escape(path.read_text(errors='replace'))}</pre>"
    return (f'<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(str(name))}</title><h1>{html.escape(str(name))}</h1>{body}\n")


def on_files(files: Files, config) -> Files:
    # Folders of the source tree that hold the site's own parts and generated data are no pages.
    add = [("python-api.md", _python_api()),
           ("cpp-api.md", "# C++ reference\n\nClasses, functions and files of all public headers: "
                          '<a href="cpp/annotated.html">classes</a>, <a href="cpp/files.html">files</a>.\n')]
    for name, text in add:
        files.append(File.generated(config, name, content=text))
    wanted = set()
    for page in files.documentation_pages():
        if page.generated_by is None:
            where = (ROOT / "docs" / page.src_uri).parent
            for target, _ in LINK.findall(pathlib.Path(page.abs_src_path).read_text()):
                path = (where / target).resolve()
                if path.exists() and ROOT in path.parents and (ROOT / "docs") not in path.parents:
                    wanted.add(path)
    for path in sorted(wanted):
        files.append(File.generated(config, f"source/{path.relative_to(ROOT)}.html", content=_source_page(path)))
    return files


def on_page_markdown(markdown: str, page, config, files) -> str:
    """Links that leave docs/ lead to the copies of what they name; those that lead nowhere stay, and are warned of."""
    where = (ROOT / "docs" / page.file.src_uri).parent
    up = "../" * page.file.src_uri.count("/")

    def moved(match: re.Match) -> str:
        path = (where / match[1]).resolve()
        if not path.exists() or ROOT not in path.parents or (ROOT / "docs") in path.parents:
            return match[0]
        return f"]({up}source/{path.relative_to(ROOT)}.html)"

    return LINK.sub(moved, markdown)
