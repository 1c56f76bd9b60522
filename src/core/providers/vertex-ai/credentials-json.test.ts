import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { Secret } from '../../../plugin/index.ts';
import type { SmallReply, SmallRequest } from '../../upstream/types.ts';
import { noTokenCalls, serviceAccountJson, testSetup, tokenReply } from '../setup.testkit.ts';
import {
  authorizedUserJson,
  externalAccountJson,
  IMPERSONATION_URL,
  impersonatedJson,
  STS_URL,
} from './credentials.testkit.ts';
import { readCredentialsJson } from './credentials-json.ts';
import { vertexAi } from './index.ts';

const NOBODY = { upstreamToken: undefined };
const TOKEN = { access_token: 'ya29.token-1', expires_in: 3599, token_type: 'Bearer' };
const CANARY = 'CANARY-0123456789';
type Changes = Readonly<Record<string, unknown>>;

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-subject-'));
const SUBJECT_FILE = join(folder, 'token');
writeFileSync(SUBJECT_FILE, 'subject-token-1\n');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function create(json: string, reply: (request: SmallRequest) => SmallReply = noTokenCalls, projectId?: string) {
  const fixture = testSetup(reply);
  const entry = vertexAi.create(
    {
      slug: 'vertex-prod',
      provider: 'vertex-ai',
      region: 'global',
      credentials_json: new Secret(json),
      ...(projectId !== undefined && { project_id: projectId }),
    },
    fixture.setup,
  );
  return { ...fixture, entry };
}

