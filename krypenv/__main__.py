"""The command `krypenv`, also as `python -m krypenv`."""

import sys


def main() -> None:
    """Run the command line; where it can't be loaded, `krypenv doctor` still tells why."""
    try:
        from krypenv.training.cli.commands import main as run
    except (ImportError, SystemExit) as error:
        if sys.argv[1:] == ["doctor"]:
            from krypenv.doctor import report as doctor

            sys.exit(doctor.main())
        if isinstance(error, SystemExit):  # it says itself what is missing
            raise
        sys.exit(f"krypenv: {error}; what is wrong is told by: python -m krypenv doctor")
    run()


if __name__ == "__main__":
    main()
