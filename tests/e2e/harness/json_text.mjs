// Finds the members of a JSON object in its text, so that expectations can be stated byte for byte.
// Written for tests: it wants valid JSON and says so when it is not.

// [{name, begin, valueBegin, end}] of the root object: `begin` is the key's quote, `end` is behind the value.
export function rootMembers(text) {
  JSON.parse(text);
  const members = [];
  let at = skipBlanks(text, skipBlanks(text, 0) + 1);
  while (text[at] !== '}') {
    const begin = at;
    at = skipValue(text, at);
    const name = JSON.parse(text.slice(begin, at));
    const valueBegin = skipBlanks(text, skipBlanks(text, at) + 1);   // behind the colon
    at = skipValue(text, valueBegin);
    members.push({ name, begin, valueBegin, end: at });
    at = skipBlanks(text, at);
    if (text[at] === ',') at = skipBlanks(text, at + 1);
  }
  return members;
}

function skipBlanks(text, at) {
  while (' \t\r\n'.includes(text[at])) at += 1;
  return at;
}

function skipString(text, at) {
  for (at += 1; text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
  return at + 1;
}

function skipValue(text, at) {
  if (text[at] === '"') return skipString(text, at);
  if (text[at] !== '{' && text[at] !== '[') {
    while (at < text.length && !',}] \t\r\n'.includes(text[at])) at += 1;
    return at;
  }
  let depth = 0;
  for (;;) {
    if (text[at] === '"') {
      at = skipString(text, at);
      continue;
    }
    if (text[at] === '{' || text[at] === '[') depth += 1;
    if (text[at] === '}' || text[at] === ']') depth -= 1;
    at += 1;
    if (depth === 0) return at;
  }
}

// The text with root member `name` given another value (as JSON text). Unchanged when there is no such member.
export function withValue(text, name, valueText) {
  const member = rootMembers(text).find((candidate) => candidate.name === name);
  return member === undefined ? text : text.slice(0, member.valueBegin) + valueText + text.slice(member.end);
}

// The text without root member `name`; the comma before it goes too, or, for the first member, the one behind it.
export function withoutMember(text, name) {
  const members = rootMembers(text);
  const index = members.findIndex((candidate) => candidate.name === name);
  if (index < 0) return text;
  const member = members[index];
  if (index > 0) return text.slice(0, members[index - 1].end) + text.slice(member.end);
  const next = members[1];
  return text.slice(0, member.begin) + text.slice(next === undefined ? member.end : next.begin);
}