describe('a credentials JSON that cannot be used', () => {
  const user = (changes: Changes) => authorizedUserJson({ client_secret: CANARY, ...changes });
  const external = (changes: Changes) => externalAccountJson(SUBJECT_FILE, changes);
  const source = (changes: Changes) => external({ credential_source: { ...changes } });
  const file = (changes: Changes) => source({ file: SUBJECT_FILE, ...changes });
  const evil = 'https://evil.example/v1/token';

  test.each<[string, string, string]>([
    ['text that is not JSON', `{"client_secret": ${CANARY}`, 'is not a JSON object'],
    ['JSON that is not an object', `["${CANARY}"]`, 'is not a JSON object'],
    ['no type', JSON.stringify({ client_secret: CANARY }), 'has no type'],
    ['an unknown type', JSON.stringify({ type: CANARY }), 'not supported; supported are service_account'],
    ['a type that is an object member in JavaScript', JSON.stringify({ type: 'constructor' }), 'not supported'],
    ['a service account without a key', serviceAccountJson({ private_key: undefined }), 'private_key is missing'],
    ['a user without client_id', user({ client_id: undefined }), 'client_id is missing'],
    ['a user without client_secret', user({ client_secret: '' }), 'client_secret is missing'],
    ['a user without refresh_token', user({ refresh_token: 7 }), 'refresh_token is missing'],
    ['a user of another token endpoint', user({ token_uri: evil }), 'token_uri is neither'],
    ['a user of another universe', user({ universe_domain: 'example.com' }), 'universe'],
    ['a quota project that would break a header', user({ quota_project_id: 'a\r\nb: c' }), 'quota_project_id'],
    ['no audience', external({ audience: undefined }), 'audience is missing'],
    ['no subject_token_type', external({ subject_token_type: '' }), 'subject_token_type is missing'],
    ['no token_url', external({ token_url: undefined }), 'token_url is neither'],
    ['a token_url of someone else', external({ token_url: evil }), 'egress.token_uris'],
    ['an impersonation of someone else', external({ service_account_impersonation_url: evil }), 'egress.token_uris'],
    [
      'a lifetime that Google would refuse',
      external({
        service_account_impersonation_url: IMPERSONATION_URL,
        service_account_impersonation: { token_lifetime_seconds: 60 },
      }),
      'token_lifetime_seconds is not a whole number from 600 to 43200',
    ],
    [
      'impersonation options that are none',
      external({ service_account_impersonation_url: IMPERSONATION_URL, service_account_impersonation: 3_600 }),
      'service_account_impersonation is not an object',
    ],
    ['a client of its own', external({ client_id: 'x', client_secret: CANARY }), 'client_id is not supported'],
    ['a workforce project', external({ workforce_pool_user_project: 'x' }), 'workforce_pool_user_project is not'],
    ['no credential_source', external({ credential_source: undefined }), 'credential_source is missing'],
    ['a source that is a text', external({ credential_source: CANARY }), 'credential_source is missing'],
    ['a source without a file', source({}), 'credential_source.file is missing'],
    ['a file without a folder', source({ file: 'token' }), 'not an absolute path'],
    ['a url', source({ url: 'http://169.254.169.254/' }), 'credential_source.url'],
    ['a url beside a file', file({ url: 'http://169.254.169.254/' }), 'credential_source.url'],
    ['an executable', source({ executable: { command: `/bin/${CANARY}` } }), 'credential_source.executable'],
    ['AWS', source({ environment_id: 'aws1' }), 'AWS credentials are not supported'],
    ['a certificate', source({ certificate: {} }), 'credential_source.certificate'],
    ['an unknown format', file({ format: { type: 'xml' } }), 'neither "text" nor "json"'],
    ['a format that is a text', file({ format: 'json' }), 'neither "text" nor "json"'],
    ['a format that is null', file({ format: null }), 'neither "text" nor "json"'],
    ['a JSON file without a field', file({ format: { type: 'json' } }), 'subject_token_field_name is missing'],
    [
      'an impersonation without an account',
      impersonatedJson({ service_account_impersonation_url: undefined }),
      'is missing',
    ],
    ['no source credentials', impersonatedJson({ source_credentials: undefined }), 'source_credentials is missing'],
    [
      'source credentials that cannot be used',
      impersonatedJson({ source_credentials: { type: 'authorized_user' } }),
      'source_credentials: client_id is missing',
    ],
    [
      'an impersonation by an impersonation',
      impersonatedJson({ source_credentials: { type: 'impersonated_service_account' } }),
      'use delegates',
    ],
    ['delegates that are not a list', impersonatedJson({ delegates: CANARY }), 'delegates is not a list'],
  ])('%s is reported at load, without showing it', (_, json, words) => {
    const { entry, problems } = create(json, noTokenCalls, 'my-project');
    expect(entry).toBeUndefined();
    expect(problems.map(({ path }) => path)).toEqual([['credentials_json']]);
    expect(problems[0]?.message).toMatch(/^credentials_json: /);
    expect(problems[0]?.message).toContain(words);
    expect(JSON.stringify(problems)).not.toContain(CANARY);
  });

  test('of any form results in a message or a source, and is never shown', () => {
    const kinds = ['service_account', 'authorized_user', 'external_account', 'impersonated_service_account'];
    const value = fc.oneof(fc.constant(CANARY), fc.jsonValue());
    const fields = [
      'client_email',
      'private_key',
      'token_uri',
      'client_id',
      'client_secret',
      'refresh_token',
      'audience',
      'subject_token_type',
      'token_url',
      'credential_source',
      'service_account_impersonation_url',
      'service_account_impersonation',
      'source_credentials',
      'delegates',
      'quota_project_id',
      'universe_domain',
    ];
    const json = fc
      .tuple(fc.constantFrom(...kinds), fc.dictionary(fc.constantFrom(...fields), value))
      .map(([type, rest]) => JSON.stringify({ type, ...rest }));
    fc.assert(
      fc.property(fc.oneof(json, fc.string()), (text) => {
        const { setup } = testSetup(noTokenCalls);
        const reported: string[] = [];
        const refuse = (_: string | undefined, message: string) => {
          reported.push(message);
          return undefined;
        };
        const source = readCredentialsJson(text, { setup, refuse });
        expect(source === undefined).toBe(reported.length > 0);
        expect(reported.join()).not.toContain(CANARY);
      }),
    );
  });
});

