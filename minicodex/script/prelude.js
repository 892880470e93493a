// The world of one script, and the two functions with which the runtime drives it.
//
// `advance(line)` takes one message: first the source and the tools, then the replies to its calls. `report()`, asked
// when everything that can run has run, says what the script wrote, which tools it called, and whether it is done.
// A script can break what is here, but only for itself: what it reports is read like a stranger's words.
(() => {
  "use strict";

  const { parse, stringify } = JSON;
  const { create, defineProperty, entries, freeze, getOwnPropertyNames } = Object;
  const { isArray } = Array;
  const NativePromise = Promise;
  const AsyncFunction = (async () => {}).constructor;
  const then = Function.prototype.call.bind(Promise.prototype.then);

  const FILE = "exec_main.mjs";
  const LINES_ABOVE = 3; // what AsyncFunction and "use strict" put above the source
  const MAX_ERROR_CHARS = 10_000;
  const MAX_ASKED_CHARS = 4_000_000;

  let texts = [];
  let calls = [];
  let waiting = []; // who waits for the replies, in the order of the calls
  let asked = 0; // characters of their arguments
  let room = 0; // characters of output that are still taken
  let written = 0;
  let done = false;
  let error = null;

  // --- what the script finds ------------------------------------------------------------------------------------

  function render(value) {
    if (typeof value === "string") return value;
    const json = typeof value === "bigint" || value instanceof Error ? undefined : stringify(value);
    return json === undefined ? String(value) : json;
  }

  function text(value) {
    const shown = render(value).toWellFormed();
    written += shown.length;
    if (room > 0) texts.push(shown.slice(0, room).toWellFormed());
    room -= shown.length + 1; // the line break too, so that empty texts are not without end
  }

  function caller({ name, label, takes_text }) {
    const ask = (input, resolve, reject) => {
      if (takes_text && typeof input !== "string") throw `tool \`${label}\` expects a string as its input`;
      if (!takes_text && input !== undefined && (typeof input !== "object" || input === null || isArray(input)))
        throw `tool \`${label}\` expects a JSON object for arguments`;
      const words = takes_text ? input : input === undefined ? "{}" : String(stringify(input));
      asked += words.length;
      if (asked > MAX_ASKED_CHARS) throw new RangeError("the arguments of the calls of one moment are too large");
      calls.push([name, words]);
      waiting.push([resolve, reject]);
    };
    return (input) => new NativePromise((resolve, reject) => ask(input, resolve, reject)); // what it throws rejects
  }

  function furnish({ tools, output_chars }) {
    room = output_chars;
    const table = create(null);
    for (const tool of tools) defineProperty(table, tool.name, { value: freeze(caller(tool)), enumerable: true });
    const listed = tools.map(({ name, description }) => freeze({ name, description }));
    const globals = { tools: freeze(table), ALL_TOOLS: freeze(listed), text };
    for (const [name, value] of entries(globals)) defineProperty(globalThis, name, { value });
  }

  // Memory outside the engine's heap could not be bounded everywhere, and nothing here can wait for the clock.
  const WITHHELD = /^(?!Array$).*Array$|ArrayBuffer$|^(Atomics|DataView|WebAssembly)$/;
  for (const name of getOwnPropertyNames(globalThis)) if (WITHHELD.test(name)) delete globalThis[name];
  globalThis.setTimeout = globalThis.clearTimeout = undefined;

  // --- errors, with the places of the script and nobody else's ---------------------------------------------------

  Error.prepareStackTrace = (thrown, frames) => {
    const places = frames
      .filter((frame) => frame.getScriptNameOrSourceURL() === FILE && frame.getLineNumber() > LINES_ABOVE)
      .map((frame) => {
        const place = `${FILE}:${frame.getLineNumber() - LINES_ABOVE}:${frame.getColumnNumber()}`;
        const name = frame.getFunctionName();
        return name && name !== "eval" ? `\n    at ${name} (${place})` : `\n    at ${place}`;
      });
    return String(thrown) + places.join("");
  };

  function explain(thrown) {
    try {
      const words = thrown instanceof Error ? String(thrown.stack) : render(thrown);
      return words.slice(0, MAX_ERROR_CHARS).toWellFormed();
    } catch {
      return "an error that cannot be shown";
    }
  }

  // --- driven by the runtime -------------------------------------------------------------------------------------

  function fail(thrown) {
    done = true;
    error = explain(thrown);
  }

  function start(message) {
    furnish(message);
    let main;
    try {
      main = new AsyncFunction(`"use strict";\n${message.source}\n//# sourceURL=${FILE}`);
    } catch (thrown) {
      return fail(thrown);
    }
    then(main(), () => (done = true), fail);
  }

  function reply(replies) {
    const answered = waiting;
    waiting = [];
    replies.forEach(([ok, value], index) => answered[index][ok ? 0 : 1](value));
  }

  function advance(line) {
    const message = parse(line);
    if (message.replies) reply(message.replies);
    else start(message);
  }

  function report() {
    const words = stringify({ texts, calls, done, error, written });
    [texts, calls, asked] = [[], [], 0];
    return words;
  }

  return [advance, report];
})();
