"""Names the packages: `ucutlass` as found, the folders `tools` and `agent` under their import names.

Everything else is in pyproject.toml, which cannot both discover packages and rename them.
"""

from setuptools import find_packages, setup


def renamed(folder: str, name: str) -> list[str]:
    return [name, *(f"{name}.{inner}" for inner in find_packages(folder))]


setup(
    packages=[
        *find_packages(include=["ucutlass", "ucutlass.*"]),
        *renamed("tools", "ucutlass_tools"),
        *renamed("agent", "ucutlass_agent"),
    ]
)
