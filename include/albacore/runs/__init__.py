"""What is done to a campaign run in the store, and what is told of it."""
