import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { checkPlugin, createExchange, runPlugin } from 'gatehouse-gateway/plugin/testing';
import plugin from './index.js';

const options = { secret: 'a-secret-of-more-than-32-characters' };
const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

function token(claims, secret = options.secret) {
  const text = `${encoded({ alg: 'HS256' })}.${encoded(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

// The clock of a test stands at the beginning of 2026.
const exp = Date.UTC(2026, 1, 1) / 1000;
async function callerOf(text) {
  const headers = text === undefined ? {} : { authorization: `Bearer ${text}` };
  const exchange = createExchange({ caller: undefined, headers });
  await runPlugin(plugin, { options, exchange });
  return exchange.caller;
}

test('follows the rules of a plugin', async () => {
  const headers = { authorization: `Bearer ${token({ sub: 'ada', exp })}` };
  assert.deepEqual(await checkPlugin(plugin, { options, request: { headers } }), []);
});

test('knows the caller and its team, whose limits and budgets apply', async () => {
  const { keyId, team } = await callerOf(token({ sub: 'ada', team: 'search', exp }));
  assert.deepEqual([keyId, team], ['ada', 'search']);
});

for (const [what, text] of [
  ['no token', undefined],
  ['another secret', token({ sub: 'ada', exp }, 'x'.repeat(40))],
  ['a token that has expired', token({ sub: 'ada', exp: exp - 86_400 * 60 })],
  ['a token without an end', token({ sub: 'ada' })],
  ['a key', 'not-a-token'],
])
  test(`refuses ${what}`, () => assert.rejects(callerOf(text), { code: 'invalid_api_key' }));

test('has at most 15 lines besides comments', async () => {
  const lines = (await readFile(new URL('index.js', import.meta.url), 'utf8'))
    .split('\n')
    .filter((line) => line !== '' && !/^ *\/\//.test(line));
  assert.ok(lines.length <= 15, `${lines.length} lines`);
});
