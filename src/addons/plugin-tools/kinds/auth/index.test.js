import assert from 'node:assert/strict';
import { checkPlugin, createExchange, runPlugin } from 'gatehouse-gateway/plugin/testing';
import plugin from './index.js';

// `node --test` and vitest run this file.
const { test } = await import(process.env['VITEST'] ? 'vitest' : 'node:test');
const options = { callers: { demo: '7c43ef5ae21d43ce2743f770c68e24def1a43ee2f416d2438410c8af7af2ff2c' } };

test('follows the rules of a plugin', { timeout: 60_000 }, async () => {
  assert.deepEqual(await checkPlugin(plugin, { options }), []);
});

test('knows the caller of a token', { timeout: 60_000 }, async () => {
  const exchange = createExchange({ caller: undefined, headers: { authorization: 'Bearer demo-token' } });
  await runPlugin(plugin, { options, exchange });
  assert.equal(exchange.caller?.keyId, 'demo');
});

test('refuses another token', { timeout: 60_000 }, async () => {
  const exchange = createExchange({ caller: undefined, headers: { authorization: 'Bearer other' } });
  await assert.rejects(runPlugin(plugin, { options, exchange }), { code: 'invalid_api_key' });
});
