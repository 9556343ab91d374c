"""`secateur evaluate DIR… --profile A --profile B`: measures how well profiles answer judged queries."""

import os
from contextlib import closing
from dataclasses import replace

from secateur import CommandCall, CommandParser, SecateurError

PARTS = ("held_out", "training", "all")


def measured_budgets(parser: CommandParser) -> None:
    """Adds the flag of commands that measure profiles at budgets."""
    parser.add_argument(
        "--budget",
        type=parser.whole_number("--budget", 0),
        action="append",
        default=[],
        metavar="N",
        help="a budget to measure at, in tokens; repeatable (default 4000, 8000 and 16000)",
    )


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument(
        "paths",
        metavar="DIR",
        nargs="+",
        help="folders (or files) of judged cases: scenarios with a [judged] table, or what `secateur mine` wrote",
    )
    measured_budgets(parser)
    parser.add_argument(
        "--part",
        type=parser.one_of("--part", PARTS),
        choices=PARTS,
        default="held_out",
        help="which mined cases: held_out (default), training or all; cases without a part always count",
    )
    parser.executor_arguments("measure")
    parser.source_arguments()
    parser.common_arguments(several_profiles=True)


def run(options: CommandCall) -> int:
    """Measures the profiles. The exit code is 1 if no case can be measured. After an interruption (130) it prints the
    cases measured so far."""
    from secateur_lab.evaluation.cases import LeftOut, read_cases, select_set
    from secateur_lab.evaluation.measuring import Choice, MeasuredCase, make_plan, measure_with
    from secateur_lab.evaluation.report import Evaluation, json_report, text_report

    profiles = list(dict.fromkeys(options.profile)) or [None]
    choices = [Choice(name, sources=options.settings_sources()) for name in profiles]
    # loading reports a wrong name or key before anything is measured
    choices = [replace(choice, profile=choice.load(None).settings.profile) for choice in choices]
    plan = make_plan(choices, options.budget)
    judged, unreadable = read_cases([options.named_folder(path) for path in options.paths])
    cases = select_set(judged, options.part)
    if not judged and not unreadable:
        raise SecateurError(
            f"there is no judged case in {', '.join(options.paths)}",
            hint="write a [judged] table into a scenario, or draw cases from a history: secateur mine --out DIR",
            code="NO_CASES",
        )
    measured: list[MeasuredCase] = []
    left_out: list[LeftOut] = list(unreadable)
    progress, interrupted = options.progress_bar(unit="cases"), False
    try:
        progress("measuring", 0, len(cases))
        with options.executor_of() as jobs, closing(measure_with(jobs, cases, plan, os.environ)) as coming:
            for result in coming:
                if isinstance(result, LeftOut):
                    left_out.append(result)
                else:
                    measured.append(result)
                progress("measuring", len(measured) + len(left_out) - len(unreadable), len(cases))
    except KeyboardInterrupt:
        interrupted = True
    finally:
        progress.close()
    measured.sort(key=lambda case: case.case.path.as_posix())
    left_out.sort(key=lambda case: case.name)
    evaluation = Evaluation(plan, measured, left_out, len(judged) - len(cases), options.part, interrupted)
    if options.format == "json":
        options.emit(json_report(evaluation))
    else:
        options.emit(text_report(evaluation, verbose=options.verbose))
    return 130 if interrupted else 0 if measured or not left_out else 1
