// A cheap engine in a process of its own, for load: each stream gets one token at once, then waits.
// Messages from the parent: {tokens: N} sends N more to every open stream; {finish: true} ends them all.
// Messages to the parent: {url} at start, {open: N} as answer to {count: true}.
import { chunk, lastChunk, streamHead, Upstream } from './upstream.mjs';

const token = chunk('data: {"id":"x","object":"chat.completion.chunk","model":"harbor-mid","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}\n\n');
const ending = Buffer.concat([
  chunk('data: {"id":"x","object":"chat.completion.chunk","model":"harbor-mid","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'),
  chunk('data: [DONE]\n\n'), lastChunk,
]);

const open = new Set();
const upstream = await Upstream.start();
upstream.answer(async (exchange) => {
  upstream.requests = [];   // nothing is looked at afterwards: keep memory flat
  open.add(exchange);
  await exchange.write(Buffer.concat([streamHead(), token]));
});

async function obey(message) {
  for (let count = 0; count < (message.tokens ?? 0); count += 1) await Promise.all([...open].map((exchange) => exchange.write(token)));
  if (message.finish) {
    const ended = [...open];
    open.clear();
    await Promise.all(ended.map((exchange) => exchange.write(ending)));
  }
  if (message.count) process.send({ open: open.size });
}

let busy = Promise.resolve();   // messages are obeyed one after another
process.on('message', (message) => { busy = busy.then(() => obey(message)); });
process.on('disconnect', () => process.exit(0));
process.send({ url: upstream.url });
