"""What a learner may know before handing in: `beowulf check`, hints, solutions and `beowulf progress`.

Nothing of the notebook is run, and no cluster is needed.
"""
