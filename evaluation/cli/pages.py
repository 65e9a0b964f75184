"""`report` and `rows`: pages from the results of the other commands."""

from common.files import claim
from evaluation.cli.options import ReportOptions, RowsOptions
from evaluation.report import pages


def report(options: ReportOptions) -> None:
    """Write the report; print the main scores beside the baselines."""
    with claim(options.output.parent, name=f".{options.output.stem}.claim"):
        beside = options.beside
        paths = pages.write_report(options.results, options.output, beside=beside, say=print)
        print(f"-> {', '.join(map(str, paths))}")


def rows(options: RowsOptions) -> None:
    """Write the page of all rows, and its CSV files."""
    beside = (options.results.parent / name for name in ("leaks", "mistakes"))
    leaks, mistakes = (folder if folder.is_dir() else None for folder in beside)
    with claim(options.output.parent, name=f".{options.output.stem}.claim"):
        pages.write_rows(
            options.results,
            options.output,
            pairs=options.pairs,
            names=options.runs,
            contamination=leaks,
            mistakes=mistakes,
            outside=dict(given.split("=", 1) for given in options.outside),
            about=options.about,
        )
    print(f"-> {options.output}")
