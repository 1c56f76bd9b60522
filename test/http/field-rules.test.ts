import { describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { anthropicReply, entriesFor, json, openaiReply } from '../support/upstream.ts';

/** What keys and catalog entries say of the fields of requests, before a running upstream. */

const SHARED = { preset: 'shared_credentials', media_buckets: ['ours'] };
const messages = [{ role: 'user', content: 'hi' }];

const answers = () =>
  startPair(
    ({ url }, res) => json(res, url.includes('messages') ? anthropicReply('hi') : openaiReply('hi')),
    (url) => ({
      catalog: {
        providers: entriesFor(url).map((entry) => (entry.slug === 'claude' ? { ...entry, fields: SHARED } : entry)),
      },
      keys: {
        keys: [
          { id: 'test', key: `\${env:NONE:-${KEY}}` },
          { id: 'shared', key: '${env:NONE:-shared-key-0123}', fields: SHARED, inline_configs: true },
          { id: 'forms', key: '${env:NONE:-forms-key-01234}', fields: { allow: ['messages', 'max_tokens'] } },
        ],
      },
      gateway: {
        stored: { provider: '@openai', override_params: { store: true, labels: { by: 'operator' } } },
        kept: { provider: '@openai', cache: { mode: 'exact' } },
      },
    }),
  );

async function post(
  url: string,
  body: object,
  {
    key = KEY,
    path = '/v1/chat/completions',
    headers = {},
  }: { key?: string; path?: string; headers?: Record<string, string> } = {},
) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, ...headers },
    body: JSON.stringify(body),
  });
  const { error } = (await response.json()) as { error?: Record<string, unknown> };
  return { status: response.status, error };
}

const image = (url: string) => ({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] });

describe('the fields that a key may send', () => {
  it.each<[string, object, string]>([
    ['a stored completion', { store: true }, 'store'],
    [
      'a foreign file',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
      'messages[0].content[0].file.file_id',
    ],
    ['a foreign bucket', image('gs://theirs/a.png'), 'messages[0].content[0].image_url.url'],
    ['data sources', { data_sources: [] }, 'data_sources'],
  ])('are named where one is refused: %s', async (_, fields, param) => {
    const { upstream, gateway } = await answers();
    const body = { model: '@openai/m', messages, ...fields };
    const { status, error } = await post(gateway.url, body, { key: 'shared-key-0123' });
    expect([status, error?.['code'], error?.['param']]).toEqual([400, 'field_not_allowed', param]);
    expect(error?.['message']).toContain(`\`${param}\``);
    expect(upstream.seen).toEqual([]);
    // Another key says nothing of fields.
    if (!('messages' in fields)) expect((await post(gateway.url, body)).status).toBe(200);
  });

  it('pass where the rules have nothing against them', async () => {
    const { upstream, gateway } = await answers();
    const body = { model: '@openai/m', ...image('gs://ours/a.png'), metadata: { store: 'x' } };
    expect((await post(gateway.url, body, { key: 'shared-key-0123' })).status).toBe(200);
    expect(upstream.seen).toHaveLength(1);
  });

  it('are those alone that it lists, and the model', async () => {
    const { gateway } = await answers();
    const key = 'forms-key-01234';
    expect((await post(gateway.url, { model: '@openai/m', messages, max_completion_tokens: 3 }, { key })).status).toBe(
      200,
    );
    const refused = await post(gateway.url, { model: '@openai/m', messages, temperature: 1 }, { key });
    expect([refused.status, refused.error?.['param']]).toEqual([400, 'temperature']);
  });

  it('bind a config that comes with the request, and do not bind a config in a file', async () => {
    const { upstream, gateway } = await answers();
    const key = 'shared-key-0123';
    const config = JSON.stringify({ provider: '@openai', override_params: { store: true } });
    const inline = await post(gateway.url, { model: 'm', messages }, { key, headers: { 'x-gateway-config': config } });
    expect([inline.status, inline.error?.['code'], inline.error?.['param']]).toEqual([
      400,
      'field_not_allowed',
      'store',
    ]);
    expect(inline.error?.['message']).toContain('x-gateway-config');
    const stored = await post(
      gateway.url,
      { model: 'm', messages },
      { key, headers: { 'x-gateway-config': 'stored' } },
    );
    expect(stored.status).toBe(200);
    expect(upstream.seen.map(({ json: { store } }) => store)).toEqual([true]);
  });

  it('hold for kept replies as well', async () => {
    const { upstream, gateway } = await answers();
    const body = { model: 'm', messages, data_sources: [] };
    const headers = { 'x-gateway-config': 'kept' };
    expect((await post(gateway.url, body, { headers })).status).toBe(200);
    expect((await post(gateway.url, body, { headers, key: 'shared-key-0123' })).status).toBe(400);
    expect(upstream.seen).toHaveLength(1);
  });
});

describe('the fields that a catalog entry takes', () => {
  it.each<[string, string, object]>([
    ['Messages', '/v1/messages', { container: 'c' }],
    ['chat completions', '/v1/chat/completions', { mcp_servers: [] }],
    ['a count of tokens', '/v1/messages/count_tokens', { mcp_servers: [] }],
  ])('are the same for every operation: %s', async (_, path, fields) => {
    const { upstream, gateway } = await answers();
    const model = '@claude/claude-3-5-haiku-20241022';
    const { status, error } = await post(gateway.url, { model, max_tokens: 5, messages, ...fields }, { path });
    expect(status).toBe(400);
    expect(error?.['message']).toBe(`@claude does not allow the field \`${Object.keys(fields)[0]}\`.`);
    expect(upstream.seen).toEqual([]);
  });
});
