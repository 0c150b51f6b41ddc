"""This project's own speed, as figures with their circumstances: `make bench`, or `python -m benchmarks NAME`.

A benchmark is here while a document prints its figures:

    capture, recorder, tuning  docs/clusters.md, docs/timeline.md, docs/measuring.md and the slides of lab 07
    full_studies               docs/results.md, by results_page; given_records packs its Records

Of other figures only the samples are kept, in results/, and the benchmarks are in the history: npb (docs/measuring.md and the slides of lab 03), hub and deadline (docs/scale.md).
"""
