import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { json, startUpstream, openaiReply, type ScriptedUpstream } from '../support/upstream.ts';

const OTHER_KEYS = { guest: 'guest-key-0123456789', strict: 'strict-key-0123456789', held: 'held-key-0123456789' };

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream((request, res) => {
    if (request.url.startsWith('/moved')) {
      res.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    } else json(res, openaiReply('hi'));
  });
  const { port } = new URL(upstream.url);
  gateway = await startTestGateway(
    {
      catalog: {
        providers: [
          {
            slug: 'openai',
            provider: 'openai',
            api_key: 'catalog-key-0123456789',
            base_url: `${upstream.url}/v1`,
            allow_insecure: true,
          },
        ],
      },
      keys: {
        keys: [
          // Names of the outside, and anything on the test's own port.
          { id: 'free', key: KEY, custom_hosts: { hosts: [`*:${port}`, '*.example.com'], allow_insecure: true } },
          { id: 'strict', key: OTHER_KEYS.strict, custom_hosts: { hosts: [`*:${port}`, '*.example.com', '*:*'] } },
          { id: 'guest', key: OTHER_KEYS.guest },
          { id: 'held', key: OTHER_KEYS.held, providers: ['@openai'] },
        ],
      },
      gateway: {
        open: { custom_hosts: { hosts: [`127.0.0.1:${port}`], allow_insecure: true } },
        held: { provider: '@openai' },
      },
    },
    { lookup: async () => ['10.1.2.3'] },
  );
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function ask(host: string, headers: Record<string, string> = {}, model = 'own-model') {
  const before = upstream.seen.length;
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      'x-gateway-custom-host': host,
      ...headers,
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  });
  const body = (await response.json()) as { error?: { code: string; message: string } };
  return {
    status: response.status,
    headers: response.headers,
    error: body.error,
    seen: upstream.seen.slice(before),
  };
}

describe('a host that the caller chooses', () => {
  it('is asked with the caller’s own token, and with nothing of the catalog or the gateway', async () => {
    const { status, seen, headers } = await ask(`${upstream.url}/api/v1/`, { authorization: 'Bearer callers-own' });
    expect([status, headers.get('x-gateway-provider')]).toEqual([200, 'custom-host']);
    expect(seen.map(({ url }) => url)).toEqual(['/api/v1/chat/completions']);
    expect(seen[0]?.headers.authorization).toBe('Bearer callers-own');
    expect(JSON.stringify([seen[0]?.headers, seen[0]?.text])).not.toMatch(/catalog-key|gatehouse-test-key|custom-host/);
  });

  it('is asked without credentials where the caller has none of its own', async () => {
    const { status, seen } = await ask(`${upstream.url}/v1`, { 'x-gateway-provider': 'openai' });
    expect([status, 'authorization' in (seen[0]?.headers ?? {})]).toEqual([200, false]);
  });

  it.each([
    ['a key', { 'x-gateway-api-key': OTHER_KEYS.guest }, 403],
    ['a gateway config', { 'x-gateway-api-key': OTHER_KEYS.guest, 'x-gateway-config': 'open' }, 200],
    [
      'a gateway config, for a key that is held to the catalog',
      { 'x-gateway-api-key': OTHER_KEYS.held, 'x-gateway-config': 'open' },
      403,
    ],
  ])('must be allowed by %s', async (_, headers, status) => {
    const asked = await ask(`${upstream.url}/v1`, headers);
    expect([asked.status, asked.seen.length]).toEqual([status, status === 200 ? 1 : 0]);
    if (status === 403) expect(asked.error?.code).toBe('provider_not_allowed');
  });

  it.each([
    ['another port', 'http://127.0.0.1:1/v1', 403],
    ['a name that is not listed', 'https://example.org/v1', 403],
    ['a name that only looks like one that is', 'https://example.com.evil.test/v1', 403],
    ['credentials in its address', 'https://user:word@api.example.com/v1', 400],
    ['a query', 'https://api.example.com/v1?key=x', 400],
    ['another scheme', 'file:///etc/passwd', 400],
    ['no address at all', 'api.example.com', 400],
  ])('is refused with %s', async (_, host, status) => {
    const asked = await ask(host);
    expect([asked.status, asked.seen.length]).toEqual([status, 0]);
    expect(asked.error?.message).not.toContain('word');
  });

  it.each([
    ['plain http', () => `${upstream.url}/v1`, 403, 'provider_not_allowed'],
    ['a private address behind a name', () => 'https://api.example.com/v1', 502, 'egress_refused'],
    ['a private address', () => 'https://10.0.0.8:8443/v1', 502, 'egress_refused'],
    ['the metadata server', () => 'https://169.254.169.254:443/v1', 403, 'provider_not_allowed'],
  ])('is not reached by %s where only the outside is allowed', async (_, host, status, code) => {
    const asked = await ask(host(), { 'x-gateway-api-key': OTHER_KEYS.strict });
    expect([asked.status, asked.error?.code, asked.seen.length]).toEqual([status, code, 0]);
  });

  it('is not followed where it sends the request elsewhere', async () => {
    const { status, error, seen } = await ask(`${upstream.url}/moved`);
    expect([status, error?.code, seen.length]).toEqual([502, 'upstream_error', 1]);
  });

  it.each([
    ['a model of the catalog', {}, '@openai/gpt-4o'],
    ['a provider of the catalog', { 'x-gateway-provider': '@openai' }, 'gpt-4o'],
    ['another provider', { 'x-gateway-provider': 'anthropic' }, 'gpt-4o'],
    ['a gateway config with a provider', { 'x-gateway-config': 'held' }, 'gpt-4o'],
  ])('does not go together with %s', async (_, headers, model) => {
    const asked = await ask(`${upstream.url}/v1`, headers, model);
    expect([asked.status, asked.error?.code, asked.seen.length]).toEqual([400, 'provider_conflict', 0]);
  });
});
