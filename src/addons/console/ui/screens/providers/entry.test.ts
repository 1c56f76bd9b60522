import { describe, expect, it } from 'vitest';
import {
  fieldsOf,
  offeredKinds,
  readServiceAccount,
  slugProblem,
  specOf,
  withoutSecrets,
  type OfferedKind,
} from './entry.ts';

const KIND: OfferedKind = {
  kind: 'some-vendor',
  name: 'some-vendor',
  title: 'Some vendor',
  description: '',
  secrets: ['api_key', 'service_account'],
  shared: [],
  schema: {
    oneOf: [{ $ref: '#/definitions/other' }, { $ref: '#/definitions/own' }],
    definitions: {
      other: { properties: { provider: { const: 'other' } } },
      own: {
        required: ['provider', 'base_url'],
        properties: {
          provider: { const: 'some-vendor' },
          base_url: { $ref: '#/definitions/url' },
          api_key: { type: 'string', description: 'The key. More about it.' },
          service_account: {},
          models: { type: 'array' },
          allow_insecure: { type: 'boolean' },
          stream_usage: {},
        },
      },
      url: { type: 'string', description: 'Where it is.' },
    },
  },
};

describe('the form of an entry', () => {
  const fields = fieldsOf(KIND);

  it('has the fields of its schema that a first entry needs', () =>
    expect(fields.map(({ name, kind, required, words }) => [name, kind, required, words])).toEqual([
      ['base_url', 'text', true, 'Where it is.'],
      ['service_account', 'file', false, ''],
      ['api_key', 'secret', false, 'The key.'],
      ['allow_insecure', 'flag', false, ''],
      ['models', 'list', false, ''],
    ]));

  it('has the shared credentials of catalog.yaml that such an entry takes, if there are any', () => {
    const [own, ...others] = (KIND.schema as { oneOf: object[] }).oneOf;
    const withCredentials = {
      oneOf: [own, ...others],
      definitions: { own: { properties: { provider: { const: 'some-vendor' }, credentials: {} } } },
    };
    const choice = (shared: string[]) =>
      fieldsOf({ ...KIND, shared, schema: withCredentials }).map(({ kind, options }) => [kind, options]);
    expect([choice(['main']), choice([])]).toEqual([[['choice', ['main']]], []]);
  });

  it('is named for people, and has servers with the API of OpenAI as a kind of their own', () => {
    const [vertex, openai, compatible, azure] = offeredKinds(
      [
        ['vertex-ai', 'VertexAi'],
        ['openai', 'OpenAi'],
        ['azure-openai', 'AzureOpenAi'],
      ].map(([kind = '', title = '']) => ({ ...KIND, kind, title })),
    );
    expect([vertex?.title, openai?.title, compatible?.title, azure?.title]).toEqual([
      'Vertex AI',
      'OpenAI',
      'OpenAI-compatible',
      'Azure OpenAI',
    ]);
    expect(compatible?.kind).toBe('openai');
  });

  it('leaves empty fields out, and secrets out of what goes into a file', () => {
    const spec = specOf('some-vendor', fields, {
      api_key: 'canary',
      base_url: 'https://x',
      models: 'a, b',
      allow_insecure: false,
      service_account: '{"client_email":"e"}',
    });
    expect(spec).toEqual({
      provider: 'some-vendor',
      api_key: 'canary',
      base_url: 'https://x',
      models: ['a', 'b'],
      service_account: { client_email: 'e' },
    });
    expect(withoutSecrets('my-entry', spec, fields)).toEqual({
      provider: 'some-vendor',
      api_key: '${env:MY_ENTRY_API_KEY}',
      base_url: 'https://x',
      models: ['a', 'b'],
      service_account: '${file:/run/secrets/my-entry-service-account.json}',
    });
    expect(withoutSecrets('e', { api_key: '${env:K}' }, fields)).toEqual({ api_key: '${env:K}' });
  });

  it('checks the name while it is typed', () => {
    expect([
      slugProblem('', []),
      slugProblem('-a', []),
      slugProblem('a', ['a']),
      slugProblem('my-entry_2', ['a']),
    ]).toEqual([
      'Configs name the entry by it: @name.',
      'Letters, digits, dots, _ and -, at most 64; the first is a letter or a digit.',
      'An entry has this name.',
      undefined,
    ]);
  });

  it('shows of a service account no more than who it is', () => {
    expect(
      readServiceAccount('{"client_email":"e","private_key":"canary","project_id":"p","private_key_id":"k"}'),
    ).toEqual({ email: 'e', project: 'p', keyId: 'k' });
    expect(() => readServiceAccount('no')).toThrow('The file is not JSON.');
    expect(() => readServiceAccount('{}')).toThrow('no client_email');
    expect(() => readServiceAccount(' '.repeat(70_000))).toThrow('64 KB');
  });
});
