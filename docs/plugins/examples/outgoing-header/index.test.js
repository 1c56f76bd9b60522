import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPlugin, createAttempt, createExchange, runPlugin } from 'gatehouse-gateway/plugin/testing';
import plugin from './index.js';

test('follows the rules of a plugin', async () => {
  assert.deepEqual(await checkPlugin(plugin), []);
});

test('adds the header to those of the outgoing request', async () => {
  const exchange = createExchange();
  const outbound = { origin: 'https://api.example.com', path: '/v1/chat', headers: { accept: '*/*' }, body: '{}' };
  const attempt = createAttempt(exchange, { outbound });
  await runPlugin(plugin, { exchange, attempt });
  assert.deepEqual(attempt.outbound.headers, { accept: '*/*', 'x-caller': 'test' });
  assert.equal(outbound.headers['x-caller'], undefined);
});
