import { describe, expect, it } from 'vitest';
import type { CacheExplanation, TargetExplanation } from '../../explanation/explanation.ts';
import type { CachedReply } from '../../../../core/kernel/index.ts';
import { createFakeClock } from '../../../../plugin/testing/index.ts';
import { MemoryReplyStores } from '../../../../core/memory/reply-cache.ts';
import { FAKE_CREDENTIAL } from './masks.ts';
import { createExplainer, explain, questionOf, type AskParts } from '../explain.testkit.ts';

const catalog = { providers: [{ slug: 'sim', provider: 'simulator' }] };
const kept = `provider: "@sim"
cache:
  mode: exact
  max_age: 60
targets:
  - override_params: { model: steady }
  - override_params: { model: other }
    cache: { mode: exact, scope: config }
  - override_params: { model: third }
    cache: { mode: off }
strategy: { mode: fallback }
`;
const server = { cache: { max_bytes: '1MiB', max_entry_bytes: '256KiB' } };
const LIMITS = {
  maxBytes: 1024 * 1024,
  maxEntryBytes: 256 * 1024,
};
const settings = { catalog, server, gateway: { kept } };
const ask = (parts: AskParts = {}): AskParts => ({ config: 'kept', json: { model: 'm', seed: 1 }, ...parts });

async function cacheOf(parts: AskParts = {}, target = 0): Promise<CacheExplanation | undefined> {
  const { targets } = await explain(settings, ask(parts));
  return targets[target]!.cache;
}

const reply = (parts: Partial<CachedReply> = {}): CachedReply => ({
  status: 200,
  bytes: Buffer.from('{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[]}'),
  stream: false,
  includeUsage: false,
  usage: undefined,
  contentType: 'application/json',
  losses: [],
  storedAt: 0,
  ...parts,
});

/** An explainer with the serving store, which contains a reply under the shown key. */
async function besideStore(storedAt = 0, maxAgeMs = 60_000, parts: Partial<CachedReply> = {}) {
  const clock = createFakeClock();
  const replies = new MemoryReplyStores({ clock });
  const explainer = createExplainer(settings, { clock, replies });
  const tell = async (more: AskParts = {}): Promise<CacheExplanation> =>
    (await explainer.explain(questionOf(ask(more)))).targets[0]!.cache!;
  const { key } = await tell();
  const store = replies.prepare(LIMITS);
  replies.use(store);
  // Its settings are compiled on the first question, with the store of that time.
  const later = createExplainer(settings, { clock, replies });
  store.store(key, reply({ storedAt, ...parts }), maxAgeMs);
  return {
    clock,
    store,
    key,
    tell: async (more: AskParts = {}) => (await later.explain(questionOf(ask(more)))).targets[0]!.cache!,
    explain: (more: AskParts = {}) => later.explain(questionOf(ask(more))),
  };
}

