"""Simulation: campaign runs on machines that are made up, with the decisions of production.

A world says what is true of every config and what every node does to a figure at every moment. A run in it is played
event by event: the same Ladder, Detector, Adjuster, Aggregate and Optimizer objects decide, by the same functions of
the log (`replay`, `judging`), as under Airflow. Because the truth is known, what a run ships can be judged exactly.

| file | question |
|---|---|
| `surface.py` | how fast is a config, does it flip on some nodes, does it crash? |
| `fleet.py` | what does a node do to a figure, and what do its guest metrics show of it? |
| `world.py` | what does one sample come out as? |
| `worlds.py` | the worlds with a name |
| `playing.py` | what happens when, on which node |
| `contestants.py` | the ways to tune that are compared |
| `contest.py` | many runs of each, and what they ship |
| `tables.py` | the same for a terminal |

Nothing here is used by a campaign.
"""
