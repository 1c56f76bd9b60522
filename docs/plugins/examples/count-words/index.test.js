import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPlugin, createExchange, runPlugin } from 'gatehouse-gateway/plugin/testing';
import plugin from './index.js';

test('follows the rules of a plugin', async () => {
  assert.deepEqual(await checkPlugin(plugin), []);
});

test('logs when a request has ended', async () => {
  const exchange = createExchange({ id: 'r' });
  const { log } = await runPlugin(plugin, { exchange });
  assert.deepEqual(log, []);
  exchange.end();
  assert.equal(log[0].msg, 'words');
});
