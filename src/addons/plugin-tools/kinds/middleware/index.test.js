import assert from 'node:assert/strict';
import { checkPlugin, createExchange, createReply, runPlugin } from 'gatehouse-gateway/plugin/testing';
import plugin from './index.js';

// `node --test` and vitest run this file.
const { test } = await import(process.env['VITEST'] ? 'vitest' : 'node:test');

test('follows the rules of a plugin', { timeout: 60_000 }, async () => {
  assert.deepEqual(await checkPlugin(plugin), []);
});

test('names the caller', { timeout: 60_000 }, async () => {
  const exchange = createExchange();
  await runPlugin(plugin, { exchange, next: () => void (exchange.reply = createReply('{}')) });
  assert.equal(exchange.reply?.headers['x-caller'], 'test');
});
