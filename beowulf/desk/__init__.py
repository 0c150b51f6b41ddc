"""Where a learner works: notebooks, JupyterLab, and what this machine lacks for them."""
