from minicodex.contract import FreeformContract, FunctionContract, NamespaceContract, ToolSearchContract
from minicodex.dispatch import (
    ModelCustomCall,
    ModelFunctionCall,
    ModelSearchCall,
    ToolResult,
    dispatch_all,
    dispatch_function_call,
)
from minicodex.errors import (
    ArgumentError,
    ContractEncodingError,
    InvalidToolSchema,
    MinicodexError,
)
from minicodex.naming import ToolName
from minicodex.planner import StepState, ToolMode, ToolPlan, plan_tools
from minicodex.request import ApiMode, ApiRequest, PromptSnapshot, encode_model_request
from minicodex.schema import (
    SchemaTrace,
    ToolSchema,
    adapt_mcp_schema,
    compile_tool_schema,
    compile_tool_schema_json,
    trace_tool_schema,
)
from minicodex.sources import collect_tools
from minicodex.sources.dynamic import dynamic_tool
from minicodex.tool import Exposure, Handler, RejectedTool, ToolImplementation, function_tool
from minicodex.turn import Turn, run_turn

__version__: str

__all__ = [
    "ApiMode",
    "ApiRequest",
    "ArgumentError",
    "ContractEncodingError",
    "Exposure",
    "FreeformContract",
    "FunctionContract",
    "Handler",
    "InvalidToolSchema",
    "MinicodexError",
    "ModelCustomCall",
    "ModelFunctionCall",
    "ModelSearchCall",
    "NamespaceContract",
    "PromptSnapshot",
    "RejectedTool",
    "SchemaTrace",
    "StepState",
    "ToolImplementation",
    "ToolMode",
    "ToolName",
    "ToolPlan",
    "ToolResult",
    "ToolSchema",
    "ToolSearchContract",
    "Turn",
    "adapt_mcp_schema",
    "collect_tools",
    "compile_tool_schema",
    "compile_tool_schema_json",
    "dispatch_all",
    "dispatch_function_call",
    "dynamic_tool",
    "encode_model_request",
    "function_tool",
    "plan_tools",
    "run_turn",
    "trace_tool_schema",
]
