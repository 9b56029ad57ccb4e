// What the contract says a client and the record get for given bytes of an engine. Independent of the product:
// derived from the recording with this folder's own readers. Source: contract.md sections 3 and 6.
import assert from 'node:assert/strict';
import { withoutMember, withValue } from './json_text.mjs';
import { splitEvents } from './sse.mjs';

const privateMembers = { llamacpp: ['timings', 'system_fingerprint'], vllm: ['system_fingerprint', 'metrics'] };

// --- bytes to the client --------------------------------------------------------------------------------------

export function editedJson(text, { alias, debug = false, engine = 'llamacpp' }) {
  let edited = withValue(text, 'model', JSON.stringify(alias));
  for (const name of debug ? [] : privateMembers[engine]) edited = withoutMember(edited, name);
  return edited;
}

const isJson = (data) => data !== undefined && data !== '[DONE]';

// A usage event: no choices, and usage.
function isUsageEvent(data) {
  if (!isJson(data)) return false;
  const { choices, usage } = JSON.parse(data);
  return Array.isArray(choices) && choices.length === 0 && usage !== undefined && usage !== null;
}

// The stream's body as the client must get it: every complete event, edited; an incomplete rest never.
export function editedStream(body, options) {
  const { events } = splitEvents(body);
  return Buffer.concat(events.filter((event) => !(options.hideUsage && isUsageEvent(event.data))).map((event) => {
    if (!isJson(event.data)) return event.raw;
    const raw = event.raw.toString('utf8');
    const begin = raw.indexOf(event.data);
    assert.ok(begin >= 0, 'an event with several data lines needs an expectation of its own');
    return Buffer.from(raw.slice(0, begin) + editedJson(event.data, options) + raw.slice(begin + event.data.length));
  }));
}

// --- facts for the record -------------------------------------------------------------------------------------

const filled = (value) => (typeof value === 'string' || Array.isArray(value)) && value.length > 0;

function carriesOutput(answer) {
  return (answer.choices ?? []).some(({ delta = {}, message = {}, text }) => filled(text) || [delta, message]
    .some((part) => ['content', 'reasoning_content', 'reasoning', 'refusal', 'tool_calls'].some((name) => filled(part[name]))));
}

// What one answer object (an event or a whole body) tells; later ones override earlier ones, field by field.
function factsOf(answer) {
  const facts = {};
  const { usage, timings } = answer;
  if (timings !== undefined) {
    facts.prompt_tokens = timings.prompt_n + timings.cache_n;
    facts.cached_tokens = timings.cache_n;
    facts.completion_tokens = timings.predicted_n;
    facts.drafted = timings.draft_n;
    facts.accepted = timings.draft_n_accepted;
  }
  if (usage !== undefined && usage !== null) {
    facts.prompt_tokens = usage.prompt_tokens;
    facts.completion_tokens = usage.completion_tokens;
    facts.cached_tokens = usage.prompt_tokens_details?.cached_tokens ?? facts.cached_tokens;
  }
  const reason = (answer.choices ?? []).map((choice) => choice.finish_reason).filter((value) => typeof value === 'string').at(-1);
  if (reason !== undefined) facts.finish_reason = reason;
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

export function recordedFacts(recording) {
  if (!recording.stream) return factsOf(recording.json());
  const answers = splitEvents(recording.body).events.filter((event) => isJson(event.data)).map((event) => JSON.parse(event.data));
  return { ...Object.assign({}, ...answers.map(factsOf)), events: answers.filter(carriesOutput).length };
}

const endpointNames = {
  '/v1/chat/completions': 'chat.completions', '/v1/completions': 'completions', '/v1/embeddings': 'embeddings', '/tokenize': 'tokenize', '/detokenize': 'tokenize',
};

// Where a recorded request went: {path, name}, the name as in configurations and records.
export function endpointOf(recording) {
  const path = recording.request.startLine.split(' ')[1];
  return { path, name: endpointNames[path] ?? endpointNames['/v1/chat/completions'] };
}

// --- checks ---------------------------------------------------------------------------------------------------

export const requestIdPattern = /^[A-Za-z0-9_-]{20,40}$/;

// Headers that every answer has, and those that none may have.
export function checkHeaders(response, { debug = false } = {}) {
  assert.match(response.header('x-request-id') ?? '', requestIdPattern, 'x-request-id');
  for (const name of ['server', 'access-control-allow-origin', 'keep-alive', 'set-cookie', 'x-engine-private'])
    assert.equal(response.header(name), undefined, `the engine's header ${name} reached the client`);
  for (const name of ['x-weir-pool', 'x-weir-replica', 'x-weir-decision'])
    assert.equal(response.header(name) !== undefined, debug, `${name} is for callers with debug, and only for them`);
}

export function checkServerTiming(response) {
  assert.match(response.header('server-timing') ?? '',
    /^queue;dur=[0-9.]+, upstream;dur=[0-9.]+, gateway;dur=[0-9.]+$/, 'server-timing');
}

const shouldNotRetry = (status) => (status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status)) || [502, 504].includes(status);

