"""Writes docs/parameters.md: type, default, accepted values and meaning of every parameter.

python -m model.configs.reference > docs/parameters.md
"""

import json
from collections.abc import Iterator

from official.modeling import hyperparams

from common.fields import noun
from model.configs import EXPERIMENTS, parameter, parsing

HEAD = """\
# Parameters

`python -m model.configs.reference > docs/parameters.md` writes this page.

Set a parameter in a YAML file (`--config_file`) or, with its section before its name, by
`--params_override "task.seed=1,trainer.train_steps=500"`. `--print_config` prints those of
a run. Values of another type or out of range are refused. So are those of the Model Garden that
this page does not list, because they would have no effect. Defaults are those of the first
experiment that has the section; `--experiment NAME --print_config` prints those of another.
[training.md](training.md) says which parameters matter.
"""
_TABLE = "| parameter | type | default | accepted | meaning |\n|---|---|---|---|---|\n"


def page() -> str:
    """The reference, in Markdown: a table for each kind of section."""
    places: dict[type, list[str]] = {}
    tables: dict[type, str] = {}
    for experiment in EXPERIMENTS:
        for where, section in parameter.sections(parsing.defaults(experiment)):
            rows = "".join(_rows(section))
            if rows and where[:-1] not in places.setdefault(type(section), []):
                places[type(section)].append(where[:-1])
                tables.setdefault(type(section), rows)
    # `task` of each experiment is a class of its own, with the same parameters.
    shown = {", ".join(f"`{each}`" for each in places[kind]): rows for kind, rows in tables.items()}
    return HEAD + "".join(f"\n## {title}\n\n{_TABLE}{rows}" for title, rows in shown.items())


def _rows(section: hyperparams.Config) -> Iterator[str]:
    """The row of each parameter."""
    inner = parameter.parts(section)
    for name, (kind, declaration) in parameter.declared(type(section)).items():
        if name in inner:
            continue
        accepted = ", ".join(inner) if name == "type" and inner else declaration.range()
        default = json.dumps(getattr(section, name))
        cells = (f"`{name}`", noun(kind), f"`{default}`", accepted, declaration.help)
        yield f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    print(page(), end="")
