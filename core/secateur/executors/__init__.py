"""Runs functions elsewhere: in processes of this machine, or of a cluster."""

from secateur.executors.executor import Executor, Task, TaskOutcome

__all__ = ["Executor", "Task", "TaskOutcome"]
