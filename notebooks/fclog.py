"""What all notebooks need: calling fclog, and a look for pictures."""

import io
import json
import os
import pathlib
import shutil
import subprocess

import matplotlib.pyplot as plt
import pandas as pd

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = os.environ.get("FCLOG") or shutil.which("fclog") or str(ROOT / "bin" / "fclog")

plt.rcParams.update({
    "figure.figsize": (9, 3.6), "figure.dpi": 110, "font.size": 10, "axes.grid": True, "grid.alpha": 0.25,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "axes.titlelocation": "left",
})


def run(*args):
    """Calls fclog and returns what it prints; what it warns of is shown."""
    if not pathlib.Path(BINARY).exists():
        raise SystemExit(f"no fclog at {BINARY}: run 'make build' first")
    done = subprocess.run([BINARY, *map(str, args)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    if done.stderr:
        print(done.stderr, end="")
    return done.stdout


def query(dataset, sql=None, name=None):
    """A question to a dataset or to '--demo', as a table."""
    question = ["--name", name] if name else [sql]
    return pd.read_csv(io.StringIO(run("query", dataset, *question, "--format", "csv")))


def as_json(*args):
    """A report of fclog as data."""
    return json.loads(run(*args, "--format", "json", "--compact"))


def invent(folder, agent, size, one=False):
    """Writes invented logs of an agent; the same size gives the same bytes. Needs Go."""
    args = ["go", "run", "./internal/homes/make", "-agent", agent, "-bytes", size] + (["-one"] if one else [])
    subprocess.run([*args, str(folder)], cwd=ROOT, check=True, capture_output=True)
    return folder


def millions(axis):
    axis.set_major_formatter(lambda value, _: f"{value / 1e6:g} M")


def thousands(axis):
    axis.set_major_formatter(lambda value, _: f"{value / 1e3:g} K")
