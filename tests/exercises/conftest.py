"""What the tests of exercises share is in tests/labs."""

from tests.labs.conftest import engines, records, shared_engines

__all__ = ["engines", "records", "shared_engines"]
