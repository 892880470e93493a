"""The workshop bench: the few names that a chapter uses again and again, in one import."""

from minicodex.lab.json_view import JsonView
from minicodex.lab.strip import LifecycleStrip
from minicodex.lab.widgets import predict

__all__ = ["JsonView", "LifecycleStrip", "predict"]
