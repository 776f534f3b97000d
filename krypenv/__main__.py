"""`python -m krypenv` does what the command `krypenv` does."""

from krypenv.training.cli import main

if __name__ == "__main__":
    main()
