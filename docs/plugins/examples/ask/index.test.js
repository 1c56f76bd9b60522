import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPlugin } from 'gatehouse-gateway/plugin/testing';
import plugin from './index.js';

const options = { url: 'https://guard.example.com/', timeout_ms: 1000 };

test('follows the rules of a plugin while nothing answers', { timeout: 60_000 }, async () => {
  assert.deepEqual(await checkPlugin(plugin, { options: { url: options.url } }), []);
});

const view = { texts: () => [{ role: 'user', text: 'Hello' }] };
const asked = [];
/** The plugin with a service that answers so. */
const made = (status, answer) => {
  const error = (code, message) => Object.assign(new Error(message), { code });
  const fetch = async (url, { body }) => {
    asked.push([url, JSON.parse(body)]);
    return { status, json: () => answer };
  };
  return plugin.create({ options, host: { error, fetch } });
};

test('sends the texts, and lets pass what the service allows', async () => {
  await made(200, { verdict: 'allow' }).request(view);
  assert.deepEqual(asked.at(-1), [options.url, { texts: [{ role: 'user', text: 'Hello' }] }]);
});

for (const { what, status, answer } of [
  { what: 'the service denies', status: 200, answer: { verdict: 'deny' } },
  { what: 'the service does not judge', status: 200, answer: {} },
  { what: 'it cannot ask about', status: 500, answer: { verdict: 'allow' } },
])
  test(`refuses what ${what}`, () => assert.rejects(made(status, answer).request(view), { code: 'text_refused' }));

test('refuses an upload, which it cannot read', () => {
  assert.throws(() => made().unseen({ on: 'request', why: 'form' }), { code: 'text_refused' });
});
