import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatCompletions } from '../../src/core/operations/openai.ts';
import { RequestBody } from '../../src/core/kernel/index.ts';
import { Secret } from '../../src/plugin/index.ts';
import { createAttempt, createCaller, createConfig, createExchange } from '../../src/plugin/testing/index.ts';
import { resolvedTarget } from './bench.testkit.ts';
import { cacheKey } from './key.ts';
import { runs } from '../../test/support/effort.ts';

/** All inputs of a key. */
interface Facts {
  readonly body: string;
  readonly keyId: string;
  readonly configId: string;
  readonly configHash: string;
  readonly scope: 'key' | 'config';
  readonly token: string | null;
  readonly namespace: string | null;
  readonly operation: string;
  readonly slug: string;
  readonly origin: string;
  readonly path: string;
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly strict: boolean | null;
  readonly targetStrict: boolean | null;
  readonly strictParams: boolean;
  readonly forwarded: Readonly<Record<string, string>>;
  readonly spoken: readonly (string | undefined)[];
}

const BASE: Facts = {
  body: '{"model":"m","messages":[]}',
  keyId: 'a',
  configId: 'prod',
  configHash: 'h',
  scope: 'key',
  token: null,
  namespace: null,
  operation: 'chat.completions',
  slug: 'openai',
  origin: 'https://a.example',
  path: '/v1',
  model: 'm',
  headers: {},
  strict: null,
  targetStrict: null,
  strictParams: false,
  forwarded: {},
  spoken: [undefined],
};

const EVERYTHING: Facts = {
  body: '{"stream":true,"model":"m","messages":[{"role":"user","content":"ä"}],"seed":12345678901234567890}',
  keyId: 'a',
  configId: 'prod',
  configHash: 'h',
  scope: 'config',
  token: 'secret-token',
  namespace: 'n',
  operation: 'embeddings',
  slug: 's',
  origin: 'https://b.example',
  path: '/v2?x=y',
  model: 'n',
  headers: { 'anthropic-version': '2023-06-01' },
  strict: false,
  targetStrict: true,
  strictParams: true,
  forwarded: { 'x-tenant': 't', 'x-b': '' },
  spoken: [undefined, 'a', 'b'],
};

function keyOf(parts: Partial<Facts> = {}): string {
  const facts = { ...BASE, ...parts };
  const exchange = createExchange({
    operation: { ...chatCompletions, id: facts.operation },
    caller: createCaller({ keyId: facts.keyId }),
    config: createConfig({ id: facts.configId, hash: facts.configHash }),
    upstreamToken: facts.token === null ? undefined : new Secret(facts.token),
    strict: facts.strict ?? undefined,
    strictParams: facts.strictParams,
    headers: facts.forwarded,
  });
  const attempt = createAttempt(exchange, {
    target: { forwardHeaders: Object.keys(facts.forwarded), strict: facts.targetStrict ?? undefined },
    body: RequestBody.read(Buffer.from(facts.body), 64),
  });
  const { slug, origin, path, headers } = facts;
  return cacheKey({
    exchange,
    attempt,
    resolved: resolvedTarget(facts.model, { slug, origin, path, headers }),
    settings: { maxAgeMs: 1, scope: facts.scope },
    namespace: facts.namespace ?? undefined,
    spoken: facts.spoken,
  });
}

