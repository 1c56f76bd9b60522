import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { json, startUpstream, openaiReply, type ScriptedUpstream } from '../support/upstream.ts';

const OTHER_KEYS = {
  guest: 'guest-key-0123456789',
  strict: 'strict-key-0123456789',
  held: 'held-key-0123456789',
  any: 'any-host-key-0123456789',
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream((request, res) => {
    if (request.url.startsWith('/moved')) {
      res.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    } else if (request.url.includes('embeddings')) {
      json(res, { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] });
    } else if (request.url.includes('images')) json(res, { created: 1, data: [{ b64_json: 'AAAA' }] });
    else json(res, openaiReply(`from ${request.headers.host} ${request.url}`));
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
          {
            id: 'free',
            key: KEY,
            inline_configs: true,
            custom_hosts: { hosts: [`*:${port}`, '*.example.com'], allow_insecure: true },
          },
          { id: 'strict', key: OTHER_KEYS.strict, custom_hosts: { hosts: [`*:${port}`, '*.example.com', '*:*'] } },
          { id: 'any', key: OTHER_KEYS.any, custom_hosts: { hosts: ['*', '*:*'] } },
          { id: 'guest', key: OTHER_KEYS.guest },
          { id: 'held', key: OTHER_KEYS.held, providers: ['@openai'] },
        ],
      },
      gateway: {
        open: { custom_hosts: { hosts: [`127.0.0.1:${port}`], allow_insecure: true } },
        held: { provider: '@openai' },
        'by-name': { provider: 'openai' },
        kept: { cache: { mode: 'exact', scope: 'config' } },
        chain: {
          strategy: { mode: 'fallback' },
          targets: [{ override_params: { model: 'first' } }, { override_params: { model: 'second' } }],
        },
        'then-catalog': {
          strategy: { mode: 'fallback', on_status_codes: [400, 502] },
          targets: [{ override_params: { model: 'first' } }, { provider: '@openai' }],
        },
        sticky: {
          strategy: { mode: 'loadbalance', sticky: { hash_fields: ['caller'] } },
          targets: [{ override_params: { model: 'first' } }, { override_params: { model: 'first' } }],
        },
      },
    },
    { lookup: async () => ['10.1.2.3'] },
  );
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const CHAT = '/v1/chat/completions';

async function ask(host: string, headers: Record<string, string> = {}, model = 'own-model', path = CHAT) {
  const before = upstream.seen.length;
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      'x-gateway-custom-host': host,
      ...headers,
    },
    body: JSON.stringify({ model, ...bodyFor(path) }),
  });
  const body = (await response.json()) as {
    error?: { code: string; message: string };
    choices?: { message: { content: string } }[];
  };
  return {
    status: response.status,
    headers: response.headers,
    error: body.error,
    text: body.choices?.[0]?.message.content,
    seen: upstream.seen.slice(before),
  };
}

function bodyFor(path: string): object {
  if (path.includes('embeddings')) return { input: 'hi' };
  return path.includes('images') ? { prompt: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] };
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
    ['nothing', '', 400],
    ['a name before its own', 'https://allowed.example.com@example.org/v1', 400],
    ['the same with backslashes', String.raw`https:\\word@api.example.com\v1`, 400],
    ['a backslash that ends the host', String.raw`https://example.org\.example.com/v1`, 400],
    ['a tab in its name', 'https://api.exam\tple.com/v1', 400],
    ['the name that a pattern hangs on', 'https://example.com/v1', 403],
    ['a dot at its end', 'https://api.example.com./v1', 403],
    ['two dots at its end', 'https://api.example.com../v1', 403],
    ['a letter that only looks like one', 'https://api.ex\u00e0mple.com/v1', 403],
    ['a soft hyphen and what is hidden behind it', 'https://evil.test\u00ad/.example.com', 403],
    ['an encoded slash in its name', 'https://evil.test%2f.example.com/v1', 400],
    ['an encoded null in its name', 'https://evil.test%00.example.com/v1', 400],
    ['the scheme’s port of another scheme', 'https://api.example.com:80/v1', 403],
    ['port 0', 'https://api.example.com:0/v1', 403],
    ['a port beyond all', 'https://api.example.com:65536/v1', 400],
    ['an address as one number', 'http://2130706433:1/v1', 403],
    ['two addresses', 'https://api.example.com/v1, https://b.example.com/v1', 400],
    ['two hosts', 'https://example.org, https://api.example.com', 400],
    ['a fragment', 'https://api.example.com/v1#@example.org', 400],
    ['a name that is longer than names are', `https://${'a.'.repeat(2000)}example.com/v1`, 400],
  ])('is refused with %s', async (_, host, status) => {
    const asked = await ask(host);
    expect([asked.status, asked.seen.length]).toEqual([status, 0]);
    expect(asked.error?.message).not.toContain('word');
    expect(asked.error?.message.length).toBeLessThan(400);
  });

  it.each([
    ['plain http', () => `${upstream.url}/v1`, 403, 'provider_not_allowed'],
    ['a private address behind a name', () => 'https://api.example.com/v1', 502, 'egress_refused'],
    ['the same in capitals', () => 'HTTPS://API.EXAMPLE.COM:443/v1', 502, 'egress_refused'],
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
    ['a project of Vertex AI', { 'x-gateway-vertex-project-id': 'p', 'x-gateway-vertex-region': 'us-central1' }, 'm'],
    ['half of one', { 'x-gateway-vertex-region': 'us-central1' }, 'm'],
  ])('does not go together with %s', async (_, headers, model) => {
    const asked = await ask(`${upstream.url}/v1`, headers, model);
    expect([asked.status, asked.error?.code, asked.seen.length]).toEqual([400, 'provider_conflict', 0]);
  });
});

