# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 77: What does a sum cost as nodes are added?
#
# The handout explains every term. Your answer goes where you see `None`; `check("77")` says what is still open.

# %%
import beowulf_template as lab

from beowulf import check, claims, connect, picture, study

lab.course_style()
cluster = connect("records")

# %% [markdown]
# ## 1 Measure
#
# *Core, 20 minutes*
#
# Study X1: `MPI_Allreduce` of one number, on two nodes and on four.

# %%
x1 = study("X1", cluster, quick=True)
picture(x1)

# %%
lab.x1_sum.table(lab.x1_sum.times(x1)).round(1)

# %% [markdown]
# **Question `growth`** (1 point). How many times as long as on two nodes does a sum take on four?

# %% nbgrader={"grade_id": "growth-answer", "solution": true}
times_longer = None
### BEGIN SOLUTION
by_nodes = lab.x1_sum.times(x1)
times_longer = by_nodes[4].median / by_nodes[2].median
### END SOLUTION

# %% nbgrader={"grade_id": "growth", "grade": true, "points": 1, "locked": true}
lab.form(times_longer, "number")

# %%
claims(x1)

# %%
check("77")
