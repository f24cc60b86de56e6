"""Re-tuning night by night: who may begin, what a night takes over, and whether something has moved."""