describe('the description of the cache', () => {
  it('contains the key and all its parts', async () => {
    const cache = await cacheOf({ headers: { 'x-gateway-cache-namespace': 'n' } });
    expect(cache).toMatchObject({ key: expect.stringMatching(/^[\w-]{43}$/), maxAgeMs: 60_000, scope: 'key' });
    expect(cache!.parts).toMatchObject({
      scope: 'key any key',
      namespace: 'n',
      operation: 'chat.completions',
      target: { slug: 'sim', provider: 'simulator', model: 'steady', format: 'openai-chat' },
      strict: true,
      strictParams: false,
      body: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it('has another key for another request, with the differing part', async () => {
    const one = await cacheOf();
    const other = await cacheOf({ json: { model: 'm', seed: 2 } });
    expect(other!.key).not.toBe(one!.key);
    const { body, ...same } = one!.parts;
    expect(other!.parts).toEqual({ ...same, body: expect.not.stringMatching(String(body)) });
    expect(await cacheOf({ json: { seed: 1, model: 'm', stream: true } })).toEqual(one);
  });

  it('shows no credential that is part of it', async () => {
    const cache = await cacheOf({
      headers: { 'x-gateway-api-key': 'gatehouse-test-key-0123456789', authorization: 'Bearer s3cret-of-the-caller' },
    });
    expect(cache!.parts).toMatchObject({ scope: 'key team', upstreamToken: '[secret]' });
    expect(cache!.key).not.toBe(
      (await cacheOf({ headers: { 'x-gateway-api-key': 'gatehouse-test-key-0123456789' } }))!.key,
    );
  });

  it('shows none in another part, either', async () => {
    const key = 'gatehouse-test-key-0123456789';
    const headers = {
      'x-gateway-api-key': key,
      authorization: 'Bearer s3cret-of-the-caller',
      'x-tenant': 's3cret-of-the-caller',
    };
    const gateway = {
      kept: { provider: '@sim', cache: { mode: 'exact' }, forward_headers: ['x-tenant'], drop_params: ['user'] },
    };
    const { targets } = await explain(
      { ...settings, gateway },
      { config: 'kept', headers, json: { model: 'm', user: key } },
    );
    const [{ cache, changes }] = targets as [TargetExplanation];
    expect(cache!.parts).toMatchObject({ upstreamToken: '[secret]', forwarded: { 'x-tenant': '[secret]' } });
    expect(changes).toMatchObject([{ path: 'user', action: 'removed', was: '[secret]' }]);
    expect(JSON.stringify({ cache, changes })).not.toMatch(/s3cret-of-the-caller|gatehouse-test-key/);
  });

  it('has the nearest place in the config that sets it', async () => {
    const source = (line: number, setting: string) => ({
      kind: 'settings',
      at: { line, file: 'configs/gateway/kept.yaml' },
      setting,
    });
    expect(await cacheOf()).toMatchObject({ source: source(2, 'cache') });
    expect(await cacheOf({}, 1)).toMatchObject({
      source: source(8, 'targets.1.cache'),
      scope: 'config',
      maxAgeMs: 60_000,
    });
    expect(await cacheOf({}, 2)).toBeUndefined();
  });

  it.each<[string, AskParts, string]>([
    ['no reply is stored', {}, 'miss: no reply is stored under this key'],
    [
      'a refresh is forced',
      { headers: { 'x-gateway-cache-force-refresh': 'true' } },
      'refresh: the request forces a new reply',
    ],
    [
      'the request has a side effect',
      { json: { model: 'm', store: true } },
      'bypass: this request makes the upstream store or create something',
    ],
  ])('shows the result when %s', async (_, parts, now) => {
    expect(await cacheOf(parts)).toMatchObject({ now });
  });

  it('has a key for a refresh, too, whose reply is stored', async () => {
    const refresh = await cacheOf({ headers: { 'x-gateway-cache-force-refresh': 'true' } });
    expect(refresh!.key).toBe((await cacheOf())!.key);
  });

  it('has no key when the target is rejected before the look-up', async () => {
    const keys = { keys: [{ id: 'team', key: 'gatehouse-test-key-0123456789', models: ['none'] }] };
    const { targets } = await explain({ ...settings, keys }, ask({ as: 'team' }));
    expect(targets[0]).toMatchObject({
      cache: { now: 'not looked up', key: '' },
      refused: { code: 'model_not_allowed' },
    });
  });
});

describe('the serving store', () => {
  it('is looked up: a hit, with its age', async () => {
    const { clock, tell } = await besideStore();
    await clock.advance(12_900);
    expect(await tell()).toMatchObject({ now: 'hit: stored 12 s ago', hit: true });
    expect(await tell({ headers: { 'x-gateway-cache-force-refresh': 'true' } })).toMatchObject({
      now: 'refresh: the request forces a new reply',
    });
  });

  it.each([
    ['older than the config allows, although the store has it', 0, 100_000, 60_000],
    ['stored after the time of the question', 5000, 100_000, 4000],
  ])('has no hit for a reply that is %s', async (_, storedAt, maxAgeMs, now) => {
    const { tell } = await besideStore(storedAt, maxAgeMs);
    expect(await tell({ at: { now, wall: 0 } })).toMatchObject({ now: 'miss: no reply is stored under this key' });
    expect(await tell({ at: { now: storedAt + 1, wall: 0 } })).toMatchObject({ now: 'hit: stored 0 s ago' });
  });

  it('has no hit for a forced refresh', async () => {
    const { tell } = await besideStore();
    const headers = { 'x-gateway-cache-force-refresh': 'true' };
    expect(await tell({ headers })).toMatchObject({ now: 'refresh: the request forces a new reply', hit: false });
  });

  it('reports an unknown key when it contains a credential that is not stored', async () => {
    const headers = {
      authorization: `Bearer ${FAKE_CREDENTIAL}`,
      'x-gateway-api-key': 'gatehouse-test-key-0123456789',
    };
    const cache = await cacheOf({ headers });
    expect(cache).toMatchObject({ key: '', hit: false, now: expect.stringMatching(/^unknown: /) });
    expect(cache!.parts).toMatchObject({ upstreamToken: '[secret]' });
  });

  it('has no hit for a reply that cannot be rendered in the requested form', async () => {
    const { tell } = await besideStore(0, 60_000, { bytes: Buffer.from('no JSON') });
    expect(await tell()).toMatchObject({ now: 'hit: stored 0 s ago' });
    expect(await tell({ json: { model: 'm', seed: 1, stream: true } })).toMatchObject({
      now: 'miss: no reply is stored under this key',
    });
  });

  it('rejects a request for a reply that it may not get, as in serving: no later plugin is reached', async () => {
    const clock = createFakeClock();
    const replies = new MemoryReplyStores({ clock });
    const store = replies.prepare(LIMITS);
    replies.use(store);
    const text = (more: string) => `provider: "@gemini"\ncache: { mode: exact, max_age: 60 }\n${more}`;
    const restricted = {
      catalog: {
        providers: [{ slug: 'gemini', provider: 'vertex-ai', project_id: 'my-project', region: 'us-central1' }],
      },
      server,
      gateway: { kept: text('messages_route: claude\n') },
    };
    const explainer = createExplainer(restricted, { clock, replies });
    const json = { model: 'gemini-2.5-flash', max_tokens: 1 };
    const question = questionOf({ config: 'kept', path: '/v1/messages', json });
    const before = await explainer.explain(question);
    store.store(before.targets[0]!.cache!.key, reply(), 60_000);
    const after = await explainer.explain(question);
    const reached = ({ plugins }: typeof after) =>
      plugins.filter(({ chain, state }) => chain === 'attempt' && state === 'run').map(({ name }) => name);
    expect([before, after].map(({ targets }) => targets[0]!.refused?.status)).toEqual([400, 400]);
    expect([reached(before), reached(after)]).toEqual([['cache', 'transform'], ['cache']]);
  });

  it('is not changed: nothing is stored or refreshed', async () => {
    const large = { bytes: Buffer.alloc(200 * 1024, ' ') };
    const { store, key, explain: explainAll } = await besideStore(0, 60_000, large);
    store.store('other', reply(large), 60_000);
    const { size } = store;
    const { targets } = await explainAll();
    expect(targets[0]).toMatchObject({ cache: { now: 'hit: stored 0 s ago' }, outbound: { method: 'POST' } });
    expect(store.size).toEqual(size);
    for (let index = 0; store.peek(key) && index < 10; index += 1) store.store(`more ${index}`, reply(large), 60_000);
    expect([store.peek(key), store.peek('other')]).toEqual([undefined, expect.anything()]);
  });
});
