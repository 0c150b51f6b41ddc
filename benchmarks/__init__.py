"""This project's own speed, as figures with their circumstances: `make bench`, or `python -m benchmarks NAME`.

A benchmark is here while a document prints its figures:

    capture, recorder, tuning  docs/clusters.md, docs/timeline.md, docs/measuring.md and the slides of lab 07
    hub, deadline, studies     docs/scale.md
    full_studies               docs/results.md, by results_page; given_records packs its Records

Of NPB beside one core only the samples are kept (docs/measuring.md and the slides of lab 03), in results/npb.json.
"""
