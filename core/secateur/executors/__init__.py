"""Runs functions in other processes, of this machine or of a cluster."""

from secateur.executors.executor import Executor, TaskOutcome

__all__ = ["Executor", "TaskOutcome"]
