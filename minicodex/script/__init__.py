"""Running a script: an embedded JavaScript engine in a child process, bounded in every way.

`runner` drives it from here, `engine` is the child's program, `prelude.js` the world in which the script finds itself.
Nothing in here knows what a plan or a contract is. The engine is mini-racer (V8), from the extra `code`.
"""

from minicodex.script.runner import Reply, ScriptCall, ScriptLimits, ScriptOutcome, ScriptTool, run_script

__all__ = ["Reply", "ScriptCall", "ScriptLimits", "ScriptOutcome", "ScriptTool", "run_script"]
