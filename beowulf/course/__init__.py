"""What a course gives: lab.toml of a lab, personal codes, what `beowulf check` says as a table."""
