"""Labs 06 and 07: does a Record of calls and packets say when a message left, and where rules cost time?"""

from __future__ import annotations

from pathlib import Path

import pytest

from beowulf import paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.exercises import timelines
from beowulf.labs.lab_06 import one_message
from beowulf.labs.lab_07 import rules_way
from beowulf.record import newest
from beowulf.timeline.timeline_page import Page
from beowulf.tuning.knobs import ALL

pytestmark = pytest.mark.cluster


@pytest.mark.nightly
def test_the_data_of_a_long_message_leave_in_the_call_that_waits(
    records: Path, cluster: NamespaceCluster
) -> None:
    program = paths.root() / "labs" / "06-protocol-analysis" / one_message.PROGRAM
    record = one_message.traced(cluster, program)
    moments = one_message.moments(record)
    assert 0 < moments["request_at_ms"] < moments["data_at_ms"]
    assert moments["data_in"] == "MPI_Waitall"
    page = timelines.timeline(cluster, record, one_message.RUN)
    assert isinstance(page, Page)
    assert page.found.wire
    assert newest(records, record.study) == record


@pytest.mark.nightly
def test_rules_cost_time_where_packets_arrive(records: Path, cluster: NamespaceCluster) -> None:
    record = rules_way.traced(cluster)
    added = rules_way.added(record)
    assert max(added, key=lambda each: added[each]) == (0, rules_way.AFTER)
    assert added[0, rules_way.AFTER] > 3 * max(map(abs, (added[0, rules_way.BEFORE], 1.0)))
    assert list(rules_way.ways(record)["messages"]) == [rules_way.EXCHANGES] * 4
    firewall = ALL[rules_way.FIREWALL]
    assert firewall.value(cluster.run("node01", firewall.look("node01")).stdout) == "none"
    assert newest(records, record.study) == record
