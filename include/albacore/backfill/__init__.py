"""Past runs, by their dates, sent through another policy, and what comes out compared."""
