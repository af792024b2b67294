"""Training an aligner: part vectors that are near to the questions about a part. The encoder stays as it is.

A tower makes the vector of each part from its centroid (`mlp`), or from it and those of the parts that it is joined to: `gcn`
(Kipf & Welling 2017), `sage` (Hamilton et al. 2017), `gin` (Xu et al. 2019), whose convolutions are products with a sparse
matrix. What the tower says is added to the centroid, and a matrix that all questions share adapts them; it is folded into the
vectors in the end, so that one product scores a question. Scores are products times a scale, learned as its logarithm, which
begins so low that untrained scores are all alike: InfoNCE begins at the logarithm of the number of parts. BCE has a bias.

One thread and one seed: the same questions give the same bytes on the same machine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy import sparse
from torch import Tensor, nn

from crmrag_assets.graph_partitions.cut import both_ways
from crmrag_query.config.loading import AlignmentConfig
from crmrag_query.graph_partitions import Aligner, PartitionEdges

MODELS, LOSSES = ("mlp", "gcn", "sage", "gin"), ("infonce", "bce")
SCALE = 0.02  # at first: scores differ by at most twice that
HIGHEST = 100.0  # scale
BATCH = 512  # questions of a step
RATE = 0.001
LOOK = 50  # steps between two looks at questions that are held back
PATIENCE = 6  # looks that may bring nothing better
SEED = 0
RATES = 30.0  # by which scale and bias learn faster than all else: they have far to go
Floats = npt.NDArray[np.float32]
Questions = tuple[Floats, sparse.csr_array]
"""Vectors of questions, float32 [n, d], and the parts of each, float32 [n, parts] with 1 for each."""


class Tower(nn.Module):  # type: ignore[misc]
    """Part vectors [parts, d] from centroids [parts, d]; ``adjacency``: a sparse matrix of how parts are joined."""

    def __init__(self, dimension: int, hidden: int, drop: float, adjacency: Tensor | None) -> None:
        super().__init__()
        self.adjacency = adjacency
        self.between = nn.Sequential(nn.ReLU(), nn.Dropout(drop))
        self.first, self.second = nn.Linear(dimension, hidden), nn.Linear(hidden, dimension)

    def forward(self, centroids: Tensor) -> Tensor:
        found: Tensor = self.second(self.joined(self.between(self.first(self.joined(centroids)))))
        return found

    def joined(self, vectors: Tensor) -> Tensor:
        """What comes to each part: of an MLP its own vector alone."""
        return vectors if self.adjacency is None else torch.sparse.mm(self.adjacency, vectors)


class Sage(Tower):
    """A part's own vector and the mean of its neighbours', each with weights of its own."""

    def __init__(self, dimension: int, hidden: int, drop: float, adjacency: Tensor | None) -> None:
        super().__init__(2 * dimension, hidden, drop, adjacency)
        self.second = nn.Linear(2 * hidden, dimension)

    def joined(self, vectors: Tensor) -> Tensor:
        return torch.cat([vectors, super().joined(vectors)], dim=1)


class Gin(Tower):
    """A part's own vector, weighed by what is learned, and the sum of its neighbours'."""

    def __init__(self, dimension: int, hidden: int, drop: float, adjacency: Tensor | None) -> None:
        super().__init__(dimension, hidden, drop, adjacency)
        self.own = nn.Parameter(torch.zeros(()))

    def joined(self, vectors: Tensor) -> Tensor:
        return (1 + self.own) * vectors + super().joined(vectors)


def tower(model: str, dimension: int, edges: PartitionEdges, parts: int) -> Tower:
    """An untrained tower of the model, with the published sizes."""
    match model:
        case "mlp":
            return Tower(dimension, 2 * dimension, 0.1, None)
        case "gcn":
            return Tower(dimension, dimension, 0.1, adjacency(edges, parts, "normal"))
        case "sage":
            return Sage(dimension, dimension // 3, 0.2, adjacency(edges, parts, "mean"))
        case _:
            return Gin(dimension, dimension // 3, 0.2, adjacency(edges, parts, "sum"))


def adjacency(edges: PartitionEdges, parts: int, kind: str) -> Tensor:
    """How parts are joined, sparse [parts, parts]: weights ``normal`` with the part itself (GCN), ``mean`` of the neighbours,
    or their ``sum``, that of the part that is joined most being 1: larger sums would drown the part itself."""
    weight = edges.weight.astype(np.float64)
    found: Any = both_ways(edges.low, edges.high, weight, parts)
    if kind == "normal":
        found = found / max(float(weight.mean()) if len(weight) else 1.0, 1e-12) + sparse.eye_array(parts)
        root = sparse.diags_array(1 / np.sqrt(found.sum(axis=1)))
        found = root @ found @ root
    elif kind == "mean":
        found = sparse.diags_array(1 / np.maximum(found.sum(axis=1), 1e-12)) @ found
    else:
        found = found / max(float(found.sum(axis=1).max(initial=0.0)), 1e-12)
    entries = sparse.csr_array(found).tocoo()
    numbers = torch.from_numpy(np.stack(entries.coords).astype(np.int64))
    values = torch.from_numpy(entries.data.astype(np.float32))
    return torch.sparse_coo_tensor(numbers, values, (parts, parts), check_invariants=True).coalesce()


class Alignment(nn.Module):  # type: ignore[misc]
    """Scores of questions for parts; ``loss`` of them."""

    def __init__(self, tower: Tower, centroids: Floats, loss: str) -> None:
        super().__init__()
        self.tower, self.kind = tower, loss
        self.centroids = torch.from_numpy(centroids)
        self.question = nn.Linear(centroids.shape[1], centroids.shape[1], bias=False)
        nn.init.zeros_(self.question.weight)
        nn.init.zeros_(tower.second.weight)  # untrained, the vector of a part is its centroid
        nn.init.zeros_(tower.second.bias)
        self.scale, self.bias = nn.Parameter(torch.tensor(math.log(SCALE))), nn.Parameter(torch.zeros(()))

    def parts(self) -> Tensor:
        return nn.functional.normalize(self.centroids + self.tower(self.centroids), dim=1)

    def scores(self, questions: Tensor) -> Tensor:
        adapted = (questions + self.question(questions)) * self.scale.exp().clamp(max=HIGHEST)
        return adapted @ self.parts().T + (self.bias if self.kind == "bce" else 0.0)

    def loss(self, questions: Tensor, wanted: Tensor) -> Tensor:
        """InfoNCE: the softmax over all parts, to be equal at the parts that a question is about and 0 elsewhere; BCE: each
        part by itself."""
        scores = self.scores(questions)
        if self.kind == "bce":
            return nn.functional.binary_cross_entropy_with_logits(scores, wanted)
        return nn.functional.cross_entropy(scores, wanted / wanted.sum(dim=1, keepdim=True))

    def arrays(self) -> tuple[Floats, float]:
        """The vectors of parts, with scale and what adapts questions in them, and the bias."""
        with torch.no_grad():
            folded = self.parts() + self.parts() @ self.question.weight
            vectors = self.scale.exp().clamp(max=HIGHEST) * folded
        return vectors.numpy().astype(np.float32), float(self.bias.detach()) if self.kind == "bce" else 0.0


@dataclass(frozen=True)
class Look:
    """At how far training has come: after ``step`` steps, the loss on questions of the batch and on those held back."""

    step: int
    trained: float
    held: float


@dataclass(frozen=True)
class Trained:
    aligner: Aligner
    looks: tuple[Look, ...]
    first_loss: float  # untrained, on the questions held back
    seconds: float


@contextmanager
def one_thread(seed: int) -> Iterator[None]:
    """Within the block torch works in one thread, by this seed, and in a fixed order."""
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    exact = torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(exact)
        torch.set_rng_state(state)
        torch.set_num_threads(threads)


def train(
    centroids: Floats, edges: PartitionEdges, training: Questions, held: Questions, settings: AlignmentConfig,
    encoder: str = "", advance: Callable[[int, int], None] = lambda done, total: None, seed: int = SEED,
) -> Trained:  # fmt: skip
    """The aligner that did best on the questions ``held`` back, and how it came to be."""
    begun = time.perf_counter()
    with one_thread(seed):
        model = Alignment(
            tower(settings.model, centroids.shape[1], edges, len(centroids)), centroids, settings.loss
        )
        few = [model.scale, model.bias]
        others = [one for one in model.parameters() if all(one is not slow for slow in few)]
        rates = [{"params": others}, {"params": few, "lr": RATE * RATES}]
        optimiser = torch.optim.Adam(rates, lr=RATE)
        questions = torch.from_numpy(training[0])
        looks: list[Look] = []
        first = best = _held(model, held)
        kept = {name: value.clone() for name, value in model.state_dict().items()}
        waited = 0
        for step in range(1, settings.steps + 1):
            chosen = torch.randint(len(questions), (min(BATCH, len(questions)),))
            model.train()
            loss = model.loss(questions[chosen], _dense(training[1][chosen.numpy()]))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            if step % LOOK and step != settings.steps:
                continue
            advance(step, settings.steps)
            looks.append(Look(step, float(loss.detach()), _held(model, held)))
            waited += 1
            if looks[-1].held < best:
                best, waited = looks[-1].held, 0
                kept = {name: value.clone() for name, value in model.state_dict().items()}
            if waited >= PATIENCE:
                break
        model.load_state_dict(kept)
        model.eval()
        vectors, bias = model.arrays()
    meta = {"model": settings.model, "loss": settings.loss, "encoder": encoder, "steps": looks[-1].step}
    return Trained(Aligner(vectors, bias, meta), tuple(looks), first, time.perf_counter() - begun)


def _held(model: Alignment, held: Questions) -> float:
    model.eval()
    with torch.no_grad():
        return float(model.loss(torch.from_numpy(held[0]), _dense(held[1])))


def _dense(rows: sparse.csr_array) -> Tensor:
    return torch.from_numpy(rows.toarray())


def targets(parts: Sequence[Sequence[int]], count: int) -> sparse.csr_array:
    """Which of ``count`` parts each question is about, float32 [questions, count] with 1 for each."""
    ptr = np.cumsum([0, *(len(one) for one in parts)])
    numbers = np.concatenate([np.empty(0, np.int64), *(np.asarray(one, np.int64) for one in parts)])
    return sparse.csr_array((np.ones(len(numbers), np.float32), numbers, ptr), shape=(len(parts), count))
