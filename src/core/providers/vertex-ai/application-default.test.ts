import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { VertexEntry } from '../../../../schemas/types.generated.ts';
import { UpstreamError } from '../../../plugin/index.ts';
import type { SmallReply, SmallRequest } from '../../upstream/types.ts';
import { noTokenCalls, serviceAccountJson, testSetup, tokenReply } from '../setup.testkit.ts';
import { authorizedUserJson, externalAccountJson, impersonatedJson } from './credentials.testkit.ts';
import { vertexAi } from './index.ts';

const NOBODY = { upstreamToken: undefined };
const TOKEN = { access_token: 'ya29.token-1', expires_in: 3599, token_type: 'Bearer' };
const TOKEN_URI = 'https://oauth2.googleapis.com/token';
const METADATA = 'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token';
const fromMetadata = (): SmallReply => ({ ...tokenReply(TOKEN), headers: { 'metadata-flavor': 'Google' } });
const answer = ({ url }: SmallRequest): SmallReply => (url.startsWith(METADATA) ? fromMetadata() : tokenReply(TOKEN));

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'gatehouse-adc-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function write(path: string, text: string): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

type Reply = (request: SmallRequest) => SmallReply | Promise<SmallReply>;

function create(env: Readonly<Record<string, string>>, reply: Reply = answer, changes: Partial<VertexEntry> = {}) {
  const fixture = testSetup(reply, [], env);
  const { clock } = fixture;
  // A wait only advances the clock.
  clock.sleep = async (ms) => clock.advance(ms);
  const entry = vertexAi.create(
    {
      slug: 'vertex-prod',
      provider: 'vertex-ai',
      region: 'global',
      project_id: 'my-project',
      credentials: 'application-default',
      ...changes,
    },
    fixture.setup,
  );
  return { ...fixture, entry };
}

const GCLOUD = '.config/gcloud/application_default_credentials.json';

