import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { testPrivateKey } from '../../src/core/providers/setup.testkit.ts';
import { KEY, until, type TestGateway, type TestSettings } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { geminiReply, json, type Script, type ScriptedUpstream } from '../support/upstream.ts';

const privateKey = testPrivateKey();

let upstream: ScriptedUpstream;
let gateway: TestGateway;

async function start(
  token: Script,
  model: Script = (_, res) => json(res, geminiReply('hi')),
  settings: TestSettings = {},
): Promise<void> {
  const script: Script = (request, res, index) =>
    request.url === '/token' ? token(request, res, index) : model(request, res, index);
  ({ upstream, gateway } = await startPair(script, (url) => ({
    ...settings,
    server: { egress: { token_uris: [`${url}/token`] } },
    catalog: {
      providers: [
        {
          slug: 'vertex',
          provider: 'vertex-ai',
          region: 'us-central1',
          service_account: accountOf(url),
          base_url: url,
          allow_insecure: true,
        },
      ],
    },
    // Keys come with their line breaks escaped as often as not.
    options: { env: { SA_KEY: privateKey.replaceAll('\n', '\\n') } },
  })));
}

const accountOf = (url: string) => ({
  type: 'service_account',
  project_id: 'test-project',
  private_key_id: 'k1',
  private_key: '${env:SA_KEY}',
  client_email: 'a@test-project.iam.gserviceaccount.com',
  token_uri: `${url}/token`,
});

const chat = (model = '@vertex/gemini-2.5-flash', headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...headers },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  });
const tokenCalls = () => upstream.seen.filter(({ url }) => url === '/token');
const granted: Script = async (_, res) => {
  await new Promise((resolve) => setTimeout(resolve, 30));
  json(res, { access_token: `token-${tokenCalls().length}`, expires_in: 3599, token_type: 'Bearer' });
};

