"""An executor that makes empty outputs: what is left is the cost of the workflow itself."""

from pathlib import Path

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.real import RealExecutor
from snakemake_interface_executor_plugins.jobs import JobExecutorInterface
from snakemake_interface_executor_plugins.settings import CommonSettings, ExecMode

common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    pass_default_storage_provider_args=False,
    pass_default_resources_args=False,
    pass_envvar_declarations_to_cmd=False,
    auto_deploy_default_storage_provider=False,
)


class Executor(RealExecutor):
    """Counts as a cluster, so that groups are formed as they are there."""

    def run_job(self, job: JobExecutorInterface) -> None:
        """Make every output of a job, or of each job of a group."""
        submitted = SubmittedJobInfo(job)
        self.report_job_submission(submitted)
        for member in job.jobs if job.is_group() else [job]:
            for output in [*member.output, *([member.benchmark] if member.benchmark else [])]:
                path = Path(output)
                path.parent.mkdir(parents=True, exist_ok=True)
                if output.is_directory:
                    path.mkdir(exist_ok=True)
                else:
                    path.touch()
        self.report_job_success(submitted)

    def get_exec_mode(self) -> ExecMode:
        """Not asked for: nothing is spawned."""
        return ExecMode.REMOTE

    def get_python_executable(self) -> str:
        """Not asked for: nothing is spawned."""
        return ""

    @property
    def cores(self) -> int:
        """Not asked for: nothing is spawned."""
        return 1

    def cancel(self) -> None:
        """There is nothing to cancel."""

    def shutdown(self) -> None:
        """There is nothing to shut down."""
