import { expect, it } from 'vitest';
import '../support/add-ons.ts';
import { explain } from '../../src/addons/explain/explain/explain.testkit.ts';
import { entriesFor } from '../support/upstream.ts';

const catalog = { providers: entriesFor('http://127.0.0.1:9') };
const secret = `whsec_${Buffer.alloc(24).toString('base64')}`;

it.each([
  [
    { check: 'words', options: { words: ['abc'] } },
    'holds the end of each text of a stream while it may be the begin of a match, at most 3 characters: the longest match of its check',
  ],
  [{ check: 'regex', options: { pattern: 'a[0-9]{4}' } }, 'at most 9 characters: the longest match of its check'],
  [{ check: 'secrets', hold: { bytes: 64 } }, 'at most 64 characters: `hold: { bytes }`'],
  [
    { check: 'words', hold: { mode: 'all' }, options: { words: ['abc'] } },
    'holds the whole reply, so that the client waits for its end: `hold: { mode: all }` lets a refusal have its status',
  ],
  [{ check: 'regex', options: { pattern: 'a+' } }, 'a match of its pattern has no longest length'],
  [{ check: 'json_schema', options: { schema: {} } }, 'the check json_schema decides about whole texts'],
  [{ check: 'webhook', options: { url: 'https://g.example.com', secret } }, 'the webhook is asked about whole texts'],
])('explain says what waits for a guard, and why: %j', async (guard, words) => {
  const guards = [{ name: 'own', on: ['output'], action: 'deny', ...guard }];
  const { plugins } = await explain({ catalog, server: { guards } }, { json: { model: '@openai/m', messages: [] } });
  expect(plugins.find(({ plugin }) => plugin === 'guards')).toMatchObject({ does: expect.stringContaining(words) });
});

it('explain says nothing of waiting where a guard only observes', async () => {
  const guards = [{ name: 'own', check: 'secrets', on: ['output'], action: 'observe' }];
  const { plugins } = await explain({ catalog, server: { guards } }, { json: { model: '@openai/m', messages: [] } });
  expect(JSON.stringify(plugins)).not.toContain('holds');
});
