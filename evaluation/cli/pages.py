"""`report` and `rows`: pages from the results of the other commands."""

from common.errors import InputError
from evaluation.cli import claimed
from evaluation.cli.options import ReportOptions, RowsOptions
from evaluation.report import comparison, html_page, results_page
from evaluation.report.systems import left_out, read_module
from evaluation.results import store, text


def report(options: ReportOptions) -> None:
    """Write the report; print the table of all scores, and the main ones beside the baselines."""
    with claimed.file(options.output):
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
    if wrong := [given for given in options.outside if not all(given.partition("="))]:
        raise InputError(f"--outside: {wrong[0]}; accepted: NAME=WHAT")
    said = (options.made_by and f"`{options.made_by}`", options.machine)
    with claimed.file(options.output):
        results_page.write(
            options.results,
            options.output,
            pairs=options.pairs,
            runs=options.runs,
            models=options.models,
            contamination=options.contamination,
            mistakes=options.mistakes,
            outside=dict(given.split("=", 1) for given in options.outside),
            about=", ".join(filter(None, said)),
        )
    print(f"-> {options.output}")
