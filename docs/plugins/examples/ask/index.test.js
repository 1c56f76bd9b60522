import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { checkPlugin, createExchange } from 'gatehouse-gateway/plugin/testing';
import plugin from './index.js';

let verdict = 'allow';
let asked;
const server = createServer((request, response) => {
  request.on('data', (bytes) => (asked = JSON.parse(bytes.toString())));
  request.on('end', () => response.setHeader('connection', 'close').end(JSON.stringify({ verdict })));
});
after(() => server.close());

test('follows the rules of a plugin while nothing answers', async () => {
  assert.deepEqual(await checkPlugin(plugin, { options: { url: 'http://127.0.0.1:9/' } }), []);
});

const view = { texts: () => [{ role: 'user', text: 'Hello' }] };
const { port } = await new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address())));
const made = (url = `http://127.0.0.1:${port}/`) =>
  plugin.create({ options: { url, timeout_ms: 5000 }, host: { log: { warn() {} } } });

test('sends the texts, and lets pass what the service allows', async () => {
  await made().request(view, { exchange: createExchange() });
  assert.deepEqual(asked, { texts: [{ role: 'user', text: 'Hello' }] });
});

test('refuses what the service denies, and everything without an answer', async () => {
  verdict = 'deny';
  const denied = { code: 'content_filter' };
  await assert.rejects(made().request(view, { exchange: createExchange() }), denied);
  await assert.rejects(made('http://127.0.0.1:9/').request(view, { exchange: createExchange() }), denied);
});

test('refuses an upload, which it cannot read', () => {
  assert.throws(() => made().unseen({ on: 'request', why: 'form' }), { code: 'content_filter' });
});
