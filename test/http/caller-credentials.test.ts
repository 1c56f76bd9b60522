import { describe, expect, it } from 'vitest';
import { generateKey } from '../../src/settings/api-keys.ts';
import { KEY } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { geminiReply, json } from '../support/upstream.ts';

/** An entry without a key of its own sends what the caller has in Authorization. */
const start = () =>
  startPair(
    (_, res) => json(res, geminiReply('hi')),
    (url) => ({
      catalog: {
        providers: [
          {
            slug: 'own',
            provider: 'vertex-ai',
            project_id: 'p',
            region: 'us-central1',
            base_url: url,
            allow_insecure: true,
          },
        ],
      },
      keys: { keys: [{ id: 'test', key: KEY, inline_configs: true }] },
    }),
  );

async function ask(url: string, headers: Record<string, string>): Promise<[number, string | undefined]> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...headers },
    body: JSON.stringify({ model: '@own/gemini-2.5-flash', messages: [{ role: 'user', content: 'hi' }] }),
  });
  const { error } = (await answer.json()) as { error?: { code: string } };
  return [answer.status, error?.code];
}

describe('a gateway key that is not live', () => {
  it('never reaches an upstream, whatever scheme it stands behind', async () => {
    const { gateway, upstream } = await start();
    const { key } = generateKey();
    const basic = Buffer.from(`me:${key}`).toString('base64');
    for (const authorization of [
      key,
      `Bearer ${key}`,
      `bearer   ${key}`,
      `BEARER\t${key}`,
      `Basic ${basic}`,
      `x ${key}`,
    ])
      expect(await ask(gateway.url, { authorization }), authorization).toEqual([401, 'invalid_api_key']);
    expect(await ask(gateway.url, { 'x-api-key': key })).toEqual([401, 'invalid_api_key']);
    expect(upstream.seen).toEqual([]);
    expect(await ask(gateway.url, { authorization: 'Bearer callers-token' })).toEqual([200, undefined]);
    expect(upstream.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer callers-token']);
    expect(gateway.logText()).not.toContain(key);
  });
});

describe('a config that comes with a request', () => {
  it.each([
    'openai-organization',
    'OpenAI-Project',
    'x-http-method-override',
    'x-forwarded-for',
    'forwarded',
    'x-real-ip',
  ])('cannot send the caller’s %s on', async (name) => {
    const { gateway, upstream } = await start();
    const config = JSON.stringify({ provider: '@own', forward_headers: [name] });
    const headers = { 'x-gateway-config': config, authorization: 'Bearer t', [name]: 'chosen' };
    expect(await ask(gateway.url, headers)).toEqual([400, 'invalid_config']);
    expect(upstream.seen).toEqual([]);
  });
});
