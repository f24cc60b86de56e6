"""Azure: machines that are made for one campaign run and deleted with it.

The doors: `cloud.AzureCloud` makes and finds them, `removal` deletes them, `reaping` decides about those that nobody
deleted, `smoke` tries all of it with one machine. Nothing here is imported before a campaign names this cloud, but for
`order`, which is how its file says so.
"""
