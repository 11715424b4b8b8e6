"""One function a figure, one a table, each from the evaluation tables only.

May import matplotlib; knows nothing of models.
"""
