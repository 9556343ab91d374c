"""Runs functions in other processes, of this machine or of a cluster."""

from secateur.executors.executor import Executor, Task, TaskOutcome, tasks_by_home

__all__ = ["Executor", "Task", "TaskOutcome", "tasks_by_home"]
