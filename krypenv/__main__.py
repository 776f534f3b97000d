"""The command `krypenv`, also as `python -m krypenv`."""

import sys


def main() -> None:
    """Run the command line. If it can't be loaded, `krypenv doctor` still runs and says why."""
    try:
        from krypenv.training.cli.commands import main as run
    except (ImportError, SystemExit) as error:
        if sys.argv[1:] == ["doctor"]:
            from krypenv.doctor import report as doctor

            sys.exit(doctor.main())
        if isinstance(error, SystemExit):  # its message says what is missing
            raise
        sys.exit(f"krypenv: {error}; to see what is wrong, run: python -m krypenv doctor")
    run()


if __name__ == "__main__":
    main()
