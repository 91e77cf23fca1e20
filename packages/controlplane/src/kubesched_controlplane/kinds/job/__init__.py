"""The strategies of jobs and cron jobs (`strategy`): specs, statuses, completion indexes, schedules."""
