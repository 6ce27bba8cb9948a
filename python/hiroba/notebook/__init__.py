"""Jupyter: `%load_ext hiroba`, and cells that run on all ranks of a job, `%%hiroba`. The job is of processes beside the
kernel, which is none of its ranks: magic.py and job.py are the kernel's side, rank.py is a rank's."""
