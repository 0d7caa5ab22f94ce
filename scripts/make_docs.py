"""Makes the documentation: `make docs` runs it, and it is a hook of mkdocs, so that `mkdocs serve` has all pages too.

    python scripts/make_docs.py                  the site, in site/
    python scripts/make_docs.py --pages FOLDER   only the pages that are made from the code, as Markdown

Imports mkdocs and the compiler.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import docs_highlight
import docs_tables
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
GRAMMAR = ROOT / "ucutlass" / "frontend" / "ucu.lark"

PAGES: Mapping[str, Callable[[], str]] = {
    "operations.md": docs_tables.operations,
    "setters.md": docs_tables.setters,
    "passes.md": docs_tables.passes,
    "diagnostics.md": docs_tables.diagnostics,
    "tools.md": docs_tables.tools,
}
"""The pages that are made from the code."""

_INCLUDED: Mapping[str, Callable[[], str]] = {
    "<!-- grammar -->": lambda: f"```lark\n{GRAMMAR.read_text(encoding='utf-8').rstrip()}\n```",
    "<!-- diagnostic fields -->": lambda: docs_tables.docstring_table("ucutlass.diagnostics.json_output"),
}
"""What a written page may include, by the line that asks for it."""

docs_highlight.register()


def included(markdown: str) -> str:
    """A written page with what it includes."""
    for line, text in _INCLUDED.items():
        markdown = markdown.replace(line, text())
    return markdown


# What mkdocs calls ----------------------------------------------------------------------------------------------------


def on_config(config: Mapping[str, list[object]]) -> None:
    """Adds the pages of measured results, as many as there are."""
    results = sorted(str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs" / "results").glob("*.md"))
    if results:
        config["nav"].append({"Results": results})


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are made from the code."""
    for name, make in PAGES.items():
        files.append(File.generated(config, name, content=make()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    return included(markdown)


# The command ----------------------------------------------------------------------------------------------------------


def write_pages(folder: Path) -> None:
    """Writes the pages that are made from the code."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (folder / name).write_text(make(), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=Path, help="write only the pages made from the code, into this folder")
    parser.add_argument("--site", type=Path, default=ROOT / "site", help="folder of the site")
    arguments = parser.parse_args()
    if arguments.pages is not None:
        write_pages(arguments.pages)
        return 0
    # A warning, say a link to nowhere, is an error.
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--clean"]
    site = arguments.site.absolute()
    # The theme would print news about its successor.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    code = subprocess.run([*command, "--site-dir", str(site)], cwd=ROOT, env=environment, check=False).returncode
    if code == 0:
        print(f"docs: {site / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