describe('the project of an entry', () => {
  test.each<[string, string, string | undefined, string]>([
    ['is that of the service account', serviceAccountJson(), undefined, 'sa-project'],
    ['is the quota project of a user', authorizedUserJson(), undefined, 'quota-project'],
    ['is the entry’s own rather than that of the JSON', authorizedUserJson(), 'own-project', 'own-project'],
    ['is the entry’s own with a federated identity', externalAccountJson(SUBJECT_FILE), 'own-project', 'own-project'],
  ])('%s', (_, json, own, project) => {
    const { entry, problems } = create(json, noTokenCalls, own);
    expect(problems).toEqual([]);
    expect(entry?.locate('gemini-2.5-pro', { task: 'generate', stream: false }).path).toContain(
      `/projects/${project}/`,
    );
  });

  test.each([
    ['a federated identity', externalAccountJson(SUBJECT_FILE)],
    ['an impersonation', impersonatedJson()],
    ['a user without a quota project', authorizedUserJson({ quota_project_id: undefined })],
  ])('is required where there is only %s', (_, json) => {
    const { entry, problems } = create(json);
    expect(entry).toBeUndefined();
    expect(problems).toEqual([
      { path: ['credentials_json'], message: 'credentials_json: the credential has no project_id: set project_id' },
    ]);
  });

  test('for quota is sent with every request, and is not secret', async () => {
    const { entry } = create(authorizedUserJson(), () => tokenReply(TOKEN));
    expect(entry?.locate('gemini-2.5-pro', { task: 'generate', stream: false }).headers).toEqual({
      'x-goog-user-project': 'quota-project',
    });
    expect(await entry?.authorize(NOBODY)).toEqual({ authorization: 'Bearer ya29.token-1' });
    const { entry: other } = create(serviceAccountJson(), noTokenCalls);
    expect(other?.locate('gemini-2.5-pro', { task: 'generate', stream: false }).headers).toEqual({});
  });
});

describe('endpoints that are Google’s', () => {
  const account = 'x@my-project.iam.gserviceaccount.com:generateAccessToken';
  test.each([
    [{ token_url: STS_URL }],
    [{ token_url: 'https://sts.us-east1.rep.googleapis.com/v1/token' }],
    [{ token_url: 'https://us-east1-sts.googleapis.com/v1/token' }],
    [{ service_account_impersonation_url: IMPERSONATION_URL }],
    [
      {
        service_account_impersonation_url: `https://iamcredentials.europe-west4.rep.googleapis.com/v1/projects/-/serviceAccounts/${account}`,
      },
    ],
  ])('are accepted: %j', (changes) => {
    expect(create(externalAccountJson(SUBJECT_FILE, changes), noTokenCalls, 'my-project').problems).toEqual([]);
  });

  test.each([
    'http://sts.googleapis.com/v1/token',
    'https://sts.googleapis.com/v1/token/',
    'https://sts.googleapis.com/v1/token?x=1',
    'https://sts.googleapis.com:8443/v1/token',
    'https://user@sts.googleapis.com/v1/token',
    'https://sts.googleapis.com.evil.example/v1/token',
    'https://evil.example/sts.googleapis.com/v1/token',
    'https://sts.googleapis.com@evil.example/v1/token',
    'https://evil.example#-sts.googleapis.com/v1/token',
    'https://evil.example/-sts.googleapis.com/v1/token',
    'https://sts.a.b.rep.googleapis.com/v1/token',
    'https://stsXgoogleapis.com/v1/token',
    'https://sts.googleapis.com/v1/token\n',
  ])('do not include %j', (token_url) => {
    const { problems } = create(externalAccountJson(SUBJECT_FILE, { token_url }), noTokenCalls, 'my-project');
    expect(problems).toHaveLength(1);
  });

  test.each([
    'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/x@y.example:signBlob',
    'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/../x:generateAccessToken',
    'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/:generateAccessToken',
    'https://iamcredentials.evil.example/v1/projects/-/serviceAccounts/x@y.example:generateAccessToken',
  ])('do not include, for impersonation, %j', (url) => {
    const json = impersonatedJson({ service_account_impersonation_url: url });
    expect(create(json, noTokenCalls, 'my-project').problems).toHaveLength(1);
  });
});

test('tokens are cached by credential, not by entry', async () => {
  const { setup, sent } = testSetup(() => tokenReply(TOKEN));
  const ask = async (slug: string, json: string) =>
    vertexAi
      .create(
        {
          slug,
          provider: 'vertex-ai',
          region: 'global',
          project_id: 'my-project',
          credentials_json: new Secret(json),
        },
        setup,
      )
      ?.authorize(NOBODY);
  await ask('a', authorizedUserJson());
  await ask('b', authorizedUserJson());
  expect(sent).toHaveLength(1);
  await ask('c', authorizedUserJson({ refresh_token: '1//another' }));
  await ask('d', authorizedUserJson({ client_secret: 'another' }));
  await ask('e', externalAccountJson(SUBJECT_FILE));
  await ask('f', externalAccountJson(SUBJECT_FILE, { audience: 'another' }));
  expect(sent).toHaveLength(5);
});
