"""The program: the script `secateur`, and `python -m secateur` if the script is not on the path.

Nothing slow is imported before Ctrl-C is handled: the imports of a command take most of the time of a short one.
"""

import sys


def run() -> int:
    """Runs the command line of this process and returns its exit code; Ctrl-C during imports also prints one line."""
    if sys.platform == "win32":
        sys.exit("error: secateur runs on Linux and macOS\nhint: on Windows, install it in WSL")
    try:
        from secateur.cli.interruption import end_at_once

        end_at_once()
        from secateur.cli.main import main

        return main()
    except KeyboardInterrupt:
        from secateur.cli.interruption import wants_json
        from secateur.cli.output import report_interruption

        return report_interruption(as_json=wants_json(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(run())
