import { describe, expect, it } from 'vitest';
import { generateKey } from '../../src/core/settings/compile/api-keys.ts';
import { KEY } from '../support/gateway.ts';
import { startPair, type Pair } from '../support/pair.ts';
import { openaiReply, json } from '../support/upstream.ts';

/** A host of the caller's own is asked with what the caller has in Authorization. */
const start = () =>
  startPair((_, res) => json(res, openaiReply('hi')), {
    keys: {
      keys: [
        { id: 'test', key: KEY, inline_configs: true, custom_hosts: { hosts: ['127.0.0.1:*'], allow_insecure: true } },
      ],
    },
  });

async function ask(
  { gateway, upstream }: Pair,
  headers: Record<string, string>,
): Promise<[number, string | undefined]> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      'x-gateway-custom-host': `${upstream.url}/v1`,
      ...headers,
    },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
  });
  const { error } = (await answer.json()) as { error?: { code: string } };
  return [answer.status, error?.code];
}

describe('a gateway key that is not live', () => {
  it('never reaches an upstream, whatever scheme it stands behind', async () => {
    const pair = await start();
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
      expect(await ask(pair, { authorization }), authorization).toEqual([401, 'invalid_api_key']);
    expect(await ask(pair, { 'x-api-key': key })).toEqual([401, 'invalid_api_key']);
    expect(pair.upstream.seen).toEqual([]);
    expect(await ask(pair, { authorization: 'Bearer callers-token' })).toEqual([200, undefined]);
    expect(pair.upstream.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer callers-token']);
    expect(pair.gateway.logText()).not.toContain(key);
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
    const pair = await start();
    const config = JSON.stringify({ forward_headers: [name] });
    const headers = { 'x-gateway-config': config, authorization: 'Bearer t', [name]: 'chosen' };
    expect(await ask(pair, headers)).toEqual([400, 'invalid_config']);
    expect(pair.upstream.seen).toEqual([]);
  });
});
