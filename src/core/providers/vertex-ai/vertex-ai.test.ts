import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { VertexEntry } from '../../../../schemas/types.generated.ts';
import { GatewayError, Secret, UpstreamError } from '../../../plugin/index.ts';
import type { SmallReply, SmallRequest } from '../../upstream/types.ts';
import type { UpstreamCaller } from '../provider.ts';
import { noTokenCalls, serviceAccountJson, testPrivateKey, testSetup, tokenReply } from '../setup.testkit.ts';
import { createAdHocVertex, vertexAi } from './index.ts';

const TOKEN = { access_token: 'ya29.token-1', expires_in: 3599, token_type: 'Bearer' };
const NOBODY: UpstreamCaller = { upstreamToken: undefined };
const bearer = (text: string): UpstreamCaller => ({ upstreamToken: new Secret(text) });

type Reply = (request: SmallRequest) => SmallReply | Promise<SmallReply>;

function create(changes: Partial<VertexEntry> = {}, reply: Reply = () => tokenReply(TOKEN), tokenUris: string[] = []) {
  const fixture = testSetup(reply, tokenUris);
  const settings: VertexEntry = { slug: 'vertex-prod', provider: 'vertex-ai', region: 'us-central1', ...changes };
  return { ...fixture, entry: vertexAi.create(settings, fixture.setup) };
}

const withKey = (changes: Record<string, unknown> = {}, reply?: Reply, tokenUris?: string[]) =>
  create({ service_account: new Secret(serviceAccountJson(changes)) }, reply, tokenUris);

