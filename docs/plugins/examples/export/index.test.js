import assert from 'node:assert/strict';
import { checkPlugin, createExchange, runPlugin } from 'gatehouse-gateway/plugin/testing';
import plugin from './index.js';

// `node --test` and vitest run this file.
const { test } = await import(process.env['VITEST'] ? 'vitest' : 'node:test');

test('follows the rules of a plugin', { timeout: 60_000 }, async () => {
  assert.deepEqual(await checkPlugin(plugin), []);
});

test('writes a line when a request has ended', { timeout: 60_000 }, async () => {
  const exchange = createExchange();
  const { log } = await runPlugin(plugin, { exchange });
  exchange.end();
  assert.equal(log[0]?.status, 200);
});
