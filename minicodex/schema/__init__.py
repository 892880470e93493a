"""The schema compiler: an external JSON Schema in, the typed subset that a model is shown out.

Read `compiler` first (the stages in order), then one file for each stage: `normalize`, `definitions`, `compaction`.
`draft` is the workbench they share, `keywords` what is known about each keyword, `aside` what stands where no stage
goes, `model` the result and its errors (`typed` the same as a pydantic model), `cache` the memory for texts. `trace`
watches the stages, `losses` says what they lost, `witness` finds among `probes` arguments that prove it by a
`verdict`, `trace_text` prints it.
"""

from minicodex.schema.compaction import BUDGET_BYTES, COLLAPSE_DEPTH, PASSES
from minicodex.schema.compiler import (
    STAGES,
    compile_mcp_schema_json,
    compile_tool_schema,
    compile_tool_schema_json,
)
from minicodex.schema.keywords import Effect
from minicodex.schema.losses import Loss
from minicodex.schema.model import FAULTS, ToolSchema
from minicodex.schema.normalize import RULES, adapt_mcp_schema
from minicodex.schema.trace import (
    SchemaTrace,
    StageTrace,
    trace_mcp_schema_json,
    trace_tool_schema,
    trace_tool_schema_json,
)
from minicodex.schema.verdict import Verdict, judge
from minicodex.schema.witness import Witness, find_witness

__all__ = [
    "BUDGET_BYTES",
    "COLLAPSE_DEPTH",
    "FAULTS",
    "PASSES",
    "RULES",
    "STAGES",
    "Effect",
    "Loss",
    "SchemaTrace",
    "StageTrace",
    "ToolSchema",
    "Verdict",
    "Witness",
    "adapt_mcp_schema",
    "compile_mcp_schema_json",
    "compile_tool_schema",
    "compile_tool_schema_json",
    "find_witness",
    "judge",
    "trace_mcp_schema_json",
    "trace_tool_schema",
    "trace_tool_schema_json",
]
