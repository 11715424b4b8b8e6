"""The conformance suite: does a platform, ours or anybody's, keep its contract?

``cognate platform check NAME`` prints what :func:`check_platform` finds; a test of a platform
calls :func:`assert_conforms`. May import the contracts of platforms and what lies below them.
"""

from cognate.platforms.conformance.suite import Finding, assert_conforms, check_platform

__all__ = ["Finding", "assert_conforms", "check_platform"]
