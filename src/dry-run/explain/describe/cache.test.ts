import { describe, expect, it } from 'vitest';
import type { CacheExplanation, TargetExplanation } from '../../explanation/explanation.ts';
import type { CachedReply } from '../../../plugin/index.ts';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { ReplyStores } from '../../../translate/cached-replies.ts';
import { FAKE_CREDENTIAL } from '../credentials.ts';
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
const LIMITS = { maxBytes: 1024 * 1024, maxEntryBytes: 256 * 1024 };
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

/** An explainer beside a store that serves, which keeps a reply under the key that is told. */
async function besideStore(storedAt = 0, maxAgeMs = 60_000, parts: Partial<CachedReply> = {}) {
  const clock = createFakeClock();
  const replies = new ReplyStores({ clock });
  const explainer = createExplainer(settings, { clock, replies });
  const tell = async (more: AskParts = {}): Promise<CacheExplanation> =>
    (await explainer.explain(questionOf(ask(more)))).targets[0]!.cache!;
  const { key } = await tell();
  const store = replies.prepare(LIMITS);
  replies.use(store);
  // Its settings are compiled when it is first asked, with the store of that time.
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

describe('what explain tells of the cache', () => {
  it('is the key, and all that went into it', async () => {
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

  it('is another key for another question, by the part that differs', async () => {
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

  it('shows none that hides in another part, either', async () => {
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

  it('has its place in the config: the nearest that says it', async () => {
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
    ['nothing is kept', {}, 'miss: nothing is kept under this key'],
    [
      'a new answer is wanted',
      { headers: { 'x-gateway-cache-force-refresh': 'true' } },
      'refresh: the request wants a new answer',
    ],
    [
      'more than an answer is wanted',
      { json: { model: 'm', store: true } },
      'bypass: this request asks for more than an answer',
    ],
  ])('says what would happen where %s', async (_, parts, now) => {
    expect(await cacheOf(parts)).toMatchObject({ now });
  });

  it('has a key for a refresh, too: its answer is kept', async () => {
    const refresh = await cacheOf({ headers: { 'x-gateway-cache-force-refresh': 'true' } });
    expect(refresh!.key).toBe((await cacheOf())!.key);
  });

  it('has none where the target is refused before the cache is asked', async () => {
    const keys = { keys: [{ id: 'team', key: 'gatehouse-test-key-0123456789', models: ['none'] }] };
    const { targets } = await explain({ ...settings, keys }, ask({ as: 'team' }));
    expect(targets[0]).toMatchObject({ cache: { now: 'not asked', key: '' }, refused: { code: 'model_not_allowed' } });
  });
});

describe('a store that serves', () => {
  it('is looked into: a hit, and its age', async () => {
    const { clock, tell } = await besideStore();
    await clock.advance(12_900);
    expect(await tell()).toMatchObject({ now: 'hit: kept 12 s ago', hit: true });
    expect(await tell({ headers: { 'x-gateway-cache-force-refresh': 'true' } })).toMatchObject({
      now: 'refresh: the request wants a new answer',
    });
  });

  it.each([
    ['older than the config allows, although the store keeps it', 0, 100_000, 60_000],
    ['kept after the moment that is asked about', 5000, 100_000, 4000],
  ])('has no hit in what is %s', async (_, storedAt, maxAgeMs, now) => {
    const { tell } = await besideStore(storedAt, maxAgeMs);
    expect(await tell({ at: { now, wall: 0 } })).toMatchObject({ now: 'miss: nothing is kept under this key' });
    expect(await tell({ at: { now: storedAt + 1, wall: 0 } })).toMatchObject({ now: 'hit: kept 0 s ago' });
  });

  it('has no hit where the request wants a new answer', async () => {
    const { tell } = await besideStore();
    const headers = { 'x-gateway-cache-force-refresh': 'true' };
    expect(await tell({ headers })).toMatchObject({ now: 'refresh: the request wants a new answer', hit: false });
  });

  it('says that a key is not known which was made of a credential that is not kept', async () => {
    const headers = {
      authorization: `Bearer ${FAKE_CREDENTIAL}`,
      'x-gateway-api-key': 'gatehouse-test-key-0123456789',
    };
    const cache = await cacheOf({ headers });
    expect(cache).toMatchObject({ key: '', hit: false, now: expect.stringMatching(/^not known: /) });
    expect(cache!.parts).toMatchObject({ upstreamToken: '[secret]' });
  });

  it('has no hit in what cannot be told in the form that is asked for', async () => {
    const { tell } = await besideStore(0, 60_000, { bytes: Buffer.from('no JSON') });
    expect(await tell()).toMatchObject({ now: 'hit: kept 0 s ago' });
    expect(await tell({ json: { model: 'm', seed: 1, stream: true } })).toMatchObject({
      now: 'miss: nothing is kept under this key',
    });
  });

  it('refuses what it cannot give to this request, as when it is served: nothing behind it is reached', async () => {
    const clock = createFakeClock();
    const replies = new ReplyStores({ clock });
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
    expect([reached(before), reached(after)]).toEqual([
      ['override', 'cache', 'transform'],
      ['override', 'cache'],
    ]);
  });

  it('goes on as before: nothing is stored, and what was looked at is no younger', async () => {
    const large = { bytes: Buffer.alloc(200 * 1024, ' ') };
    const { store, key, explain: explainAll } = await besideStore(0, 60_000, large);
    store.store('other', reply(large), 60_000);
    const { size } = store;
    const { targets } = await explainAll();
    expect(targets[0]).toMatchObject({ cache: { now: 'hit: kept 0 s ago' }, outbound: { method: 'POST' } });
    expect(store.size).toEqual(size);
    for (let index = 0; store.peek(key) && index < 10; index += 1) store.store(`more ${index}`, reply(large), 60_000);
    expect([store.peek(key), store.peek('other')]).toEqual([undefined, expect.anything()]);
  });
});
