"""Generators of sparsity patterns: pure functions of their arguments and a random generator.

One module a domain; each ends in ``RECIPES``, its part of the embedded corpus. May import
numpy and scipy only. Patterns must be equal on every machine: compare integers or exact
sums and quotients, never results of the mathematical library (``exp``, ``pow``, ``sin``).
"""
