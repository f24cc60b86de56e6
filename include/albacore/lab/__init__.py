"""The replay lab: any policy on recorded samples, at no cost.

For each run, the best config is chosen from k of the nodes and judged on the others. `protocol` says how,
`comparison` makes figures with intervals of it, `table` prints them; the page in the UI prints the same figures.
"""
