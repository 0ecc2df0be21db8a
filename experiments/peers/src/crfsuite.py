"""Drives python-crfsuite for `peers`; prints one JSON object.

crfsuite.py train DATA MODEL ALGORITHM [NAME=VALUE ...]
crfsuite.py tag DATA MODEL        one label a line, not JSON
crfsuite.py speed DATA MODEL      tokens a second on ready lists, and the time to load

DATA has CRFsuite's text format, or is JSON lines with `features` and `labels` if its name
ends with .jsonl; dicts are then handed over as they are. Times are CPU seconds of this
process inside the library: reading the text and starting Python are left out, to the
rival's favour.
"""

import json
import re
import sys
from time import process_time

import pycrfsuite

ESCAPED = re.compile(r"\\(.)")
NAME = re.compile(r"(?:[^\\:]|\\.)*")


def token(line):
    """Label and attributes of a line; a dict if an attribute has a value."""
    if ":" not in line and "\\" not in line:
        label, *fields = line.split("\t")
        return label, fields
    fields = line.split("\t")
    ends = [NAME.match(field).end() for field in fields]
    names = [ESCAPED.sub(r"\1", field[:end]) for field, end in zip(fields, ends)]
    values = [field[end + 1 :] for field, end in zip(fields, ends)]
    if not any(values[1:]):
        return names[0], names[1:]
    return names[0], {name: float(value or 1) for name, value in zip(names[1:], values[1:])}


def sentences(path):
    """Yields attributes and labels; nothing is kept, so the peak is the library's own."""
    attributes, labels = [], []
    with open(path, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            if path.endswith(".jsonl"):
                sequence = json.loads(line)
                yield sequence["features"], sequence["labels"]
                continue
            line = line.rstrip("\n")
            if line:
                label, found = token(line)
                labels.append(label)
                attributes.append(found)
            elif labels:
                yield attributes, labels
                attributes, labels = [], []
    if labels:
        yield attributes, labels


class Trainer(pycrfsuite.Trainer):
    """Keeps the CPU time at which each iteration ends."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.ends = []

    def message(self, text):
        super().message(text)
        if text.startswith("***** Iteration"):  # said when it is over
            self.ends.append(process_time())


def train(data, model, algorithm, *settings):
    trainer = Trainer(algorithm=algorithm, verbose=False)
    trainer.set_params(dict(setting.split("=") for setting in settings))
    append = 0.0
    for attributes, labels in sentences(data):
        start = process_time()
        trainer.append(attributes, labels)
        append += process_time() - start
    start = process_time()
    trainer.train(model)
    seconds = process_time() - start
    log = trainer.logparser
    rows = log.iterations if algorithm == "lbfgs" else []
    return {
        "append": append,
        "train": seconds,
        "features": log.featgen_num_features,
        "losses": [row["loss"] for row in rows],
        "seconds": [row["time"] for row in rows],
        "ends": [end - start for end in trainer.ends],
        "trials": [row["linesearch_trials"] for row in rows],
    }


def tag(data, model):
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    for attributes, _ in sentences(data):
        print("\n".join(tagger.tag(attributes)), end="\n\n")


def speed(data, model):
    loads = []
    for _ in range(21):
        tagger = pycrfsuite.Tagger()
        start = process_time()
        tagger.open(model)
        loads.append(process_time() - start)
    ready = [attributes for attributes, _ in sentences(data)]
    rounds = 5
    start = process_time()
    for _ in range(rounds):
        for attributes in ready:
            tagger.tag(attributes)
    seconds = process_time() - start
    tokens = rounds * sum(len(attributes) for attributes in ready)
    return {"load": sorted(loads)[len(loads) // 2], "tokens": tokens, "seconds": seconds}


if __name__ == "__main__":
    command = {"train": train, "tag": tag, "speed": speed}[sys.argv[1]]
    answer = command(*sys.argv[2:])
    if answer is not None:
        print(json.dumps(answer))
