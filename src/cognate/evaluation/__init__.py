"""What a ranking is worth: metrics, speed-ups, intervals, data-collection cost.

Pure functions of samples and rankings.
"""
