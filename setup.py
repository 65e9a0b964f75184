"""Installs all packages below one name, as common/installed.py explains; see pyproject.toml."""

from setuptools import find_packages, setup

NAME = "conversational_embeddings_tools"
PACKAGES = ("common", "data_pipeline", "model", "export", "evaluation")
PARTS = tuple(f"{package}.*" for package in PACKAGES)

setup(
    packages=[f"{NAME}.{package}" for package in find_packages(include=PACKAGES + PARTS)],
    package_dir={NAME: "."},
)
