import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPlugin } from 'gatehouse-gateway/plugin/testing';
import plugin from './index.js';

test('follows the rules of a plugin', async () => {
  assert.deepEqual(await checkPlugin(plugin), []);
});

test('drops thinking, and nothing else', () => {
  const read = plugin.create({ options: {}, host: {} }).events();
  assert.equal(read({ type: 'thinking', choice: 0, block: 0, text: 'Hm.' }), undefined);
  const text = { type: 'text', choice: 0, block: 1, text: 'Hello' };
  assert.equal(read(text), text);
});
