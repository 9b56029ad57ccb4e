// Server-sent events, cut without changing a byte. Line endings: LF, CRLF, CR, mixed.

// Splits a body into complete events and the incomplete rest. Each event: {raw, data, name}; data is undefined
// for an event that has only comments or other fields.
export function splitEvents(body) {
  const text = body.toString('latin1');   // one character is one byte: offsets are byte offsets
  const events = [];
  let start = 0;
  let lineStart = 0;
  let lines = [];
  while (lineStart < text.length) {
    const ending = /\r\n|\n|\r/g;
    ending.lastIndex = lineStart;
    const match = ending.exec(text);
    if (match === null) break;
    const line = body.subarray(lineStart, match.index).toString('utf8');
    lineStart = match.index + match[0].length;
    if (line !== '') {
      lines.push(line);
      continue;
    }
    events.push(makeEvent(body.subarray(start, lineStart), lines));
    start = lineStart;
    lines = [];
  }
  return { events: mergeBlankLines(events), rest: body.subarray(start) };
}

function makeEvent(raw, lines) {
  const field = (name) => lines.filter((line) => line === name || line.startsWith(`${name}:`))
    .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
  const data = field('data');
  return { raw, lines, data: data.length === 0 ? undefined : data.join('\n'), name: field('event').at(-1) };
}

// Blank lines between events belong to no event; they are kept with the one before them.
function mergeBlankLines(events) {
  const merged = [];
  for (const event of events) {
    if (event.lines.length === 0 && merged.length > 0) {
      merged.at(-1).raw = Buffer.concat([merged.at(-1).raw, event.raw]);
    } else merged.push(event);
  }
  return merged;
}

export function dataEvents(body) {
  return splitEvents(body).events.filter((event) => event.data !== undefined).map((event) => event.data);
}
