// Configurations for tests: a valid default; a test states only the difference.
import { sha256 } from './gateway.mjs';

export const secrets = { plain: 'sk-test-plain-0001', debug: 'sk-test-debug-0002' };
export const alias = 'chat-test';
export const upstreamModel = 'harbor-mid';
export const credential = 'sk-upstream-own-credential';

export const milliseconds = (count) => `${count}ms`;

export function pool(replicas, changes = {}) {
  return {
    engine: 'llamacpp',
    replicas: [replicas].flat(),
    family: 'harbor',
    target: { model: upstreamModel },
    credential,
    timeouts: { connect: '1s', first_token: '20s', idle: '20s' },
    ...changes,
  };
}

export function aliasOf(pools, changes = {}) {
  return {
    family: 'harbor', endpoints: ['chat.completions'], pools,
    features: ['tools', 'structured_output', 'logprobs'], ...changes,
  };
}

// One tenant with two keys: `plain` and `debug` (which may see what is private to the operator).
export function tenant(aliases, changes = {}) {
  return {
    aliases,
    keys: [
      { name: 'plain', sha256: sha256(secrets.plain) },
      { name: 'debug', sha256: sha256(secrets.debug), permissions: ['debug'] },
    ],
    ...changes,
  };
}

// One alias on one pool. `pool`, `alias`, `server` and `tenant` change single keys; `more` adds top-level keys.
export function oneAlias(replicas, changes = {}) {
  return {
    server: changes.server ?? {},
    pools: { main: pool(replicas, changes.pool) },
    aliases: { [alias]: aliasOf(['main'], changes.alias) },
    tenants: { acme: tenant([alias], changes.tenant) },
    ...changes.more,
  };
}

export const chatBody = (changes = {}) => ({ model: alias, messages: [{ role: 'user', content: 'Tell me a story.' }], ...changes });
export const chat = (changes = {}, request = {}) => ({ body: chatBody(changes), key: secrets.plain, ...request });