describe('application default credentials', () => {
  test('are first the file that the environment names', async () => {
    write(GCLOUD, 'not read');
    const file = write('account.json', serviceAccountJson());
    const { entry, sent } = create({ GOOGLE_APPLICATION_CREDENTIALS: file, HOME: home });
    expect(sent).toEqual([]);
    await entry?.open?.();
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.token-1' });
    expect(new URLSearchParams(sent[0]?.body).get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
  });

  test.each<[string, string, (folder: string) => Record<string, string>]>([
    ['in the home folder', GCLOUD, (folder) => ({ HOME: folder })],
    [
      'where CLOUDSDK_CONFIG says',
      'sdk/application_default_credentials.json',
      (folder) => ({ HOME: '/nowhere', CLOUDSDK_CONFIG: join(folder, 'sdk') }),
    ],
    [
      'when the variable is empty',
      GCLOUD,
      (folder) => ({ HOME: folder, GOOGLE_APPLICATION_CREDENTIALS: '', CLOUDSDK_CONFIG: '' }),
    ],
  ])('are then the file of gcloud, %s', async (_, path, env) => {
    write(path, authorizedUserJson());
    const { entry, sent } = create(env(home));
    await entry?.open?.();
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.token-1' });
    expect(sent.map(({ url }) => url)).toEqual([TOKEN_URI]);
    expect(entry?.locate('gemini-2.5-pro', { task: 'generate', stream: false })).toMatchObject({
      headers: { 'x-goog-user-project': 'quota-project' },
      path: expect.stringContaining('/projects/my-project/'),
    });
  });

  test.each<Record<string, string>>([{ HOME: '/nowhere' }, {}])(
    'are then those of the metadata server, whose first token is fetched at start: %j',
    async (env) => {
      const { entry, sent } = create(env);
      await entry?.open?.();
      expect(entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.token-1' });
      expect(sent).toHaveLength(1);
      expect(sent[0]?.url.startsWith(METADATA)).toBe(true);
    },
  );

  test('wait for a metadata server that starts slowly', async () => {
    let calls = 0;
    const { entry, sent } = create({}, () => {
      calls += 1;
      if (calls < 3) throw new UpstreamError('connection_failed', 'No connection to metadata.google.internal:80.');
      return fromMetadata();
    });
    await entry?.open?.();
    expect(sent).toHaveLength(3);
  });

  test('may have every type of Google credentials', async () => {
    const subject = write('subject', 'subject-token');
    for (const json of [externalAccountJson(subject), impersonatedJson()]) {
      const file = write('any.json', json);
      const { entry, problems } = create({ GOOGLE_APPLICATION_CREDENTIALS: file });
      await entry?.open?.();
      expect(problems).toEqual([]);
    }
  });

  test('are not searched before the entry is opened, and have no token key until then', () => {
    const { entry, sent } = create({ GOOGLE_APPLICATION_CREDENTIALS: '/nowhere.json' }, noTokenCalls);
    expect(sent).toEqual([]);
    expect(entry?.tokenKey).toBeUndefined();
    expect(() => entry?.authorize(NOBODY)).toThrow('have not been opened');
    expect(entry?.locate('gemini-2.5-pro', { task: 'generate', stream: false }).headers).toEqual({});
  });
});

describe('application default credentials that are missing or wrong', () => {
  const CANARY = 'CANARY-0123456789';
  const refused = (): never => {
    throw new UpstreamError('connection_failed', 'metadata.google.internal cannot be resolved (ENOTFOUND).');
  };

  test.each<[string, () => Record<string, string>, RegExp]>([
    [
      'a named file that is not there',
      () => ({ GOOGLE_APPLICATION_CREDENTIALS: '/nowhere/key.json' }),
      /GOOGLE_APPLICATION_CREDENTIALS names \/nowhere\/key\.json, and there is no such file/,
    ],
    [
      'a named folder',
      () => ({ GOOGLE_APPLICATION_CREDENTIALS: home }),
      /the file \S+gatehouse-adc-\S+ is not a regular file/,
    ],
    [
      'a named file that is no JSON',
      () => ({ GOOGLE_APPLICATION_CREDENTIALS: write('key.json', `{"private_key": "${CANARY}`) }),
      /the file \S+key\.json: is not a JSON object/,
    ],
    [
      'a named file that is too large',
      () => ({ GOOGLE_APPLICATION_CREDENTIALS: write('key.json', CANARY.repeat(10_000)) }),
      /the file \S+key\.json is larger than 65536 bytes/,
    ],
    [
      'a file of gcloud with a part missing',
      () => {
        write(GCLOUD, authorizedUserJson({ client_secret: CANARY, refresh_token: undefined }));
        return { HOME: home };
      },
      /the file \S+application_default_credentials\.json: refresh_token is missing/,
    ],
    [
      'a file that names a foreign endpoint',
      () => ({
        GOOGLE_APPLICATION_CREDENTIALS: write(
          'wif.json',
          externalAccountJson('/var/run/token', { token_url: `https://${CANARY}.example/v1/token` }),
        ),
      }),
      /wif\.json: token_url is neither Google's nor listed/,
    ],
    [
      'a subject token file that is not there',
      () => ({
        GOOGLE_APPLICATION_CREDENTIALS: write('wif.json', externalAccountJson('/nowhere/token')),
      }),
      /there is no subject token file \/nowhere\/token/,
    ],
    [
      'nothing at all',
      () => ({ HOME: home }),
      /GOOGLE_APPLICATION_CREDENTIALS is not set, there is no file \S+application_default_credentials\.json, and the metadata server returned no token: metadata\.google\.internal cannot be resolved/,
    ],
    ['nothing and no home', () => ({}), /HOME is not set either, and the metadata server returned no token/],
    ['an invalid metadata host', () => ({ GCE_METADATA_HOST: 'x/y' }), /GCE_METADATA_HOST is not host\[:port\]/],
  ])('%s is reported at start, at its path', async (_, env, words) => {
    const { entry, problems } = create(env(), refused);
    expect(problems).toEqual([]);
    const error: unknown = await Promise.resolve(entry?.open?.()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UpstreamError);
    expect(error).toMatchObject({ code: 'credentials_failed', message: expect.stringMatching(words) });
    expect(problems).toEqual([{ path: ['credentials'], message: expect.stringMatching(words) }]);
    expect(problems[0]?.message).toContain('@vertex-prod');
    expect(inspect([error, problems], { depth: 10 })).not.toContain(CANARY);
  });

  test('in an entry without a project are reported at load', () => {
    const { setup, problems } = testSetup(noTokenCalls);
    const settings: VertexEntry = {
      slug: 'v',
      provider: 'vertex-ai',
      region: 'global',
      credentials: 'application-default',
    };
    expect(vertexAi.create(settings, setup)).toBeUndefined();
    expect(problems).toEqual([{ path: [], message: expect.stringContaining('set project_id') }]);
  });
});

describe('credentials of the metadata server', () => {
  const metadata = (env: Record<string, string>, reply: Reply = answer) =>
    create(env, reply, { credentials: 'metadata-server' });

  test.each([
    [undefined, 'http://metadata.google.internal/'],
    ['', 'http://metadata.google.internal/'],
    ['169.254.169.254', 'http://169.254.169.254/'],
    ['localhost:8080', 'http://localhost:8080/'],
    ['http://localhost:8080', 'http://localhost:8080/'],
  ])('are requested from the host in GCE_METADATA_HOST (%j)', async (host, origin) => {
    const { entry, sent } = metadata(host === undefined ? {} : { GCE_METADATA_HOST: host }, fromMetadata);
    await entry?.open?.();
    expect(sent).toEqual([]);
    await entry?.authorize(NOBODY);
    const [request] = sent;
    const { pathname, searchParams } = new URL(request?.url ?? '');
    expect(request?.url.startsWith(origin)).toBe(true);
    expect(pathname).toBe('/computeMetadata/v1/instance/service-accounts/default/token');
    expect(searchParams.get('scopes')).toBe('https://www.googleapis.com/auth/cloud-platform');
    expect(request).toMatchObject({ method: 'GET', metadataServer: true, headers: { 'metadata-flavor': 'Google' } });
  });

  test.each(['x/y', 'user@host', 'host?x', 'https://host', 'a b', '#'])(
    'are refused at load when GCE_METADATA_HOST is %j',
    (host) => {
      const { entry, problems } = metadata({ GCE_METADATA_HOST: host }, noTokenCalls);
      expect(entry).toBeUndefined();
      expect(problems).toEqual([
        {
          path: ['credentials'],
          message: 'credentials: the environment variable GCE_METADATA_HOST is not host[:port]',
        },
      ]);
    },
  );

  test.each<[string, SmallReply, string]>([
    ['without its header', tokenReply(TOKEN), 'the metadata server answered 200 without Metadata-Flavor: Google'],
    [
      'with another flavour',
      { ...fromMetadata(), headers: { 'metadata-flavor': 'Amazon' } },
      'without Metadata-Flavor',
    ],
    ['with status 404', { ...fromMetadata(), status: 404, text: 'Not Found' }, 'metadata server answered 404'],
    ['with an HTML page', { ...fromMetadata(), text: '<html>' }, 'answered 200 without a JSON object'],
    ['without a lifetime', { ...fromMetadata(), text: '{"access_token":"x"}' }, 'how long the token lives'],
  ])('are not accepted from a reply %s', async (_, reply, words) => {
    const { entry } = metadata({}, () => reply);
    await expect(entry?.authorize(NOBODY)).rejects.toMatchObject({
      code: 'credentials_failed',
      message: expect.stringContaining(words),
    });
  });
});
