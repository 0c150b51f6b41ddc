"""One deck a lab, in Markdown as Marp has it, built here without another tool; plots are drawn from kept data."""
