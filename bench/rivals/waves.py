#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.
"""MATBORN beside Deepwave and SWEEP: acoustic waves in three dimensions, on the same GPU in one run.

    waves.py [--run COMMAND] [--peers LIST] [--nodes N] [--steps N] [--bornsteps N] [--width N] [--interval N]
             [--receivers N] [--repeats N] [--seconds S] [--json FILE] [--markdown FILE]
    waves.py --from JSON [--markdown FILE]

COMMAND runs a program of Lithe by its name: ./run of a bundle, or nothing where programs are in PATH. LIST: deepwave,
sweep and lithe, with commas. NAME=FOLDER takes the modules of a peer from this folder. Each peer is a process of its
own.

A grid has N^3 nodes, and the absorbing layers of --width nodes at each face count among the N^3 nodes. Order 8, single
precision, one shot. Seconds are the best of --repeats runs after a first run. A gradient is PyTorch's: modelling that
keeps what the gradient needs, and backward(). The adjoint product is the gradient less the modelling without a
gradient: Born modelling for the scattering potential, forward modelling for the velocity. With MATBORN the adjoint
product is MatMultTranspose() less forward modelling.
"""
import argparse
import gc
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

ORDER, SPACING, DT, FREQUENCY = 8, 10.0, 0.001, 25.0  # nodes, m, s, Hz; neither peer divides this time step
VELOCITY, CONTRAST = 2000.0, 500.0  # m/s: from 1500 to 2500
FORWARD, BORN, ADJOINT = "forward", "Born modelling", "adjoint"
LITHE = {"forward": (FORWARD, ""), "born-random": (BORN, "random"), "born-keep": (BORN, "keep, 16 bits"),
         "rtm-random": (ADJOINT, "random"), "rtm-keep": (ADJOINT, "keep, 16 bits")}


