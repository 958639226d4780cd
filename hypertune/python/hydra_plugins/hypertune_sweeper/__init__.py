"""A sweeper for Hydra whose points hypertune's search chooses."""
