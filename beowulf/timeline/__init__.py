"""The timeline: what each rank of an MPI program did and when, which message it waited for, what was on the wire."""
