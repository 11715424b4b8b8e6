"""Cost models: encode a pattern and a schedule, train, transfer, rank.

May import torch, xgboost and everything above it; knows nothing of a particular platform.
"""
