"""The ``cognate`` command: one module a group of commands.

Commands parse arguments, call one library function and print. Results go to standard output,
messages and errors to standard error. Exit status: 0 done, 1 an error that the message
explains, 2 wrong usage, 130 interrupted.
"""

from cognate.cli.main import main

__all__ = ["main"]
