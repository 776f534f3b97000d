"""Long work that can be stopped, resumed and distributed: lists of tasks whose results are kept in a folder.

tasks      a task, and the run that does a list of them
journal    the file of results: a header, then a checked line for each finished task
executors  where tasks are done: in this process, in worker processes, on a Ray cluster
processes  worker processes that never outlive the process that started them
cluster    tasks on a Ray cluster
folders    folders with a single writing process
machine    the machine and versions of a measurement
progress   progress of long runs
tables     tables in the terminal, and JSON files
figures    figures as files
"""

from krypenv.training.runs.executors import HERE, Executor, executor_of
from krypenv.training.runs.journal import Header
from krypenv.training.runs.tasks import Progress, Run, Task, open_run

__all__ = ["HERE", "Executor", "Header", "Progress", "Run", "Task", "executor_of", "open_run"]
