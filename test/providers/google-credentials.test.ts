import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { VertexEntry } from '../../schemas/types.generated.ts';
import { Secret } from '../../src/plugin/index.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import type { Problem } from '../../src/core/kernel/report.ts';
import type { ProviderSetup } from '../../src/core/providers/definition.ts';
import { serviceAccountJson } from '../../src/core/providers/setup.testkit.ts';
import {
  authorizedUserJson,
  externalAccountJson,
  impersonatedJson,
} from '../../src/core/providers/vertex-ai/credentials.testkit.ts';
import { vertexAi } from '../../src/core/providers/vertex-ai/index.ts';
import { ManualClock } from '../../src/core/memory/tokens.testkit.ts';
import { MemoryTokenStore } from '../../src/core/memory/tokens.ts';
import { createUpstream, type Upstream } from '../../src/core/upstream/index.ts';

// Every source of Google tokens through the real way out of the gateway, to servers on loopback that stand for Google's.

interface Call {
  readonly method: string | undefined;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

const PATHS = { token: '/token', sts: '/v1/token', impersonate: '/v1/models:generateAccessToken' };
const METADATA_PATH = '/computeMetadata/v1/instance/service-accounts/default/token';
const NOBODY = { upstreamToken: undefined };
const MINUTE = 60_000;

let google: Server;
let origin: string;
let upstream: Upstream;
/** For lives of tokens; the calls themselves run on real time. */
let clock: ManualClock;
let folder: string;
let calls: Call[] = [];
let answers: Record<string, (call: Call) => Answer> = {};

const json = (value: object, status = 200): Answer => ({ status, body: JSON.stringify(value) });
const token = (value: string, seconds = 3_599): Answer =>
  json({ access_token: value, expires_in: seconds, token_type: 'Bearer' });
const callsOf = (path: string) => calls.filter((call) => call.path.startsWith(path));
const formOf = (call: Call | undefined) => Object.fromEntries(new URLSearchParams(call?.body));

beforeAll(async () => {
  google = createServer((request, response) => {
    let body = '';
    request.on('data', (bytes: Buffer) => (body += bytes.toString()));
    request.on('end', () => {
      const call = { method: request.method, path: request.url ?? '', headers: request.headers, body };
      calls.push(call);
      reply(response, answers[call.path.split('?')[0]!]?.(call) ?? { status: 404, body: 'Not Found' });
    });
  });
  await new Promise<void>((resolve) => google.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an AddressInfo.
  origin = `http://127.0.0.1:${(google.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-google-'));
});
afterAll(async () => {
  await new Promise((resolve) => google.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

function reply(response: ServerResponse, { status = 200, headers = {}, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers }).end(body);
}

beforeEach(() => {
  calls = [];
  answers = {};
  clock = new ManualClock();
  upstream = createUpstream({ clock: systemClock });
  return () => upstream.close();
});

interface Options {
  /** Paths of the loopback server that the operator has listed. */
  readonly listed?: readonly string[];
  readonly env?: ProviderSetup['env'];
}

function create(entry: Partial<VertexEntry>, { listed = Object.values(PATHS), env = {} }: Options = {}) {
  const problems: Problem[] = [];
  const fetched: unknown[] = [];
  const made = vertexAi.create(
    { slug: 'vertex-prod', provider: 'vertex-ai', region: 'global', project_id: 'my-project', ...entry },
    {
      upstreamExchange: upstream.exchange,
      clock,
      tokens: new MemoryTokenStore(clock),
      env,
      tokenUris: new Set(listed.map((path) => `${origin}${path}`)),
      tokenFetched: (_, error) => fetched.push(error),
      report: (problem) => problems.push(problem),
    },
  );
  return { entry: made, problems, fetched };
}

const withJson = (text: string, options?: Options) => create({ credentials_json: new Secret(text) }, options);

const subjectFile = (): string => join(folder, 'subject-token');

/** As Kubernetes does: the new token takes the old one's place at once. */
function rotate(content: string): void {
  writeFileSync(`${subjectFile()}.new`, content);
  renameSync(`${subjectFile()}.new`, subjectFile());
}

const federation = (changes: object = {}) =>
  externalAccountJson(subjectFile(), { token_url: `${origin}${PATHS.sts}`, ...changes });
const impersonating = { service_account_impersonation_url: '' };
beforeEach(() => {
  impersonating.service_account_impersonation_url = `${origin}${PATHS.impersonate}`;
});
const impersonated = (value: string, lifeMs = 60 * MINUTE): Answer =>
  json({ accessToken: value, expireTime: new Date(clock.wall() + lifeMs).toISOString() });

async function failure(entry: ReturnType<typeof create>['entry']): Promise<Error> {
  const error: unknown = await Promise.resolve(entry?.authorize(NOBODY)).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'credentials_failed', status: 502, provider: 'vertex-prod' });
  return error as Error;
}

describe('a user’s refresh token', () => {
  test('is turned into an access token, once for all who wait, and again before it ends', async () => {
    let issued = 0;
    answers[PATHS.token] = () => token(`ya29.user-${(issued += 1)}`);
    const { entry } = withJson(authorizedUserJson({ token_uri: `${origin}${PATHS.token}` }));
    const headers = await Promise.all(Array.from({ length: 200 }, () => entry?.authorize(NOBODY)));
    expect(new Set(headers.map((each) => each?.['authorization']))).toEqual(new Set(['Bearer ya29.user-1']));
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({
      method: 'POST',
      path: '/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(formOf(calls[0])).toEqual({
      grant_type: 'refresh_token',
      client_id: 'made-up.apps.googleusercontent.com',
      client_secret: 'made-up-client-secret',
      refresh_token: '1//made-up-refresh-token',
    });
    clock.advance(56 * MINUTE);
    expect(entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.user-1' });
    await expect.poll(() => entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.user-2' });
    expect(calls).toHaveLength(2);
  });
});

describe('workload identity federation', () => {
  test('exchanges the token in the file as RFC 8693 says', async () => {
    rotate('subject-1\n');
    answers[PATHS.sts] = () => token('ya29.federated');
    const { entry, problems } = withJson(federation());
    expect(problems).toEqual([]);
    await entry?.open?.();
    expect(calls).toEqual([]);
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.federated' });
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({
      method: 'POST',
      path: '/v1/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(calls[0]?.headers.authorization).toBeUndefined();
    expect(formOf(calls[0])).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      audience: '//iam.googleapis.com/projects/123456/locations/global/workloadIdentityPools/pool/providers/cluster',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      subject_token: 'subject-1',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    });
  });

  test('reads the file anew for every exchange', async () => {
    rotate('subject-1');
    answers[PATHS.sts] = (call) => token(`ya29.for-${formOf(call)['subject_token']}`);
    const { entry } = withJson(federation());
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.for-subject-1' });
    rotate('subject-2');
    clock.advance(60 * MINUTE);
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.for-subject-2' });
  });

  test('finds the token in a JSON file', async () => {
    rotate('{"id_token": "subject-json", "other": 1}');
    answers[PATHS.sts] = () => token('ya29.x');
    const format = { type: 'json', subject_token_field_name: 'id_token' };
    const { entry } = withJson(federation({ credential_source: { file: subjectFile(), format } }));
    await entry?.authorize(NOBODY);
    expect(formOf(calls[0])['subject_token']).toBe('subject-json');
  });

  test('goes on to the service account to act as, with the life it was given', async () => {
    rotate('subject-1');
    // Nothing says how long the first token lives: it is used at once.
    answers[PATHS.sts] = () => json({ access_token: 'ya29.federated', token_type: 'Bearer' });
    answers[PATHS.impersonate] = () => impersonated(`ya29.account-${callsOf(PATHS.impersonate).length}`, 45 * MINUTE);
    const { entry, problems } = withJson(
      federation({ ...impersonating, service_account_impersonation: { token_lifetime_seconds: 2_700 } }),
    );
    expect(problems).toEqual([]);
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.account-1' });
    const [call] = callsOf(PATHS.impersonate);
    expect(call).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ya29.federated' },
    });
    expect(JSON.parse(call?.body ?? '')).toEqual({
      scope: ['https://www.googleapis.com/auth/cloud-platform'],
      lifetime: '2700s',
    });
    expect(call?.body).not.toContain('subject-1');
    clock.advance(39 * MINUTE);
    expect(entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.account-1' });
    expect(calls).toHaveLength(2);
    clock.advance(6 * MINUTE);
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.account-2' });
    expect(calls).toHaveLength(4);
  });

  test('does not start without the file, and names it', async () => {
    const file = join(folder, 'never-mounted');
    const { entry, problems } = withJson(federation({ credential_source: { file } }));
    expect(problems).toEqual([]);
    await expect(entry?.open?.()).rejects.toThrow(`there is no subject token file ${file}`);
    expect(problems).toEqual([
      { path: ['credentials_json'], message: expect.stringContaining(`there is no subject token file ${file}`) },
    ]);
    expect(calls).toEqual([]);
  });

  test.each([
    ['is empty', ' \n', undefined, 'is empty'],
    ['is something else', 'two words', undefined, 'does not contain a token'],
    ['is no JSON', 'CANARY', 'id_token', 'is not a JSON object'],
    ['has no such field', '{"token":"CANARY"}', 'id_token', 'has no text in "id_token"'],
  ])('fails without a call when the file %s', async (_, content, field, words) => {
    rotate(content);
    const format = field === undefined ? {} : { format: { type: 'json', subject_token_field_name: field } };
    const { entry } = withJson(federation({ credential_source: { file: subjectFile(), ...format } }));
    const { message } = await failure(entry);
    expect(message).toContain(`the subject token file ${subjectFile()} ${words}`);
    expect(message).not.toContain('CANARY');
    expect(calls).toEqual([]);
  });
});

describe('an impersonated service account', () => {
  test.each<[string, () => Record<string, unknown>, string]>([
    [
      'a user',
      () => JSON.parse(authorizedUserJson({ token_uri: `${origin}${PATHS.token}` })) as Record<string, unknown>,
      PATHS.token,
    ],
    [
      'another service account',
      () => JSON.parse(serviceAccountJson({ token_uri: `${origin}${PATHS.token}` })) as Record<string, unknown>,
      PATHS.token,
    ],
    ['a federated identity', () => JSON.parse(federation()) as Record<string, unknown>, PATHS.sts],
  ])('is entered by %s', async (_, source, path) => {
    rotate('subject-1');
    answers[path] = () => token('ya29.source');
    answers[PATHS.impersonate] = () => impersonated('ya29.account');
    const delegates = ['projects/-/serviceAccounts/middle@my-project.iam.gserviceaccount.com'];
    const { entry, problems } = withJson(
      impersonatedJson({ ...impersonating, source_credentials: source(), delegates }),
    );
    expect(problems).toEqual([]);
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.account' });
    expect(calls.map((call) => call.path)).toEqual([path, PATHS.impersonate]);
    expect(calls[1]?.headers.authorization).toBe('Bearer ya29.source');
    expect(JSON.parse(calls[1]?.body ?? '')).toMatchObject({ lifetime: '3600s', delegates });
  });

  test('whose token has already expired by our clock fails with a hint to the clock', async () => {
    answers[PATHS.token] = () => token('ya29.source');
    answers[PATHS.impersonate] = () => impersonated('ya29.account', -1);
    const source = JSON.parse(authorizedUserJson({ token_uri: `${origin}${PATHS.token}` })) as object;
    const { entry } = withJson(impersonatedJson({ ...impersonating, source_credentials: source }));
    expect((await failure(entry)).message).toContain('is the clock right?');
  });
});

describe('the metadata server', () => {
  const FLAVOR = { 'Metadata-Flavor': 'Google' };
  const metadata = () => create({ credentials: 'metadata-server' }, { env: { GCE_METADATA_HOST: origin.slice(7) } });

  test('is asked as Google’s libraries ask, and again before the token ends', async () => {
    answers[METADATA_PATH] = () => ({ ...token(`ya29.machine-${calls.length}`, 1_800), headers: FLAVOR });
    const { entry } = metadata();
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.machine-1' });
    expect(calls[0]).toMatchObject({ method: 'GET', body: '', headers: { 'metadata-flavor': 'Google' } });
    expect(calls[0]?.path).toBe(`${METADATA_PATH}?scopes=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fcloud-platform`);
    clock.advance(30 * MINUTE);
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.machine-2' });
  });

  test('must say that it is one', async () => {
    answers[METADATA_PATH] = () => token('ya29.CANARY');
    const { message } = await failure(metadata().entry);
    expect(message).toMatch(/answered 200 without Metadata-Flavor: Google$/);
  });

  test('may have no account for this machine', async () => {
    answers[METADATA_PATH] = () => ({ status: 404, headers: FLAVOR, body: '<html>CANARY</html>' });
    const { message } = await failure(metadata().entry);
    expect(message).toMatch(/the metadata server http:\/\/127\.0\.0\.1:\d+ answered 404$/);
  });

  test('is not where a redirect leads', async () => {
    answers[METADATA_PATH] = () => ({ status: 302, headers: { ...FLAVOR, location: `${origin}/token` }, body: '' });
    expect((await failure(metadata().entry)).message).toContain('answered 302');
    expect(calls).toHaveLength(1);
  });

  test('is found last by application default credentials', async () => {
    answers[METADATA_PATH] = () => ({ ...token('ya29.machine'), headers: FLAVOR });
    const env = { GCE_METADATA_HOST: origin.slice(7), HOME: join(folder, 'nobody') };
    const { entry, problems } = create({ credentials: 'application-default' }, { env });
    await entry?.open?.();
    expect(problems).toEqual([]);
    expect(entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.machine' });
    expect(calls).toHaveLength(1);
  });
});

describe('an endpoint that does not give a token', () => {
  const expired = { error: 'invalid_grant', error_description: 'ID Token issued at 1 is stale to sign-in.' };
  const denied = {
    error: {
      code: 403,
      message: "Permission 'iam.serviceAccounts.getAccessToken' denied",
      status: 'PERMISSION_DENIED',
    },
  };
  const html: Answer = { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>CANARY</html>' };

  test.each<[string, Answer, string]>([
    ['an expired subject', json(expired, 400), 'security token service answered 400: invalid_grant: ID Token issued'],
    ['a page', html, 'the security token service answered 502'],
    ['nothing there', { status: 404, body: 'CANARY' }, 'the security token service answered 404'],
    ['a page for a success', { body: '<html>CANARY' }, 'answered 200 without a JSON object'],
    ['no token', json({ token_type: 'Bearer', expires_in: 1 }), 'without a usable access_token'],
    ['no end', json({ access_token: 'x', token_type: 'Bearer' }), 'how long the token lives'],
  ])('says why: %s', async (_, answer, words) => {
    rotate('subject-1');
    answers[PATHS.sts] = () => answer;
    const { entry, fetched } = withJson(federation());
    const { message } = await failure(entry);
    expect(message).toContain(`No Google token for the catalog entry @vertex-prod: `);
    expect(message).toContain(words);
    expect(message).not.toContain('CANARY');
    expect(fetched).toHaveLength(1);
    expect(fetched[0]).toBeInstanceOf(Error);
  });

  test.each<[string, Answer, string]>([
    ['a permission that is missing', json(denied, 403), 'impersonation endpoint answered 403: PERMISSION_DENIED: Perm'],
    ['a page', html, 'the impersonation endpoint answered 502'],
    ['no token', json({ expireTime: '2026-01-01T00:00:00Z' }), 'without a usable accessToken'],
    ['no end', json({ accessToken: 'x' }), 'when the token ends (expireTime)'],
    ['an end that is no time', json({ accessToken: 'x', expireTime: 'soon' }), 'when the token ends (expireTime)'],
  ])('says why when it impersonates: %s', async (_, answer, words) => {
    rotate('subject-1');
    answers[PATHS.sts] = () => token('ya29.federated');
    answers[PATHS.impersonate] = () => answer;
    const { message } = await failure(withJson(federation(impersonating)).entry);
    expect(message).toContain(words);
  });

  test('never has a secret shown, whatever it repeats', async () => {
    // All forms: as they are, as they stand in the form, and cut short.
    const subject = `eyJhbGciOiJSUzI1NiJ9.${'c3ViamVjdA'.repeat(12)}.c2ln`;
    rotate(subject);
    const echo = ({ body, headers }: Call): Answer => {
      const fields = Object.values(formOf({ body } as Call)).join(' ');
      const said = `${body} ${fields} ${fields.slice(0, 200)} ${String(headers.authorization)}`;
      return json({ error: 'invalid_grant', error_description: said }, 400);
    };
    answers[PATHS.sts] = echo;
    answers[PATHS.token] = echo;
    const user = authorizedUserJson({ token_uri: `${origin}${PATHS.token}` });
    for (const text of [
      user,
      federation(),
      impersonatedJson({ ...impersonating, source_credentials: JSON.parse(user) }),
    ]) {
      const { entry, fetched } = withJson(text);
      const error = await failure(entry);
      const shown = [
        inspect(error, { depth: 10 }),
        JSON.stringify(error),
        inspect(fetched),
        inspect(entry, { depth: 9 }),
      ];
      expect(shown.join()).toContain('invalid_grant');
      for (const secret of ['made-up-client-secret', 'made-up-refresh-token', 'c3ViamVjdA', 'eyJhbGci'])
        expect(shown.join()).not.toContain(secret);
    }
  });

  test('nor the token of the source, when the impersonation repeats it', async () => {
    rotate('subject-1');
    answers[PATHS.sts] = () => token('opaque-federated-token');
    answers[PATHS.impersonate] = ({ headers }) =>
      json({ error: { status: 'UNAUTHENTICATED', message: `bad ${String(headers.authorization)}` } }, 401);
    const { message } = await failure(withJson(federation(impersonating)).entry);
    expect(message).toContain('UNAUTHENTICATED: bad Bearer [secret]');
    expect(message).not.toContain('opaque');
  });
});

describe('an endpoint the operator has not listed', () => {
  test.each<[string, () => string]>([
    ['a token_uri', () => authorizedUserJson({ token_uri: `${origin}${PATHS.token}` })],
    ['a token_url', () => federation()],
    ['an impersonation', () => impersonatedJson(impersonating)],
  ])('is refused at load: %s', (_, text) => {
    const { entry, problems } = withJson(text(), { listed: [] });
    expect(entry).toBeUndefined();
    expect(problems).toEqual([
      { path: ['credentials_json'], message: expect.stringContaining('nor listed in egress.token_uris') },
    ]);
    expect(calls).toEqual([]);
  });

  test('is refused where only another one is listed', () => {
    const { problems } = withJson(federation(impersonating), { listed: [PATHS.sts] });
    expect(problems).toHaveLength(1);
  });
});

describe('the egress guard', () => {
  const guarded = () => createUpstream({ clock: systemClock, lookup: async () => ['169.254.169.254'] });
  const HOSTS = ['http://metadata.google.internal', 'http://169.254.169.254', 'http://harmless.test'];

  test.each(HOSTS)('keeps %s from every small exchange but the one for the gateway’s own token', async (host) => {
    const other = guarded();
    for (const allowInsecure of [true, false]) {
      await expect(
        other.exchange({ url: `${host}${METADATA_PATH}`, method: 'GET', headers: {}, allowInsecure, timeoutMs: 1_000 }),
      ).rejects.toMatchObject({ code: 'egress_refused' });
    }
    await other.close();
  });

  test('has no door left open by the credential source', async () => {
    answers[METADATA_PATH] = () => ({ ...token('ya29.machine'), headers: { 'Metadata-Flavor': 'Google' } });
    const { entry } = create({ credentials: 'metadata-server' }, { env: { GCE_METADATA_HOST: origin.slice(7) } });
    await entry?.authorize(NOBODY);
    const request = { url: `${origin}${METADATA_PATH}`, method: 'GET' as const, headers: {}, timeoutMs: 1_000 };
    await expect(upstream.exchange({ ...request, allowInsecure: false })).rejects.toMatchObject({
      code: 'egress_refused',
    });
    expect(calls).toHaveLength(1);
  });

  test('lets the name of Google’s server lead to a metadata server only', async () => {
    const poisoned = createUpstream({ clock: systemClock, lookup: async () => ['127.0.0.1'] });
    const url = `http://metadata.google.internal:${new URL(origin).port}${METADATA_PATH}`;
    const request = { url, method: 'GET' as const, headers: {}, allowInsecure: true, timeoutMs: 1_000 };
    await expect(poisoned.exchange({ ...request, metadataServer: true })).rejects.toMatchObject({
      code: 'egress_refused',
    });
    expect(calls).toEqual([]);
    await poisoned.close();
  });
});
