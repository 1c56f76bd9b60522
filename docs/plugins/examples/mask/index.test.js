import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { checkPlugin } from 'gatehouse-gateway/plugin/testing';
import plugin from './index.js';

test('follows the rules of a plugin, however a text is split', async () => {
  assert.deepEqual(await checkPlugin(plugin, { texts: ['Call +41 44 668 18 00, or write to a@b.example.'] }), []);
});

test('has at most 12 lines', async () => {
  const lines = (await readFile(new URL('index.js', import.meta.url), 'utf8'))
    .split('\n')
    .filter((line) => line !== '');
  assert.ok(lines.length <= 12, `${lines.length} lines`);
});