describe('a vertex-ai entry with a service account', () => {
  test('sends the token of the account', async () => {
    const { entry, sent } = withKey();
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.token-1' });
    // The second time it is cached, without a promise.
    expect(entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.token-1' });
    expect(sent).toHaveLength(1);
  });

  test('requests the token according to RFC 7523, with a valid assertion', async () => {
    const { entry, sent, clock } = withKey();
    const issuedAt = Math.floor(clock.wall() / 1_000);
    await entry?.authorize(NOBODY);
    const [request] = sent;
    expect(request).toMatchObject({
      url: 'https://oauth2.googleapis.com/token',
      method: 'POST',
      allowInsecure: false,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    const form = new URLSearchParams(request?.body);
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const decode = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(decode(header)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'kid-1' });
    expect(decode(claims)).toEqual({
      iss: 'gateway@sa-project.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: 'https://oauth2.googleapis.com/token',
      iat: issuedAt,
      exp: issuedAt + 3_600,
    });
    const signed = Buffer.from(`${header}.${claims}`);
    const key = createPublicKey(testPrivateKey());
    expect(verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url'))).toBe(true);
  });

  test('makes one token call for 200 concurrent first requests', async () => {
    const { entry, sent } = withKey();
    const headers = await Promise.all(Array.from({ length: 200 }, () => entry?.authorize(NOBODY)));
    expect(new Set(headers.map((each) => each?.['authorization']))).toEqual(new Set(['Bearer ya29.token-1']));
    expect(sent).toHaveLength(1);
  });

  test('shares a token with an entry of the same key, but not of another key', async () => {
    const { setup, sent } = testSetup(() => tokenReply(TOKEN));
    const settings = (slug: string, changes = {}): VertexEntry => ({
      slug,
      provider: 'vertex-ai',
      region: 'global',
      service_account: new Secret(serviceAccountJson(changes)),
    });
    const entries = [settings('a'), settings('b'), settings('c', { private_key_id: 'kid-2' })];
    for (const each of entries) await vertexAi.create(each, setup)?.authorize(NOBODY);
    expect(sent).toHaveLength(2);
  });

  test('fetches a new token after a refusal', async () => {
    let issued = 0;
    const { entry } = withKey({}, () => tokenReply({ ...TOKEN, access_token: `t${(issued += 1)}` }));
    await entry?.authorize(NOBODY);
    expect(entry?.forgetCredentials?.({ authorization: 'Bearer t1' })).toBe(true);
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer t2' });
  });

  test("takes the project from the key unless the entry names one, and the caller's token never replaces its own", async () => {
    const { entry } = withKey();
    expect(entry?.locate('gemini-2.5-pro', { task: 'generate', stream: false }).path).toContain(
      '/projects/sa-project/',
    );
    expect(await entry?.authorize(bearer('Bearer of-the-caller'))).toEqual({ authorization: 'Bearer ya29.token-1' });
    const { entry: other } = create({ service_account: new Secret(serviceAccountJson()), project_id: 'other-project' });
    expect(other?.locate('gemini-2.5-pro', { task: 'generate', stream: false }).path).toContain(
      '/projects/other-project/',
    );
  });

  test('accepts the key as an object, and line breaks written as \\n', async () => {
    const { entry, problems } = create({
      service_account: {
        client_email: 'x@y.example',
        private_key: new Secret(testPrivateKey().replaceAll('\n', '\\n')),
        project_id: 'sa-project',
      },
    });
    expect(problems).toEqual([]);
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.token-1' });
  });
});

describe('a token call that fails', () => {
  test.each<[string, SmallReply, string]>([
    [
      'a refusal',
      tokenReply({ error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, 400),
      'invalid_grant: Invalid JWT Signature.',
    ],
    ['a refusal without words', { status: 503, headers: {}, text: '<html>' }, 'answered 503'],
    ['a 200 that is not JSON', { status: 200, headers: {}, text: '<html>' }, 'without a JSON object'],
    ['a 200 without a token', tokenReply({ expires_in: 3599 }), 'without a usable access_token'],
    ['an empty token', tokenReply({ ...TOKEN, access_token: '' }), 'without a usable access_token'],
    [
      'a token that would break a header',
      tokenReply({ ...TOKEN, access_token: 'a\r\nb: c' }),
      'without a usable access_token',
    ],
    ['a token without a lifetime', tokenReply({ ...TOKEN, expires_in: undefined }), 'expires_in'],
    ['an expired token', tokenReply({ ...TOKEN, expires_in: 0 }), 'expires_in'],
    ['a token of another type', tokenReply({ ...TOKEN, token_type: 'mac' }), 'token_type'],
  ])('%s is a 502 that names the entry and the reason', async (_, reply, reason) => {
    const { entry } = withKey({}, () => reply);
    const error: unknown = await Promise.resolve(entry?.authorize(NOBODY)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UpstreamError);
    expect(error).toMatchObject({
      code: 'credentials_failed',
      status: 502,
      provider: 'vertex-prod',
      message: expect.stringContaining(reason),
    });
    expect((error as Error).message).toContain('@vertex-prod');
  });

  test('names a failed connection', async () => {
    const { entry } = withKey({}, () => {
      throw new UpstreamError('connection_failed', 'No connection to oauth2.googleapis.com.');
    });
    await expect(entry?.authorize(NOBODY)).rejects.toMatchObject({
      code: 'credentials_failed',
      message: expect.stringContaining('No connection to oauth2.googleapis.com.'),
    });
  });

  test('never shows the assertion, the key or a token, even if the endpoint repeats them', async () => {
    const { entry, sent } = withKey({}, ({ body = '' }) => {
      const assertion = new URLSearchParams(body).get('assertion') ?? '';
      return tokenReply(
        { error: 'invalid_grant', error_description: `bad ${assertion} and ${assertion.slice(0, 120)}` },
        400,
      );
    });
    const error: unknown = await Promise.resolve(entry?.authorize(NOBODY)).catch((thrown: unknown) => thrown);
    const shown = inspect(error, { depth: 10 }) + String(error) + JSON.stringify(error);
    const assertion = new URLSearchParams(sent[0]?.body).get('assertion') ?? '';
    expect(assertion.length).toBeGreaterThan(300);
    for (const part of assertion.split('.')) expect(shown).not.toContain(part.slice(0, 40));
    expect(shown).toContain('invalid_grant');
  });
});

describe('a service account that cannot be used', () => {
  const CANARY = 'CANARY-SECRET';
  const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

  test.each<[string, Partial<VertexEntry>, (string | number)[], string]>([
    [
      'text that is not JSON',
      { service_account: new Secret(`{"private_key": ${CANARY}`) },
      ['service_account'],
      'not the JSON',
    ],
    [
      'JSON that is not an object',
      { service_account: new Secret(`["${CANARY}"]`) },
      ['service_account'],
      'not the JSON',
    ],
    [
      'another type of key',
      { service_account: new Secret(serviceAccountJson({ type: 'authorized_user' })) },
      ['service_account'],
      'another type',
    ],
    [
      'a type that is no text',
      { service_account: new Secret(serviceAccountJson({ type: 7 })) },
      ['service_account'],
      'credentials_json',
    ],
    [
      'another universe',
      { service_account: new Secret(serviceAccountJson({ universe_domain: 'example.com' })) },
      ['service_account'],
      'universe',
    ],
    [
      'no client_email',
      { service_account: new Secret(serviceAccountJson({ client_email: undefined })) },
      ['service_account'],
      'client_email',
    ],
    [
      'a private key that is no PEM',
      { service_account: { client_email: 'x@y.example', private_key: new Secret(CANARY) } },
      ['service_account', 'private_key'],
      'PEM',
    ],
    [
      'a private key of another kind',
      { service_account: { client_email: 'x@y.example', private_key: new Secret(ecKey) } },
      ['service_account', 'private_key'],
      'RSA',
    ],
    [
      'a token_uri of someone else',
      {
        service_account: {
          client_email: 'x@y.example',
          private_key: new Secret(testPrivateKey()),
          token_uri: 'https://evil.example/token',
        },
      },
      ['service_account', 'token_uri'],
      'egress.token_uris',
    ],
    [
      'a token_uri of someone else in a key file',
      { service_account: new Secret(serviceAccountJson({ token_uri: 'http://169.254.169.254/token' })) },
      ['service_account'],
      'egress.token_uris',
    ],
    [
      'no project anywhere',
      { service_account: new Secret(serviceAccountJson({ project_id: undefined })) },
      ['service_account'],
      'set project_id',
    ],
    [
      'a project that would leave its path segment',
      { service_account: new Secret(serviceAccountJson({ project_id: '../x' })) },
      ['service_account'],
      'set project_id',
    ],
    ['neither key nor project', {}, [], 'project_id'],
  ])('%s is reported at load, without showing it', (_, changes, path, words) => {
    const { entry, problems } = create(changes, noTokenCalls);
    expect(entry).toBeUndefined();
    expect(problems).toEqual([{ path, message: expect.stringContaining(words) }]);
    const shown = JSON.stringify(problems);
    expect(shown).not.toContain(CANARY);
    expect(shown).not.toContain(ecKey.split('\n')[1]);
  });

  test.each(['https://accounts.google.com/o/oauth2/token', 'https://oauth2.googleapis.com/token'])(
    'token_uri %s means Google’s endpoint',
    async (token_uri) => {
      const { entry, sent } = withKey({ token_uri });
      await entry?.authorize(NOBODY);
      expect(sent[0]?.url).toBe('https://oauth2.googleapis.com/token');
    },
  );

  test('a token_uri listed by the operator is used unchanged, also with plain http', async () => {
    const uri = 'http://127.0.0.1:9999/token';
    const { entry, sent } = withKey({ token_uri: uri }, undefined, [uri]);
    await entry?.authorize(NOBODY);
    expect(sent[0]).toMatchObject({ url: uri, allowInsecure: true });
  });
});

describe('a vertex-ai entry with project and region only', () => {
  const open = () => create({ project_id: 'my-project' }, noTokenCalls).entry;

  test.each(['Bearer ya29.mine', 'bearer ya29.mine', 'BEARER  ya29.mine', 'ya29.mine'])(
    'accepts %j from the caller',
    (text) => {
      expect(open()?.authorize(bearer(text))).toEqual({ authorization: 'Bearer ya29.mine' });
    },
  );

  test.each([undefined, '', 'Bearer', 'Bearer ', 'Basic dXNlcjpDQU5BUlk='])(
    'is a 401 that names the entry for %j',
    (text) => {
      const caller = text === undefined ? NOBODY : bearer(text);
      let error: unknown;
      try {
        void open()?.authorize(caller);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(GatewayError);
      expect(error).toMatchObject({ code: 'upstream_credentials_required', status: 401, provider: 'vertex-prod' });
      expect(inspect(error)).toContain('@vertex-prod');
      expect(inspect(error)).not.toContain('dXNlcjpDQU5BUlk');
    },
  );

  test('has nothing to forget', () => {
    expect(open()?.forgetCredentials?.({})).toBe(false);
  });
});

describe('Vertex AI without a catalog entry', () => {
  test('always has Google’s host', () => {
    const entry = createAdHocVertex({ projectId: 'their-project', region: 'europe-west4' });
    expect(entry.locate('gemini-2.5-flash', { task: 'generate', stream: true })).toMatchObject({
      origin: 'https://europe-west4-aiplatform.googleapis.com',
      path: '/v1/projects/their-project/locations/europe-west4/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    });
    expect(entry).toMatchObject({ slug: 'vertex-ai', allowInsecure: false });
    expect(entry.authorize(bearer('ya29.mine'))).toEqual({ authorization: 'Bearer ya29.mine' });
  });

  test.each([
    [{ projectId: 'p/../../x', region: 'global' }, 'project id'],
    [{ projectId: '', region: 'global' }, 'project id'],
    [{ projectId: 'my-project', region: 'evil.example/' }, 'region'],
    [{ projectId: 'my-project', region: 'us-central1\r\nx' }, 'region'],
    [{ projectId: 'my-project', region: '' }, 'region'],
  ])('refuses %j with a 400', (place, words) => {
    expect(() => createAdHocVertex(place)).toThrowError(
      expect.objectContaining({ code: 'invalid_header', status: 400, message: expect.stringContaining(words) }),
    );
  });
});

test('entries show no secret when they are printed', async () => {
  const { entry } = withKey();
  await entry?.authorize(NOBODY);
  const shown = inspect(entry, { depth: 10, showHidden: true }) + JSON.stringify(entry);
  expect(shown).not.toContain('ya29');
  expect(shown).not.toContain('PRIVATE KEY');
});
