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
# # Lab 10: Which way of a broadcast is faster, and when?
#
# The handout has the same sections and explains every term. Your answer goes where you see `None`; `check("10")` says
# what is still open. **Points** 3

# %%
import beowulf_collectives as lab

from beowulf import check, claims, connect, picture, study

lab.course_style()
cluster = connect("records")

# %% [markdown]
# ## 1 The model
#
# *Core, 15 minutes*

# %%
lab.table("G-costs")

# %% [markdown]
# **Question `model`** (1 point). A long message on four nodes: how many times as long as the tree do scatter and ring
# take, by the model? Leave the latencies out.

# %% nbgrader={"grade_id": "model-answer", "solution": true}
model_times = None
### BEGIN SOLUTION
model_times = 1.5 / 2
### END SOLUTION

# %% nbgrader={"grade_id": "model", "grade": true, "points": 1, "locked": true}
lab.form(model_times, "number")

# %% [markdown]
# ## 2 Measure
#
# *Core, 15 minutes*

# %%
g1 = study("G1", cluster, quick=True)
picture(g1)

# %%
lab.g1_rounds.table(g1).round(3)

# %% [markdown]
# **Question `measured`** (2 points). The same quotient from your table, with 524,288 bytes.

# %% nbgrader={"grade_id": "measured-answer", "solution": true}
measured_times = None
### BEGIN SOLUTION
of = lab.g1_rounds.table(g1).set_index(["way", "size_bytes"])["operation_ms"]
measured_times = of["scatter", 524288] / of["tree", 524288]
### END SOLUTION

# %% nbgrader={"grade_id": "measured", "grade": true, "points": 2, "locked": true}
lab.form(measured_times, "number")

# %%
claims(g1)

# %%
check("10")
