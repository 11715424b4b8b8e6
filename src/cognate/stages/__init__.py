"""One module a stage of the workflow: read its inputs, call the library, write its outputs.

Scripts of the workflow and nothing else call these. A stage's fingerprint is that of its
module and of the platform or room it drives.
"""