describe('Google access tokens', () => {
  it('cost one call for two hundred first requests', async () => {
    await start(granted);
    const answers = await Promise.all(Array.from({ length: 200 }, () => chat()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(tokenCalls().length).toBe(1);
    expect(
      new Set(upstream.seen.filter(({ url }) => url !== '/token').map(({ headers }) => headers.authorization)),
    ).toEqual(new Set(['Bearer token-1']));
  });

  it('are asked for with a signed assertion as RFC 7523 wants it', async () => {
    await start(granted);
    await chat();
    const form = new URLSearchParams(tokenCalls()[0]!.text);
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [head, claims] = form
      .get('assertion')!
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>);
    expect(head).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k1' });
    expect(claims).toMatchObject({
      iss: 'a@test-project.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: `${upstream.url}/token`,
    });
    expect(Number(claims!['exp']) - Number(claims!['iat'])).toBe(3600);
  });

  it.each<[string, Script, RegExp]>([
    [
      'a refusal',
      (_, res) => json(res, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, 400),
      /invalid_grant.*Invalid JWT Signature/,
    ],
    ['a reply without a token', (_, res) => json(res, { token_type: 'Bearer' }), /./],
    ['an empty token', (_, res) => json(res, { access_token: '', expires_in: 3600 }), /./],
    [
      'a page',
      (_, res) => void res.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>'),
      /./,
    ],
    ['a redirect', (_, res) => void res.writeHead(302, { location: 'http://169.254.169.254/' }).end(), /./],
    ['silence', (_, res) => void res.destroy(), /./],
  ])('that end in %s are a 502 that names the entry, and the model is not asked', async (_, token, reason) => {
    await start(token);
    const answer = await chat();
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect([answer.status, error.code]).toEqual([502, 'credentials_failed']);
    expect(error.message).toContain('vertex');
    expect(error.message).toMatch(reason);
    expect(upstream.seen.filter(({ url }) => url !== '/token')).toEqual([]);
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(metrics).toContain('gatehouse_oauth_token_refreshes_total{provider="vertex",result="failure"} 1');
    expect(gateway.logs).toContainEqual(
      expect.objectContaining({ level: 'warn', provider: 'vertex', msg: 'no access token' }),
    );
  });

  describe('from a server that does not answer', () => {
    const held: ServerResponse[] = [];
    const silent: Script = (_, res) => void held.push(res);
    const answerAll = (): void => {
      for (const res of held.splice(0)) json(res, { access_token: 'late', expires_in: 3599, token_type: 'Bearer' });
    };
    const gatewayConfigs = {
      short: { provider: '@vertex', deadline: '150ms' },
      tried: { provider: '@vertex', deadline: '20s', timeouts: { total: '150ms' } },
    };

    it.each([
      [
        'short',
        'timeout_request',
        /deadline of 150 ms passed while the request waited for an access token of "vertex"/,
      ],
      ['tried', 'timeout_total', /^150 ms \(timeouts.total\) passed while the request waited for an access token/],
    ])(
      'are waited for within the limits of the config "%s", and fetched on for the others',
      async (config, code, words) => {
        await start(silent, undefined, { gateway: gatewayConfigs });
        const patient = chat();
        await until(() => held.length === 1, 'the token server is called');
        const answer = await chat('@vertex/gemini-2.5-flash', { 'x-gateway-config': config });
        const { error } = (await answer.json()) as { error: { code: string; message: string } };
        expect([answer.status, error.code]).toEqual([504, code]);
        expect(error.message).toMatch(words);
        answerAll();
        expect((await patient).status).toBe(200);
        expect(tokenCalls().length).toBe(1);
      },
    );

    it('do not hold the place of a client that leaves', async () => {
      await start(silent);
      const leaving = new AbortController();
      const left = fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
        body: JSON.stringify({ model: '@vertex/gemini-2.5-flash', messages: [{ role: 'user', content: 'hi' }] }),
        signal: leaving.signal,
      }).catch(() => {});
      await until(() => held.length === 1, 'the token server is called');
      leaving.abort();
      await left;
      const isFree = async (): Promise<boolean> => {
        const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
        return /gatehouse_requests_in_flight\{[^}]*\} 0/.test(metrics);
      };
      while (!(await isFree()));
      expect(held.length).toBe(1);
      answerAll();
    });
  });

  const unauthenticated: Script = (_, res) =>
    json(res, { error: { code: 401, message: 'ya29.expired is expired', status: 'UNAUTHENTICATED' } }, 401);
  const modelCalls = () => upstream.seen.filter(({ url }) => url !== '/token');

  it('that the upstream refuses are fetched anew once, however young they are', async () => {
    await start(granted, (request, res, index) =>
      request.headers.authorization === 'Bearer token-1'
        ? unauthenticated(request, res, index)
        : json(res, geminiReply('hi')),
    );
    expect((await chat()).status).toBe(200);
    expect(tokenCalls().length).toBe(2);
    expect(modelCalls().map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it('that the upstream refuses cost one call for fifty requests at once, and the newer token is used', async () => {
    await start(granted, (request, res, index) =>
      request.headers.authorization === 'Bearer token-1'
        ? unauthenticated(request, res, index)
        : json(res, geminiReply('hi')),
    );
    const answers = await Promise.all(Array.from({ length: 50 }, () => chat()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(tokenCalls().length).toBe(2);
  });

  it('that the upstream refuses for good cost one more call, and each request fails with a 502 that names the entry', async () => {
    await start(granted, unauthenticated);
    for (let request = 0; request < 5; request += 1) {
      const answer = await chat();
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      expect([answer.status, error.code, answer.headers.get('x-should-retry')]).toEqual([
        502,
        'upstream_credentials_refused',
        'false',
      ]);
      expect(error.message).toBe('The upstream refused the credentials of the catalog entry @vertex (401).');
    }
    expect(tokenCalls().length).toBe(2);
    // The first request was sent with both tokens, the others once with the second.
    expect(modelCalls().map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      ...Array.from({ length: 5 }, () => 'Bearer token-2'),
    ]);
  });

  it('are not sent a second time when the issuer returns the same token', async () => {
    await start((_, res) => json(res, { access_token: 'cached', expires_in: 3599 }), unauthenticated);
    expect((await chat()).status).toBe(502);
    expect([tokenCalls().length, modelCalls().length]).toEqual([2, 1]);
  });
});

describe('requests without the catalog', () => {
  it('go to Google with the caller’s token and nowhere else', async () => {
    const asked: string[] = [];
    // The names that are looked up tell where the request would have gone; nothing leaves the machine.
    const lookup = (hostname: string) => {
      asked.push(hostname);
      return Promise.resolve(['10.0.0.1']);
    };
    const catalog = { providers: [{ slug: 'sim', provider: 'simulator' }] };
    ({ upstream, gateway } = await startPair(granted, { catalog, options: { lookup } }));
    const answer = await chat('gemini-2.5-flash', {
      'x-gateway-provider': 'vertex-ai',
      'x-gateway-vertex-project-id': 'my-project',
      'x-gateway-vertex-region': 'europe-west4',
      authorization: 'ya29.x',
    });
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
      502,
      'egress_refused',
    ]);
    expect(asked).toEqual(['europe-west4-aiplatform.googleapis.com']);
  });
});
