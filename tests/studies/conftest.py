"""What the tests of studies share is in tests/labs."""

from tests.labs.conftest import few_draws

__all__ = ["few_draws"]
