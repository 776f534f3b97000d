from .journal import Header as Header, commit as commit, machine as machine
from .tasks import Progress as Progress, Run as Run, Task as Task, open_run as open_run
