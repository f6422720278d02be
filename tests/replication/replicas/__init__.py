"""The checks of replica.py, one module for each topic."""
