// The demo's traffic: a few closed loops for each tenant, most requests good, some refused on purpose.
// Everything is drawn from one seeded generator, so that two runs ask the same questions.
import { setMaxListeners } from 'node:events';

import { call } from './http.mjs';

const subjects = ['a river in spring', 'the lock keeper', 'how a weir measures flow', 'the mill at night', 'a bridge of stone',
  'why ice floats', 'the harbour of a small town', 'a letter to the north', 'rain on the roof', 'the colour of deep water'];

// Requests that must be refused, and how; or, for min_p, served by the pool that can honour it.
const oddities = [
  { name: 'unknown model', body: { model: 'chat-imaginary' }, status: 404, reason: 'model_not_found' },
  { name: 'too long', body: { max_tokens: 40_000 }, status: 400, reason: 'context_length_exceeded' },
  { name: 'endpoint outside the contract', path: '/v1/embeddings', body: { input: 'a' }, status: 404, reason: 'endpoint_not_supported' },
  { name: 'no key', key: 'weir-demo-nobody', status: 401, reason: 'invalid_api_key' },
  { name: 'min_p', body: { min_p: 0.05 }, status: 200, pool: 'large-baseline' },
];

export class Traffic {
  constructor({ gateway, tenants, alias, seed }) {
    this.gateway = gateway;
    this.tenants = tenants;
    this.alias = alias;
    this.random = seededRandom(seed);
    this.abort = new AbortController();
    setMaxListeners(0, this.abort.signal);  // one for each request under way
    this.stopping = false;
    this.drawn = 0;
    this.recorded = { pools: new Map(), refusals: new Map(), tenants: new Map(), sent: 0, authenticated: 0, cut: 0, unexpected: [] };
  }

  start() {
    this.loops = this.tenants.flatMap((tenant) => Array.from({ length: tenant.loops }, () => this.#loop(tenant)));
  }

  // Asks nothing new; what is under way gets some time to end.
  async stop(timeoutMs) {
    this.stopping = true;
    const timer = setTimeout(() => this.abort.abort(), timeoutMs);
    await Promise.all(this.loops);
    clearTimeout(timer);
  }

  async #loop(tenant) {
    while (!this.stopping) {
      await this.#one(tenant);
      await new Promise((resolve) => setTimeout(resolve, 20 + this.random() * 280));
    }
  }

  async #one(tenant) {
    const odd = ++this.drawn % 11 === 0 ? oddities[Math.floor(this.drawn / 11) % oddities.length] : undefined;
    const stream = odd === undefined ? this.random() < 0.75 : odd.status === 200;
    const body = {
      model: this.alias,
      messages: [{ role: 'user', content: `Tell me about ${subjects[Math.floor(this.random() * subjects.length)]}, please.` }],
      max_tokens: 24 + Math.floor(this.random() * 140),
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
      ...odd?.body,
    };
    const headers = { authorization: `Bearer ${odd?.key ?? tenant.key}` };
    this.recorded.sent += 1;
    try {
      const answer = await call(this.gateway, { method: 'POST', path: odd?.path ?? '/v1/chat/completions', headers, body, signal: this.abort.signal });
      this.#record(tenant, odd, stream, answer);
    } catch (error) {
      if (this.abort.signal.aborted) this.recorded.cut += 1;
      else this.#unexpected(`${tenant.name}: ${error.message}`);
    }
  }

  #record(tenant, odd, stream, answer) {
    if (answer.status !== 401) this.recorded.authenticated += 1;
    const wantedStatus = odd?.status ?? 200;
    const reason = answer.headers['x-weir-reason'];
    if (answer.status !== wantedStatus || (odd?.reason !== undefined && reason !== odd.reason)) {
      this.#unexpected(`${tenant.name}: ${odd?.name ?? 'a good request'} was answered with ${answer.status} ${reason ?? ''} ${answer.body.slice(0, 300)}`);
      return;
    }
    if (answer.status !== 200) {
      count(this.recorded.refusals, reason ?? `status ${answer.status}`);
      return;
    }
    const pool = answer.headers['x-weir-pool'] ?? '(pool not told)';
    if (odd?.pool !== undefined && pool !== odd.pool) this.#unexpected(`${odd.name} was served by ${pool}, which cannot honour it`);
    count(this.recorded.tenants, tenant.name);
    this.#measure(pool, stream, answer);
  }

  #measure(pool, stream, answer) {
    const entry = this.recorded.pools.get(pool) ?? { requests: 0, tokens: 0, ttft: [], tpot: [] };
    this.recorded.pools.set(pool, entry);
    entry.requests += 1;
    const told = stream ? readStream(answer) : readWhole(answer);
    if (told.problem !== undefined) { this.#unexpected(`${pool}: ${told.problem}`); return; }
    entry.tokens += told.tokens;
    if (told.ttft !== undefined) entry.ttft.push(told.ttft);
    if (told.tpot !== undefined) entry.tpot.push(told.tpot);
  }

  #unexpected(what) {
    if (this.recorded.unexpected.length < 20) this.recorded.unexpected.push(what);
  }
}

function readWhole(answer) {
  const usage = JSON.parse(answer.body).usage;
  return usage === undefined ? { problem: 'an answer without usage' } : { tokens: usage.completion_tokens };
}

// TTFT runs to the first event with text; TPOT counts the tokens after the first event, which carries one.
function readStream(answer) {
  if (answer.events.at(-1)?.data !== '[DONE]') return { problem: 'a stream without its end' };
  let first;
  let last;
  let tokens;
  for (const event of answer.events.slice(0, -1)) {
    const chunk = JSON.parse(event.data);
    if (chunk.error !== undefined) return { problem: `an error in a stream: ${event.data.slice(0, 300)}` };
    if (chunk.usage) tokens = chunk.usage.completion_tokens;
    if (chunk.choices[0]?.delta?.content) { first ??= event.at; last = event.at; }
  }
  if (first === undefined || tokens === undefined) return { problem: 'a stream without text or usage' };
  return { tokens, ttft: first - answer.startedAt, tpot: tokens > 1 ? (last - first) / (tokens - 1) : undefined };
}

function count(map, key) {
  map.set(key, (map.get(key) ?? 0) + 1);
}

// mulberry32: small, and good enough to choose questions with.
function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