// The OpenAI error object and the headers of a refusal.
export function checkRefusal(response, { status, reason, code, message, param, retryAfter }) {
  const shown = `${response.status} ${response.header('x-weir-reason')} ${response.body.toString().slice(0, 300)}`;
  assert.equal(response.status, status, shown);
  assert.equal(response.header('x-weir-reason'), reason, shown);
  assert.match(response.header('content-type') ?? '', /^application\/json/, 'content-type');
  assert.equal(response.complete, true, 'the refusal came whole');
  const { error } = response.json();
  checkErrorObject(error, { code: code ?? reason, message, param });
  const retryHeader = response.header('retry-after');
  if (status === 429 || status === 503) {
    assert.match(retryHeader ?? '', /^\d+$/, `retry-after on ${status}`);
    assert.match(response.header('retry-after-ms') ?? '', /^\d+$/, `retry-after-ms on ${status}`);
  }
  if (status === 401) assert.match(response.header('www-authenticate') ?? '', /^Bearer/, 'www-authenticate');
  if (retryAfter !== undefined) assert.equal(retryHeader, retryAfter, 'the engine\'s retry-after is kept');
  assert.equal(response.header('x-should-retry'), shouldNotRetry(status) ? 'false' : undefined, `x-should-retry on ${status}`);
}

export function checkErrorObject(error, { code, message, param } = {}) {
  assert.equal(typeof error, 'object', 'an error object');
  assert.ok(typeof error.message === 'string' && error.message.length > 0, 'error.message is for people');
  assert.ok(typeof error.type === 'string' && error.type.length > 0, 'error.type');
  assert.ok('param' in error, 'error.param is there, null when no field is at fault');
  assert.ok(typeof error.code === 'string', `error.code is a string, not ${JSON.stringify(error.code)}`);
  if (code !== undefined) assert.equal(error.code, code, 'error.code');
  if (param !== undefined) assert.equal(error.param, param, 'error.param');
  if (message !== undefined) assert.match(error.message, message);
}

// A stream that failed after its first output: the last event is an error, there is no [DONE], and HTTP ends cleanly.
export function checkBrokenStream(response, { reason } = {}) {
  assert.equal(response.status, 200);
  assert.equal(response.complete, true, 'the terminal chunk follows the error event');
  const { events, rest } = splitEvents(response.body);
  assert.equal(rest.length, 0, 'the stream ends on an event boundary');
  assert.ok(!events.some((event) => event.data === '[DONE]'), 'no [DONE] after a failure');
  const last = events.at(-1);
  const { error } = JSON.parse(last.data);
  checkErrorObject(error, { code: reason });
  return Buffer.concat(events.slice(0, -1).map((event) => event.raw));
}
