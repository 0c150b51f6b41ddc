"""What suites need that a machine may lack."""

from __future__ import annotations

import shutil

import pytest

from beowulf.suites import hpcc


@pytest.fixture(scope="session")
def hpcc_is_here() -> None:
    """Skip what runs hpcc where it could not be installed; `beowulf doctor` says so too."""
    if not shutil.which(hpcc.HPCC) or not shutil.which(hpcc.MPIRUN):
        pytest.skip("hpcc is not installed")


@pytest.fixture(scope="session")
def blast_is_here() -> None:
    """The same for BLAST."""
    if not shutil.which("blastn") or not shutil.which("makeblastdb"):
        pytest.skip("ncbi-blast+ is not installed")
