import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPlugin, createExchange, createReply, runPlugin } from 'gatehouse-gateway/plugin/testing';
import plugin from './index.js';

test('follows the rules of a plugin', async () => {
  assert.deepEqual(await checkPlugin(plugin), []);
});

test('names the caller in the header of its options', async () => {
  const exchange = createExchange();
  const next = () => void (exchange.reply = createReply('{}'));
  const { explain } = await runPlugin(plugin, { exchange, next, options: { header: 'x-who' } });
  assert.equal(exchange.reply.headers['x-who'], 'test');
  assert.deepEqual(explain(), { does: 'sets x-who' });
});
