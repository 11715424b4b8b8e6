"""Transfer-learned cost models that pick the fastest schedule for a sparse kernel.

This package holds plain data and errors at its top. The rooms below it depend on one
another in this order only: ``matrices`` and ``operations``; ``schedules``; ``platforms``
(with ``native``); ``learning``; ``evaluation``; ``figures``; ``cli``. Importing the package or
``cognate.platforms`` never imports torch.
"""

__version__ = "0.1.0"
