"""One deck a lab, in Markdown that Marp reads too, and built here without any other tool."""
