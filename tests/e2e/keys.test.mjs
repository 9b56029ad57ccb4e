// weir key: keys in the store, made and changed by the command line while a gateway runs; within 2 s it follows.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { alias, chat, oneAlias, secrets } from './harness/config.mjs';
import { checkRefusal } from './harness/contract.mjs';
import { Gateway, run, sha256 } from './harness/gateway.mjs';
import { findProgram } from './harness/paths.mjs';
import { StoreWriter } from './harness/sqlite.mjs';
import { jsonAnswer, ScriptedEngine } from './harness/upstream.mjs';
import { eventually, sleep, stopAll, within } from './harness/wait.mjs';

const promised = 2000;   // ms until a change is in force
const unauthorized = 401;

let engine;
let gateway;
const answer = jsonAnswer(200, { id: 'x', object: 'chat.completion', created: 1, model: 'harbor-mid', choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } });

const configuration = (changes = {}) => oneAlias(engine.url, {
  tenant: { teams: { search: { applications: { box: { workload: 'code' } } } }, ...changes.tenant }, ...changes,
});

before(async () => {
  engine = await ScriptedEngine.start((exchange) => exchange.respond(answer));
  gateway = await Gateway.start(configuration());
});
after(() => stopAll(gateway, engine));
