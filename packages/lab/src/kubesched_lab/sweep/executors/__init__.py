"""The workers that carry out the runs of a sweep: this process, processes of this machine, Dask workers."""
