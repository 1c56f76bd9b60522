import assert from 'node:assert/strict';
import { checkPlugin, createExchange, runPlugin } from 'gatehouse-gateway/plugin/testing';
import plugin from './index.js';

// `node --test` and vitest run this file.
const { test } = await import(process.env['VITEST'] ? 'vitest' : 'node:test');

test('follows the rules of a plugin', { timeout: 60_000 }, async () => {
  assert.deepEqual(await checkPlugin(plugin), []);
});

test('lets what is no conversation pass', { timeout: 60_000 }, async () => {
  const { nextCalls } = await runPlugin(plugin, { exchange: createExchange() });
  assert.equal(nextCalls, 1);
});
