"""What a function tool really is: a runtime small enough to read.

The model gets a manual, never the function. These are the public names; each stands in a module named by its idea. A
module is loaded when a name of it is first used (PEP 562): to compile one schema takes no turn loop. What type
checkers read is `__init__.pyi`.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "contract": ("FreeformContract", "FunctionContract", "NamespaceContract", "ToolSearchContract"),
    "dispatch": (
        "ModelCustomCall",
        "ModelFunctionCall",
        "ModelSearchCall",
        "ToolResult",
        "dispatch_all",
        "dispatch_function_call",
    ),
    "errors": ("ArgumentError", "ContractEncodingError", "InvalidToolSchema", "MinicodexError"),
    "naming": ("ToolName",),
    "planner": ("StepState", "ToolMode", "ToolPlan", "plan_tools"),
    "request": ("ApiMode", "ApiRequest", "PromptSnapshot", "encode_model_request"),
    "schema": (
        "SchemaTrace",
        "ToolSchema",
        "adapt_mcp_schema",
        "compile_tool_schema",
        "compile_tool_schema_json",
        "trace_tool_schema",
    ),
    "sources": ("collect_tools",),
    "sources.dynamic": ("dynamic_tool",),
    "tool": ("Exposure", "Handler", "RejectedTool", "ToolImplementation", "function_tool"),
    "turn": ("Turn", "run_turn"),
}
"""Module to its public names."""

_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME)  # noqa: PLE0605 - a list, made of the table above


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
