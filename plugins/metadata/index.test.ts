import { describe, expect, it } from 'vitest';
import type { Caller, MetadataRules } from '../../src/core/kernel/index.ts';
import { createCaller, createConfig, createExchange, runPlugin } from '../../src/plugin/testing/index.ts';
import metadata from './index.ts';

async function read(header: string | undefined, options: Record<string, unknown> = {}) {
  const exchange = createExchange(header === undefined ? {} : { headers: { 'x-gateway-metadata': header } });
  await runPlugin(metadata, { exchange, options });
  return exchange.metadata;
}

describe('metadata', () => {
  it('reads a JSON object of strings', async () => {
    expect({ ...(await read('{"team":"search","env":"prod"}')) }).toEqual({ team: 'search', env: 'prod' });
  });

  it('leaves a request without the header as it is', async () => {
    expect(await read(undefined)).toEqual({});
  });

  it('reads a key named like an inherited property', async () => {
    const found = await read('{"__proto__":"a","constructor":"b"}');
    expect(Object.entries(found)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it.each([
    ['is not valid JSON', 'team=search', {}],
    ['must be a JSON object of strings', '["a"]', {}],
    ['must be a JSON object of strings', 'null', {}],
    ['must hold strings; "n" is not one', '{"n":1}', {}],
    [
      'has more than 16 keys',
      JSON.stringify(Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v']))),
      {},
    ],
    ['has more than 1 keys', '{"a":"1","b":"2"}', { max_keys: 1 }],
    ['has a key or value longer than 128 characters', JSON.stringify({ a: 'x'.repeat(129) }), {}],
    ['has a key or value longer than 4 characters', '{"abcde":"1"}', { max_length: 4 }],
  ])('refuses a header that %s', async (message, header, options) => {
    await expect(read(header, options)).rejects.toMatchObject({
      code: 'invalid_header',
      status: 400,
      message: `x-gateway-metadata ${message}.`,
    });
  });

  it('accepts values as long as the limit', async () => {
    expect(await read('{"abcd":"efgh"}', { max_length: 4 })).toMatchObject({ abcd: 'efgh' });
  });

  it.each([[{ max_keys: 0 }], [{ max_length: 5000 }], [{ maxKeys: 3 }]])('does not start with %j', async (options) => {
    await expect(read('{}', options)).rejects.toThrow('the options of "metadata"');
  });

  const rules = (parts: Partial<MetadataRules>): MetadataRules => ({
    required: [],
    allowed: new Map(),
    labels: undefined,
    ...parts,
  });

  async function held(header: string | undefined, parts: Partial<MetadataRules>) {
    const exchange = createExchange({
      ...(header !== undefined && { headers: { 'x-gateway-metadata': header } }),
      config: createConfig({ metadata: rules(parts) }),
    });
    await runPlugin(metadata, { exchange });
    return exchange;
  }

  it.each<[string, string | undefined, Partial<MetadataRules>]>([
    ['no header', undefined, { required: ['team'] }],
    ['a missing key', '{"env":"prod"}', { required: ['team', 'env'] }],
    ['a missing key named like an inherited property', '{}', { required: ['constructor'] }],
  ])('refuses a request with %s where the config requires it', async (_, header, parts) => {
    await expect(held(header, parts)).rejects.toMatchObject({
      code: 'metadata_rejected',
      status: 400,
      message: expect.stringContaining(`must contain ${JSON.stringify(parts.required?.[0])}`),
    });
  });

  it('rejects a value that the config does not allow, and lists the allowed ones', async () => {
    const allowed = new Map([['team', new Set(['search', 'ads'])]]);
    await expect(held('{"team":"sales"}', { allowed })).rejects.toMatchObject({
      code: 'metadata_rejected',
      message: 'x-gateway-metadata has "sales" for "team"; the gateway config allows "search", "ads".',
    });
    expect((await held('{"team":"ads","env":"any"}', { allowed })).metadata).toMatchObject({ env: 'any' });
    expect((await held(undefined, { allowed })).metadata).toEqual({});
  });

  it.each<[MetadataRules['labels'], Record<string, string>]>([
    [undefined, {}],
    ['all', { team: 'search', env: 'prod' }],
    [new Map([['team', 'team']]), { team: 'search' }],
    [
      new Map([
        ['env', 'stage'],
        ['none', 'none'],
      ]),
      { stage: 'prod' },
    ],
  ])('makes labels of metadata as the config says: %s', async (labels, expected) => {
    const { labels: made } = await held('{"team":"search","env":"prod"}', { labels });
    expect({ ...made }).toEqual(expected);
  });

  async function bound(header: string | undefined, parts: Partial<Caller>, labels?: MetadataRules['labels']) {
    const exchange = createExchange({
      ...(header !== undefined && { headers: { 'x-gateway-metadata': header } }),
      caller: createCaller({ keyId: 'team-search', metadata: { team: 'search' }, ...parts }),
      config: createConfig({ metadata: rules({ labels }) }),
    });
    await runPlugin(metadata, { exchange });
    return exchange;
  }

  it("adds the key's own metadata, which wins, and counts the caller's values that differ", async () => {
    const { metadata: merged, droppedMetadata } = await bound('{"team":"ads","env":"prod"}', {});
    expect([{ ...merged }, droppedMetadata]).toEqual([{ team: 'search', env: 'prod' }, 1]);
    for (const header of [undefined, '{"team":"search"}']) {
      const exchange = await bound(header, { metadataStrict: true });
      expect([{ ...exchange.metadata }, exchange.droppedMetadata]).toEqual([{ team: 'search' }, undefined]);
    }
  });

  it('refuses another value than that of a strict key', async () => {
    await expect(bound('{"team":"ads"}', { metadataStrict: true })).rejects.toMatchObject({
      code: 'metadata_rejected',
      status: 400,
      message: 'x-gateway-metadata has another value for "team" than the key team-search, which sets it.',
    });
  });

  async function boundBody(format: string, body: object, parts: Partial<Caller> = {}) {
    const exchange = createExchange({
      json: { ...body },
      operation: { format: { name: format } } as never,
      caller: createCaller({ keyId: 'k', metadata: { user: 'ann', team: 'search' }, ...parts }),
    });
    await runPlugin(metadata, { exchange });
    return [exchange.request.body?.json(), exchange.droppedMetadata];
  }

  it.each([
    [
      'openai-chat',
      { user: 'eve', metadata: { team: 'ads', own: 'x' } },
      { user: 'ann', metadata: { team: 'search', own: 'x' } },
      2,
    ],
    ['openai-responses', { safety_identifier: 'eve', user: 'ann' }, { safety_identifier: 'ann', user: 'ann' }, 1],
    [
      'anthropic-messages',
      { metadata: { user_id: 'eve', team: 'ads' } },
      { metadata: { user_id: 'ann', team: 'ads' } },
      1,
    ],
    ['openai-chat', { user: 5 }, { user: 'ann' }, 1],
    ['openai-chat', { model: 'm' }, { model: 'm' }, undefined],
    ['gemini', { user: 'eve' }, { user: 'eve' }, undefined],
    ['gemini', { labels: { team: 'ads', own: 'x' } }, { labels: { own: 'x' } }, 1],
    ['gemini', { labels: { team: 'search' } }, { labels: { team: 'search' } }, undefined],
    ['openai-chat', { labels: { user: 'eve' } }, { labels: {} }, 1],
  ])(
    "puts the key's own values into the fields of the body that have others: %s %j",
    async (format, body, sent, dropped) => {
      expect(await boundBody(format, body)).toEqual([sent, dropped]);
      const strict = boundBody(format, body, { metadataStrict: true });
      if (dropped === undefined) expect(await strict).toEqual([sent, undefined]);
      else await expect(strict).rejects.toMatchObject({ code: 'metadata_rejected', status: 400 });
    },
  );

  it("marks the labels that come from the key's own metadata", async () => {
    const labels = new Map([
      ['team', 'cost_team'],
      ['env', 'stage'],
    ]);
    const exchange = await bound('{"team":"ads","env":"prod"}', {}, labels);
    expect([{ ...exchange.labels }, [...(exchange.boundLabels ?? [])]]).toEqual([
      { cost_team: 'search', stage: 'prod' },
      ['cost_team'],
    ]);
  });
});
