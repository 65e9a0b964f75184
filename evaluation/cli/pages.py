"""`report` and `rows`: pages from the results of the other commands."""

from common.files import claim
from evaluation.cli.options import ReportOptions, RowsOptions
from evaluation.report import comparison, html_page, results_page
from evaluation.report.systems import left_out, read_module
from evaluation.results import store, text


def report(options: ReportOptions) -> None:
    """Write the report; print the table of all scores, and the main ones beside the baselines."""
    with claim(options.output.parent, name=f".{options.output.stem}.claim"):
        html_page.check_output(options.output)
        systems = read_module(options.results, options.beside)
        paths = html_page.write(systems, options.output)
        print(text.overview(store.read_results(options.results)))
        for task, figure in comparison.of_each_task(systems).items():
            print(figure.line(task))
        for sentence in left_out(systems):
            print(sentence)
        print(f"-> {', '.join(map(str, paths))}")


def rows(options: RowsOptions) -> None:
    """Write the page of all rows, and its CSV files."""
    beside = (options.results.parent / name for name in ("models", "leaks", "mistakes"))
    models, leaks, mistakes = (folder if folder.is_dir() else None for folder in beside)
    with claim(options.output.parent, name=f".{options.output.stem}.claim"):
        results_page.write(
            options.results,
            options.output,
            pairs=options.pairs,
            runs=options.runs,
            models=models,
            contamination=leaks,
            mistakes=mistakes,
            outside=dict(given.split("=", 1) for given in options.outside),
            about=options.about,
        )
    print(f"-> {options.output}")
