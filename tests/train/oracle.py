"""What scikit-learn says of answers that a test wrote down.

    oracle.py FOLDER CLASSES

Reads raw little-endian files: truth.bin (int64) and shares.bin (float32, a row of CLASSES a sample),
numbers.bin and guesses.bin (float64). Prints a JSON object of figures; exit status 77 where there is
no scikit-learn.
"""
import json
import pathlib
import sys

try:
    import numpy
    from sklearn import metrics
    from sklearn.utils.class_weight import compute_class_weight
except ImportError:
    sys.exit(77)

folder, classes = pathlib.Path(sys.argv[1]), int(sys.argv[2])
truth = numpy.fromfile(folder / "truth.bin", dtype="<i8")
shares = numpy.fromfile(folder / "shares.bin", dtype="<f4").reshape(-1, classes).astype("f8")
shares /= shares.sum(axis=1, keepdims=True)
numbers = numpy.fromfile(folder / "numbers.bin", dtype="<f8")
guesses = numpy.fromfile(folder / "guesses.bin", dtype="<f8")
answers = shares.argmax(axis=1)
labels = list(range(classes))
each = metrics.precision_recall_fscore_support(truth, answers, labels=labels, zero_division=0)
figures = {
    "loss": metrics.log_loss(truth, shares, labels=labels),
    "accuracy": metrics.accuracy_score(truth, answers),
    "balanced_accuracy": metrics.balanced_accuracy_score(truth, answers),
    "f1": metrics.f1_score(truth, answers, average="macro", zero_division=0),
    "roc_auc": metrics.roc_auc_score(truth, shares[:, 1])
    if classes == 2
    else metrics.roc_auc_score(truth, shares, multi_class="ovr"),
    "mae": metrics.mean_absolute_error(numbers, guesses),
    "r2": metrics.r2_score(numbers, guesses),
    "matrix": metrics.confusion_matrix(truth, answers, labels=labels).flatten().tolist(),
    "precision": each[0].tolist(),
    "recall": each[1].tolist(),
    "weights": compute_class_weight("balanced", classes=numpy.arange(classes), y=truth).tolist(),
}
if classes > 5:
    for k in (2, 3, 5):
        figures[f"top{k}"] = metrics.top_k_accuracy_score(truth, shares, k=k, labels=labels)
print(json.dumps(figures))