describe('the key of a cached reply', () => {
  it.each<[string, Partial<Facts>]>([
    ['the key', { keyId: 'b' }],
    ['the scope', { scope: 'config' }],
    ['the caller’s own credential', { token: 't' }],
    ['the namespace', { namespace: 'n' }],
    ['the operation', { operation: 'embeddings' }],
    ['the catalog entry', { slug: 'other' }],
    ['the host', { origin: 'https://b.example' }],
    ['the path', { path: '/v2' }],
    ['the model', { model: 'n' }],
    ['the headers of the target', { headers: { 'anthropic-beta': 'x' } }],
    ['compliance', { strict: false }],
    ['compliance by the target', { targetStrict: false }],
    ['losses as errors', { strictParams: true }],
    ['request values outside the body', { spoken: ['x'] }],
    ['a forwarded header', { forwarded: { 'x-tenant': 't' } }],
    ['the body', { body: '{"model":"m","messages":[],"seed":1}' }],
  ])('changes with %s', (_, parts) => {
    expect(keyOf(parts)).not.toBe(keyOf());
  });

  it.each<[string, Partial<Facts>, Partial<Facts>]>([
    [
      'whether the request is streamed',
      { body: '{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[]}' },
      {},
    ],
    ['the order of the body’s keys', { body: '{"messages":[],"model":"m"}' }, {}],
    ['whether the default of compliance is explicit', { strict: true }, {}],
    ['whether header or target set compliance', { strict: false }, { targetStrict: false }],
    ['the target’s compliance when the header sets it', { strict: true, targetStrict: false }, {}],
    ['the config, in the scope of a key', { configId: 'other', configHash: 'i' }, {}],
    ['the caller, in the scope of a config', { scope: 'config', keyId: 'b' }, { scope: 'config' }],
  ])('does not depend on %s', (_, one, other) => {
    expect(keyOf(one)).toBe(keyOf(other));
  });

  it('separates keys under a config sent with the request, which any caller could write', () => {
    const inline = { scope: 'config', configId: 'inline' } as const;
    expect(keyOf({ ...inline, keyId: 'a' })).not.toBe(keyOf({ ...inline, keyId: 'b' }));
    // Nor does it equal the key under a config file of the same content.
    expect(keyOf(inline)).not.toBe(keyOf({ scope: 'config' }));
  });

  it.each<[string, Partial<Facts>, string]>([
    ['a plain request', {}, 'CNY7tYEFRSkALOZ5vChkiZygdwuZxt1xc6VyMM0LRZY'],
    ['a request with every input', EVERYTHING, '3HK2CDz4fJj3kRKfqGIHVNdZxURYh98Ea8vFrUESgCA'],
  ])('does not change between releases, which would empty every cache: %s', (_, parts, digest) => {
    expect(keyOf(parts)).toBe(digest);
  });

  it('reveals nothing of the credential', () => {
    expect(keyOf({ token: 'secret-token' })).toMatch(/^[\w-]{43}$/);
  });

  /** Few words, so that the same word occurs in several places: finds requests that could be confused. */
  const word = fc.constantFrom('a', 'b', 'ab', '"', '","', 'null', '{}');
  const optional = fc.option(word);
  const facts: fc.Arbitrary<Facts> = fc.record({
    body: fc
      .dictionary(word, fc.oneof(word, fc.constantFrom(null, 1, true, [], {})), { maxKeys: 2 })
      .map((body) => JSON.stringify(body)),
    keyId: word,
    configId: word,
    configHash: word,
    scope: fc.constantFrom('key', 'config'),
    token: optional,
    namespace: optional,
    operation: word,
    slug: word,
    origin: word,
    path: word,
    model: word,
    headers: fc.dictionary(word, word, { maxKeys: 1 }),
    strict: fc.option(fc.boolean()),
    targetStrict: fc.option(fc.boolean()),
    strictParams: fc.boolean(),
    forwarded: fc.dictionary(fc.constantFrom('x-a', 'x-b'), word, { maxKeys: 2 }),
    spoken: fc.tuple(fc.option(word, { nil: undefined })),
  });

  /** The facts in the form that decides the answer. */
  function meaning({
    strict,
    targetStrict,
    scope,
    keyId,
    configId,
    configHash,
    body,
    forwarded,
    ...rest
  }: Facts): string {
    return JSON.stringify({
      ...rest,
      strict: strict ?? targetStrict ?? true,
      scope: scope === 'key' ? { keyId } : { configId, configHash },
      body: Object.entries(JSON.parse(body) as object).sort(([a], [b]) => (a < b ? -1 : 1)),
      forwarded: Object.entries(forwarded),
    });
  }

  it('is equal exactly for equivalent requests', () => {
    const changes = fc.subarray(Object.keys(BASE) as (keyof Facts)[], { maxLength: 3 });
    fc.assert(
      fc.property(facts, facts, changes, (one, source, changed) => {
        const other = { ...one, ...Object.fromEntries(changed.map((name) => [name, source[name]])) };
        expect(keyOf(one) === keyOf(other)).toBe(meaning(one) === meaning(other));
      }),
      { numRuns: runs(2000) },
    );
  });
});