class Problem:
    """Models, source, wavelet and receivers for PyTorch. Positions count from the first node inside the layers."""

    def __init__(self, torch, options):
        self.torch, self.options = torch, options
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.gpu = self.device.type == "cuda"
        self.inner = options["nodes"] - 2 * options["width"]
        if self.inner < 16:
            raise ValueError("too few nodes inside the absorbing layers")
        wave = torch.sin(torch.linspace(0, 2 * math.pi, self.inner, device=self.device))
        self.velocity = (VELOCITY + CONTRAST * wave[:, None, None] * wave[None, :, None] * wave[None, None, :]).contiguous()
        # none at the faces: the peers continue a perturbation into the absorbing layers
        self.window = torch.zeros_like(self.velocity)
        self.window[4:-4, 4:-4, 4:-4] = 1
        middle = self.inner // 2
        self.source = (middle, middle, middle)
        # a line along the fastest axis, whose middle is near the source, and the next lines if the grid is too narrow;
        # positions are unique
        first = max(0, middle - options["receivers"] // 2)
        self.receivers = [(middle + 5, middle + (first + r) // self.inner, (first + r) % self.inner) for r in range(options["receivers"])]

    def wavelet(self, steps):
        t = self.torch.arange(steps, device=self.device) * DT - 1 / FREQUENCY
        a = (math.pi * FREQUENCY * t) ** 2
        return ((1 - 2 * a) * self.torch.exp(-a)).float()

    def now(self):
        if self.gpu:
            self.torch.cuda.synchronize()
        return time.perf_counter()

    def forget(self):
        gc.collect()
        if self.gpu:
            self.torch.cuda.empty_cache()
            self.torch.cuda.reset_peak_memory_stats()

    def best(self, *stages):
        """Seconds of the stages in the fastest run after a first run, seconds of the first run, and the last value.

        A stage gets what the stage before returned.
        """
        fastest = None
        for run in range(self.options["repeats"] + 1):
            value, marks = None, [self.now()]
            for stage in stages:
                value = stage(value)
                marks.append(self.now())
            seconds = [b - a for a, b in zip(marks, marks[1:])]
            if run and (fastest is None or sum(seconds) < sum(fastest)):
                fastest = seconds
            if not run:
                first = sum(seconds)
        return fastest, first, value


class Deepwave:
    """scalar() and scalar_born() of Deepwave, by its compiled kernels. The wave field's history stays on the GPU."""
    MODES = {"history in 32 bits": {}, "history in 8 bits": {"storage_compression": True}}

    def __init__(self, problem):
        import deepwave
        self.problem, self.module, self.version, self.inner_steps = problem, deepwave, deepwave.__version__, None
        torch, device = problem.torch, problem.device
        self.source = torch.tensor([[problem.source]], dtype=torch.long, device=device)
        self.receivers = torch.tensor([problem.receivers], dtype=torch.long, device=device)

    def start(self, born, steps, mode):
        """A function that models, and the tensor for gradients."""
        problem, options = self.problem, self.problem.options
        keywords = {"source_amplitudes": problem.wavelet(steps)[None, None, :], "source_locations": self.source, "accuracy": ORDER,
                    "pml_width": options["width"], "pml_freq": FREQUENCY, "max_vel": VELOCITY + CONTRAST, "backend": "compiled",
                    "model_gradient_sampling_interval": options["interval"], "check_output_finite": False, **self.MODES.get(mode, {})}
        if born:
            potential = 10 * problem.window
            keywords["sc_receiver_locations"] = self.receivers

            def model():
                return self.module.scalar_born(problem.velocity, SPACING, DT, dv=potential, **keywords)
        else:
            potential = problem.velocity.clone()
            keywords["receiver_locations"] = self.receivers

            def model():
                return self.module.scalar(potential, SPACING, DT, **keywords)

        def run():
            out = model()
            self.inner_steps = out.info.step_ratio
            size = out.info.pml_width[0] + out.info.extent[0] + out.info.pml_width[1]
            if size != options["nodes"]:
                raise RuntimeError(f"{size} nodes a dimension")
            return out[-1]
        return run, potential


class Sweep:
    """Acoustic3D and AcousticLSRTM3D of SWEEP, by its compiled core. No time step is divided, and each one images."""
    MODES = {"BoundarySaving": ("BoundarySaving", {}), "Full": ("Full", {}), "BoundarySaving, bf16": ("BoundarySaving", {"storage_dtype": "bf16"}),
             "Ckpt, chunks of 25 steps": ("Ckpt", {"mode": "chunk", "chunks": 25})}

    def __init__(self, problem):
        import numpy
        import sweep
        self.problem, self.numpy, self.version, self.inner_steps = problem, numpy, sweep.__version__, 1

    def start(self, born, steps, mode):
        from sweep.equations.acoustic3d import Acoustic3D
        from sweep.equations.acoustic_lsrtm3d import AcousticLSRTM3D
        from sweep.propagator import options as strategies
        from sweep.propagator.torch import PropTorch
        problem, options, numpy = self.problem, self.problem.options, self.numpy
        strategy, arguments = self.MODES[mode or "BoundarySaving"]
        impl = "c" if problem.gpu else "eager"
        equation = (AcousticLSRTM3D if born else Acoustic3D)(spatial_order=ORDER, device=problem.device)
        solver = PropTorch(equation, shape=(problem.inner,) * 3, dh=SPACING, dt=DT, abcn=options["width"], device=problem.device, impl=impl,
                           memory=getattr(strategies, strategy)(**arguments))
        if solver.impl != impl:  # SWEEP falls back with a warning
            raise RuntimeError(f"impl={solver.impl}")
        if tuple(solver.shape) != (options["nodes"],) * 3:
            raise RuntimeError(f"{tuple(solver.shape)} nodes")
        wavelet = problem.wavelet(steps)
        # x, y, z, while the models are z, y, x
        source = numpy.array([problem.source[::-1]], dtype=numpy.int64)
        receivers = numpy.array([[position[::-1] for position in problem.receivers]], dtype=numpy.int64)
        potential = 0.01 * problem.window if born else problem.velocity.clone()
        models = [problem.velocity, potential] if born else [potential]

        def run():
            return solver(wavelet, source, receivers, models=models, max_vel=VELOCITY + CONTRAST, pml_freq=FREQUENCY)
        return run, potential


PEERS = {"deepwave": ("Deepwave", Deepwave), "sweep": ("SWEEP", Sweep)}


def say(result):
    """A line on standard output for the parent process."""
    print(json.dumps(result), flush=True)
    brief = result["error"] if "error" in result else f"{result['seconds']:.4f} s, {result['rate']:.2f} Gpoints/s"
    print(f"  {result['by']}, {result['product']}, {result.get('mode', '')}: {brief}", file=sys.stderr, flush=True)


def tried(head, measurement):
    """A measurement's result, or an error as one. Only a result has seconds."""
    try:
        result = {**head, **measurement()}
    except Exception as error:  # whatever a peer raises: its other measurements go on
        traceback.print_exc()
        sys.stderr.flush()
        result = {**head, "error": f"{type(error).__name__}: {error}".replace("\n", " ").replace("|", "/")[:160]}
    say(result)
    return result


def model(problem, peer, born, steps):
    """Modelling without a gradient."""
    problem.forget()
    run, _ = peer.start(born, steps, None)
    with problem.torch.no_grad():
        seconds, first, record = problem.best(lambda _: run())
    largest = float(record.abs().max())
    if not 0 < largest < float("inf"):
        raise RuntimeError(f"largest amplitude of the record: {largest}")
    return {**finish(problem, peer, steps, seconds[0]), "first": first, "largest": largest}


def gradient(problem, peer, born, steps, mode, less):
    """Modelling and backward(), less modelling."""
    problem.forget()
    run, potential = peer.start(born, steps, mode)
    potential.requires_grad_(True)
    data = []

    def forward(_):
        potential.grad = None
        return run()

    def backward(record):
        if not data:  # of a size near 1
            data.append(record.detach() / record.detach().abs().max())
        record.backward(data[0])
        return record.detach()

    seconds, first, record = problem.best(forward, backward)
    largest = float(potential.grad.abs().max())
    if not 0 < largest < float("inf"):
        raise RuntimeError(f"largest value of the gradient: {largest}")
    result = {**finish(problem, peer, steps, sum(seconds) - less), "gradient": sum(seconds), "backward": seconds[1], "first": first, "largest": largest}
    if born:  # linear: (J x, d) / (x, J^T d), which sampled images make no exact 1
        result["transpose"] = float((record.double() * data[0].double()).sum() / (potential.detach().double() * potential.grad.double()).sum())
    return result


def finish(problem, peer, steps, seconds):
    memory = problem.torch.cuda.max_memory_allocated() if problem.gpu else 0
    return {"seconds": seconds, "rate": rate(problem.options["nodes"], steps, seconds), "memory": memory, "version": peer.version, "inner": peer.inner_steps}


def rate(nodes, steps, seconds):
    return nodes**3 * steps / seconds / 1e9 if seconds > 0 else 0.0


def child(name, options):
    """All measurements of a peer, a line of JSON each."""
    warnings.simplefilter("ignore", FutureWarning)
    by, kind = PEERS[name]
    by = options["label"] or by
    head = {"by": by, "nodes": options["nodes"]}
    try:
        import torch
        problem = Problem(torch, options)
        machine = torch.cuda.get_device_name() if problem.gpu else "no GPU: a trial, and no measurement"
        print(json.dumps({"machine": f"{machine}, CUDA {torch.version.cuda}, PyTorch {torch.__version__}"}), flush=True)
        peer = kind(problem)
    except Exception as error:
        traceback.print_exc()
        say({**head, "product": "all", "error": f"{type(error).__name__}: {error}".replace("\n", " ").replace("|", "/")[:160]})
        return
    head["version"] = peer.version
    steps, bornsteps = options["steps"], options["bornsteps"]
    result = tried({**head, "product": FORWARD, "steps": steps}, lambda: model(problem, peer, False, steps))
    less = {True: tried({**head, "product": BORN, "steps": bornsteps}, lambda: model(problem, peer, True, bornsteps))}
    less[False] = result if steps == bornsteps else tried({**head, "product": FORWARD, "steps": bornsteps}, lambda: model(problem, peer, False, bornsteps))
    for born in (True, False):
        if "error" in less[born]:
            continue
        for mode in kind.MODES:
            tried({**head, "product": ADJOINT, "steps": bornsteps, "mode": f"{'of Born modelling' if born else 'of forward modelling'}, {mode}"},
                  lambda born=born, mode=mode: gradient(problem, peer, born, bornsteps, mode, less[born]["seconds"]))


def parent(name, folder, options):
    """A peer in a process of its own. What it measured before an end, good or bad, counts."""
    label = f"{PEERS[name][0]} ({os.path.basename(folder.rstrip('/'))})" if folder else ""
    settings = {key: getattr(options, key) for key in ("nodes", "steps", "bornsteps", "width", "interval", "receivers", "repeats")}
    environment = {"CUDA_MODULE_LOADING": "LAZY", **os.environ}  # or all modules of Deepwave may be compiled at once
    if folder:
        environment["PYTHONPATH"] = os.pathsep.join([os.path.abspath(folder), *filter(None, [environment.get("PYTHONPATH")])])
    command = [sys.executable, "-u", os.path.abspath(__file__), "--child", name, "--settings", json.dumps({**settings, "label": label})]
    error = ""
    print(f"{label or PEERS[name][0]}:", file=sys.stderr, flush=True)
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        try:
            status = subprocess.run(command, stdout=output, env=environment, timeout=options.seconds, check=False).returncode
            error = f"exit status {status}" if status else ""
        except subprocess.TimeoutExpired:
            error = f"not done in {options.seconds} s"
        output.seek(0)
        results = []
        for line in output:  # a library may print lines of its own, and an end may cut one
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                results.append(value)
    if error:
        results.append({"by": label or PEERS[name][0], "nodes": options.nodes, "product": "the rest", "error": error})
    return results


def wave(options, steps, variants):
    """bench/wave of Lithe: its file of results, or an error."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "wave.json")
        n = options.nodes
        command = shlex.split(f"{options.run} wave -bench_n {n},{n},{n} -bench_steps {steps} -bench_width {options.width} -bench_interval {options.interval} "
                              f"-bench_receivers {options.receivers} -bench_repeats {options.repeats} -bench_variants {','.join(variants)} -bench_json")
        print(" ".join(command), path, file=sys.stderr, flush=True)
        try:
            done = subprocess.run([*command, path], stdout=sys.stderr, timeout=options.seconds, check=False)
            if done.returncode:
                return None, f"exit status {done.returncode}"
            with open(path, encoding="utf-8") as file:
                return json.load(file), ""
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            return None, f"{type(error).__name__}: {error}"[:160]


def lithe(options):
    head = {"by": "Lithe", "nodes": options.nodes, "version": "", "inner": 1}
    results = []
    for steps, variants in {options.steps: ["forward"], options.bornsteps: list(LITHE)}.items():
        found, error = wave(options, steps, variants)
        if error:
            results.append({**head, "product": ", ".join(variants), "steps": steps, "error": error})
            continue
        lines = {line["variant"]: line for line in found["results"]}
        results.append({"machine": f"a copy moves {found['copy_gb_per_s'] / 1e3:.2f} TB/s"})
        for variant in variants:
            product, mode = LITHE[variant]
            total = lines[variant]["seconds"]
            seconds = total - lines["forward"]["seconds"] if product == ADJOINT else total
            results.append({**head, "product": product, "steps": steps, "mode": mode, "seconds": seconds, "rate": rate(options.nodes, steps, seconds),
                            "gradient": total, "first": lines[variant]["first_seconds"]})
    return results


def table(results):
    lines = ["| by | version | product | mode | nodes, steps | steps inside a step | s | Gpoints/s | with modelling, s | device, GB |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for r in (r for r in results if "by" in r):
        size = f"{r['nodes']}^3, {r['steps']}" if "steps" in r else f"{r['nodes']}^3"
        head = f"| {r['by']} | {r.get('version', '')} | {r['product']} | {r.get('mode', '')} | {size} |"
        if "error" in r:
            lines.append(f"{head} {r['error']} | | | | |")
            continue
        total = f"{r['gradient']:.4f}" if r["product"] == ADJOINT else ""
        memory = f"{r['memory'] / 1e9:.1f}" if r.get("memory") else ""
        lines.append(f"{head} {r['inner']} | {r['seconds']:.4f} | {r['rate']:.1f} | {total} | {memory} |")
    return "\n".join(lines) + "\n"


def summary(results):
    """The best mode of each, and how many times faster Lithe's is than the best peer's."""
    names = list(dict.fromkeys(r["by"] for r in results if "by" in r))
    lines, best = ["| Gpoints/s | forward | Born modelling | adjoint |", "|---|---|---|---|"], {}
    for name in names:
        cells = []
        for product in (FORWARD, BORN, ADJOINT):
            found = max((r for r in results if r.get("by") == name and r["product"] == product and r.get("rate", 0) > 0), key=lambda r: r["rate"], default=None)
            mode = f" ({found['mode']})" if found and found.get("mode") else ""
            cells.append(f"{found['rate']:.1f}{mode}" if found else "")
            if found:
                best.setdefault(product, {})[name] = found["rate"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    cells = []
    for product in (FORWARD, BORN, ADJOINT):
        rates = best.get(product, {})
        peers = [value for name, value in rates.items() if name != "Lithe"]
        cells.append(f"{rates['Lithe'] / max(peers):.1f}" if "Lithe" in rates and peers else "")
    lines.append("| Lithe, times the best peer | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def report(results):
    machine = dict.fromkeys(r["machine"] for r in results if "machine" in r)
    return "".join(f"- {line}\n" for line in machine) + "\n" + summary(results) + "\n" + table(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--run", default="", help="runs a program of Lithe")
    parser.add_argument("--peers", default="deepwave,sweep,lithe", help="names with commas, or NAME=FOLDER of modules")
    for name, value, text in (("nodes", 512, "in a dimension"), ("steps", 300, "of forward modelling"), ("bornsteps", 100, "of Born modelling and of the adjoint product"),
                              ("width", 20, "of absorbing layers"), ("interval", 4, "of steps between images, where the peer can"), ("receivers", 100, "on a line"),
                              ("repeats", 2, "after a first run"), ("seconds", 240, "limit of a peer")):
        parser.add_argument(f"--{name}", type=int, default=value, help=f"{text} ({value})")
    for name in ("json", "markdown", "from"):
        parser.add_argument(f"--{name}", default="", help="file", dest="source" if name == "from" else name)
    for name in ("child", "settings"):  # a process of its own: from parent()
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, json.loads(options.settings))
        return
    if options.bornsteps % options.interval:
        parser.error("--bornsteps must be a multiple of --interval")  # Deepwave's condition
    results = []
    if options.source:
        with open(options.source, encoding="utf-8") as file:
            results = json.load(file)
    for peer in [] if options.source else options.peers.split(","):
        name, _, folder = peer.partition("=")
        if name != "lithe" and name not in PEERS:
            parser.error(f"unknown peer {name}")
        try:
            results += lithe(options) if name == "lithe" else parent(name, folder, options)
        except Exception as error:  # the others' results count
            traceback.print_exc()
            results.append({"by": name, "nodes": options.nodes, "product": "all", "error": f"{type(error).__name__}: {error}"[:160]})
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write(report(results))
    print(report(results), flush=True)


if __name__ == "__main__":
    main()