describe('the host of one caller', () => {
  it.each([
    ['nowhere by its name', 'https://nowhere.invalid/v1'],
    ['inside by its name', 'https://inside.test/v1'],
  ])('that leads %s gives the same error, without information about the network', async (_, host) => {
    const { status, error } = await ask(host, { 'x-gateway-api-key': OTHER_KEYS.any });
    const { hostname } = new URL(host);
    expect([status, error]).toMatchObject([
      502,
      {
        code: 'egress_refused',
        message: `${hostname}:443 cannot be reached: it has no address, or only addresses that callers may not choose (custom_hosts.allow_insecure).`,
      },
    ]);
  });

  it.each([
    'https://127.1',
    'https://0x7f.0.0.1',
    'https://017700000001',
    'https://2130706433/v1',
    'https://0/',
    'https://127.0.0.1./v1',
    'https://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1/',
    'https://[::ffff:127.0.0.1]/v1',
    'https://[::ffff:a9fe:a9fe]',
    'https://[64:ff9b::a00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[fd00:ec2::254]/',
    'https://%31%32%37.0.0.1/',
  ])('may be every one and is yet not %j', async (host) => {
    const { status, error, seen } = await ask(host, { 'x-gateway-api-key': OTHER_KEYS.any });
    expect([status, error?.code, seen.length]).toEqual([502, 'egress_refused', 0]);
  });

  it('never answers for that of another, and a kept reply is of one host, path and token', async () => {
    const { port } = new URL(upstream.url);
    const kept = { 'x-gateway-config': 'kept' };
    const from = async (host: string, headers: Record<string, string> = {}) => {
      const { text, headers: reported } = await ask(host, { ...kept, ...headers });
      return [text?.split(' ')[1], reported.get('x-gateway-cache-status')];
    };
    expect(await from(`http://127.0.0.1:${port}/v1`)).toEqual([`127.0.0.1:${port}`, 'MISS']);
    expect(await from(`http://127.0.0.1:${port}/v1/`)).toEqual([`127.0.0.1:${port}`, 'HIT']);
    expect(await from(`http://127.0.0.1:${port}/v2`)).toEqual([`127.0.0.1:${port}`, 'MISS']);
    expect(await from(`http://127.0.0.1:${port}/v1`, { authorization: 'Bearer own' })).toEqual([
      `127.0.0.1:${port}`,
      'MISS',
    ]);
    expect(await from(`http://127.0.0.2:${port}/v1`)).toEqual([undefined, 'MISS']);
    expect(await from(`https://127.0.0.1:${port}/v1`)).toEqual([undefined, 'MISS']);
  });

  it.each([
    ['a chain without providers', { 'x-gateway-config': 'chain' }, 'first'],
    ['a sticky choice', { 'x-gateway-config': 'sticky' }, 'first'],
    ['a config that says openai', { 'x-gateway-config': 'by-name' }, 'own-model'],
  ])('is all that %s asks', async (_, headers, model) => {
    const { status, seen } = await ask(`${upstream.url}/v1`, headers);
    expect([status, seen.map(({ json: body }) => body['model'])]).toEqual([200, [model]]);
  });

  it('gets no second request of a chain that goes on to the catalog, and the catalog none', async () => {
    const { status, seen } = await ask('https://api.example.com/v1', { 'x-gateway-config': 'then-catalog' });
    expect([status, seen.length]).toEqual([502, 0]);
    expect(upstream.seen.some(({ headers }) => headers.authorization?.includes('catalog-key'))).toBe(false);
  });

  it('cannot be allowed by a config that comes with the request', async () => {
    const config = JSON.stringify({ custom_hosts: { hosts: ['*'] } });
    const { status, error } = await ask('https://example.org/v1', { 'x-gateway-config': config });
    expect([status, error?.code]).toEqual([400, 'invalid_config']);
  });

  it.each(['/v1/embeddings', '/v1/images/generations'])('is asked at %s like an SDK would', async (path) => {
    const { status, seen } = await ask(`${upstream.url}/v1`, { authorization: 'Bearer callers-own' }, 'm', path);
    expect([status, seen.map(({ url, headers }) => [url, headers.authorization])]).toEqual([
      200,
      [[path, 'Bearer callers-own']],
    ]);
  });

  it('is not asked to count tokens, which no such API does', async () => {
    const { status, seen } = await ask(`${upstream.url}/v1`, {}, 'm', '/v1/messages/count_tokens');
    expect([status, seen.length]).toEqual([501, 0]);
  });

  it('is not called for its models, and the same access rules apply there', async () => {
    const find = async (host: string, id = 'm') =>
      (
        await fetch(`${gateway.url}/v1/models/${id}`, {
          headers: { 'x-gateway-api-key': KEY, 'x-gateway-custom-host': host },
        })
      ).status;
    const before = upstream.seen.length;
    expect([await find(`${upstream.url}/v1`), await find('https://example.org/v1')]).toEqual([200, 404]);
    expect([await find('https://a@b/'), await find(`${upstream.url}/v1`, '@openai/m')]).toEqual([400, 400]);
    expect(upstream.seen.length).toBe(before);
  });

  it.each([
    ['of another scheme', 'Basic dXNlcjpwYXNz'],
    ['with what no header may hold', 'Bearer caf\u00e9'],
    ['that is empty', 'Bearer '],
    ['that is a gateway key', `Bearer ${KEY}`],
    ['that is another gateway key', `Bearer ${OTHER_KEYS.guest}`],
  ])('is sent no token %s', async (_, authorization) => {
    const { status, seen } = await ask(`${upstream.url}/v1`, { authorization });
    expect([status, seen.map(({ headers }) => headers.authorization)]).toEqual([200, [undefined]]);
  });
});
