// A stream whose client does not read keeps its own bytes, whatever other streams bring to the same worker meanwhile.
import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { oneAlias, secrets } from './harness/config.mjs';
import { Gateway } from './harness/gateway.mjs';
import { sleep, within } from './harness/wait.mjs';

const events = 8000;
const chunkOf = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const eventOf = (letter) => `data: ${JSON.stringify({ model: 'harbor-mid', choices: [{ index: 0, delta: { content: letter.repeat(900) } }] })}\n\n`;

// Answers a request that mentions A with A's only, one that mentions B with B's only.
function engine() {
  return net.createServer((socket) => {
    let got = '';
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      got += bytes.toString('latin1');
      if (got.startsWith('GET') && got.includes('\r\n\r\n')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}');
      const letter = /"only ([AB])"/.exec(got)?.[1];
      if (!letter) return;
      got = '';
      const burst = Buffer.from(chunkOf(eventOf(letter)).repeat(events));
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n');
      socket.write(Buffer.concat([burst, Buffer.from(`${chunkOf('data: [DONE]\n\n')}0\r\n\r\n`)]));
    });
  });
}

function ask(port, letter) {
  const body = JSON.stringify({ model: 'chat-test', stream: true, messages: [{ role: 'user', content: `only ${letter}` }] });
  const socket = net.connect(port, '127.0.0.1');
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer ${secrets.plain}\r\n`
    + `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  return socket;
}

async function readAll(socket) {
  const parts = [];
  socket.on('data', (bytes) => parts.push(bytes));
  socket.resume();
  await within(30_000, 'the end of a stream', new Promise((resolve) => { socket.on('close', resolve); }));
  return Buffer.concat(parts).toString('latin1');
}

test('a client that reads late gets no byte of another stream', async () => {
  const server = engine();
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const gateway = await Gateway.start(oneAlias(`http://127.0.0.1:${server.address().port}`, { server: { workers: 1 } }));
  try {
    const late = ask(gateway.port, 'A');
    late.pause();
    await sleep(300);
    const other = await readAll(ask(gateway.port, 'B'));
    const text = await readAll(late);
    for (const [letter, stranger, got] of [['A', 'B', text], ['B', 'A', other]]) {
      assert.ok(!got.includes(stranger.repeat(8)), `bytes of ${stranger} in ${letter}'s stream`);
      assert.equal(got.split(letter.repeat(900)).length - 1, events);
      assert.ok(got.includes('data: [DONE]'));
    }
  } finally {
    await gateway.stop();
    server.close();
  }
});
