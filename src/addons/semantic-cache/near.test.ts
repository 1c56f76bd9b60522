import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../plugin/index.ts';
import type { Attempt, Embedded, SemanticCache } from '../../core/kernel/index.ts';
import { answers, createBench, plainReply, type AskParts } from '../../../plugins/cache/bench.testkit.ts';
import { createSemanticCache } from './semantic-cache.ts';
import { MemoryTextStore } from './store/text-store.ts';

const semantic = { embeddings: '@v/vectors', threshold: 0.9, timeoutMs: 500 };
const target = { cache: { maxAgeMs: 60_000, scope: 'key' as const, semantic } };
const call = { slug: 'v', modelLabel: 'vectors', from: 0, to: 5, tokens: 3, result: 'success' as const };
const json = (content: string): AskParts => ({ target, json: { messages: [{ role: 'user', content }] } });

/** Every text has the same vector. */
const sameVectors: SemanticCache['embed'] = ({ texts }) =>
  Promise.resolve({ vectors: texts.map(() => Float32Array.of(1, 0)), call });

/** Tests replace `embed`, the only function that uses it. */
const NO_EMBEDDER = {} as Parameters<typeof createSemanticCache>[1];

async function createCounted(embed = sameVectors, limits: Parameters<typeof createBench>[0] = {}) {
  const calls: (readonly string[])[] = [];
  const texts = new MemoryTextStore({ maxBytes: 1_000_000, scopeBytes: 500_000, scopeEntries: 100 });
  const bench = await createBench(limits, {
    ...createSemanticCache(texts, NO_EMBEDDER),
    embed(request) {
      calls.push(request.texts);
      return embed(request);
    },
  });
  let answered = 0;
  const begin = (text: string, parts: AskParts = {}) =>
    bench.ask(
      ({ attempt }) => {
        answered += 1;
        answers(attempt, Buffer.from(plainReply(`answer ${answered}`)));
      },
      { ...json(text), ...parts },
    );
  return {
    ...bench,
    texts,
    calls,
    begin,
    answered: () => answered,
    async get(text: string, parts: AskParts = {}): Promise<Attempt> {
      const { attempt, done } = begin(text, parts);
      await done;
      return attempt;
    },
  };
}

describe('a look-up by meaning', () => {
  it('is recorded with its similarity and its call', async () => {
    const { get, clock } = await createCounted();
    expect((await get('hello there')).semantic).toEqual({ result: 'first' });
    await clock.advance(2_000);
    const near = await get('hello you');
    expect([near.cache, near.reply?.headers['age']]).toEqual(['semantic_hit', '2']);
    expect(near.semantic).toEqual({ result: 'hit', similarity: 1, embedding: call });
  });

  it('comes after the exact one, which needs no vector', async () => {
    const { get, calls } = await createCounted();
    await get('hello there');
    await get('hello you');
    const again = await get('hello there');
    expect([again.cache, again.semantic, calls.length]).toEqual(['hit', undefined, 1]);
  });

  it('is left out while an identical request is in flight', async () => {
    const { ask, calls, get } = await createCounted();
    await get('hello there');
    const gate = Promise.withResolvers<void>();
    const asked = json('hello 2 you');
    const leader = ask(async ({ attempt }) => {
      await gate.promise;
      answers(attempt, Buffer.from(plainReply('late')));
    }, asked);
    // The leader has asked no model for vectors: the numbers differ.
    await new Promise(setImmediate);
    const follower = ask(() => {}, asked);
    await new Promise(setImmediate);
    gate.resolve();
    await Promise.all([leader.done, follower.done]);
    expect([leader.attempt.cache, follower.attempt.cache, follower.attempt.semantic]).toEqual([
      'miss',
      'shared',
      undefined,
    ]);
    expect(calls).toEqual([]);
  });

  it('gives no reply to the same words in another order', async () => {
    const { get } = await createCounted();
    await get('a trade of apples for pears');
    const swapped = await get('a trade of pears for apples');
    expect(swapped.cache).toBe('miss');
    expect(swapped.semantic).toEqual({ result: 'differs', reason: 'words', similarity: 1, embedding: call });
    expect((await get('the trade of pears for apples')).cache).toBe('semantic_hit');
  });

  it('uses no reply that is older than this config allows', async () => {
    const { get, clock } = await createCounted();
    await get('hello there');
    await clock.advance(30_000);
    const strict = { cache: { ...target.cache, maxAgeMs: 20_000 } };
    expect((await get('hello you', { target: strict })).cache).toBe('miss');
  });

  it('forgets a text whose reply is gone', async () => {
    const { get, clock, calls, texts } = await createCounted();
    await get('hello there');
    expect(texts.size.entries).toBe(1);
    await clock.advance(61_000);
    expect((await get('hello you')).semantic).toEqual({ result: 'first' });
    expect([calls.length, texts.size.entries]).toEqual([0, 1]);
  });

  it('takes at most eight texts without a vector with one question', async () => {
    const failing: Embedded = { vectors: undefined, call: { ...call, result: 'failed' }, error: 'upstream_error' };
    let works = false;
    const { get, calls } = await createCounted((request) => (works ? sameVectors(request) : Promise.resolve(failing)));
    for (const word of ['red', 'blue', 'green', 'pink', 'brown', 'grey', 'white', 'amber', 'teal', 'plum'])
      await get(`a ${word} cup`);
    works = true;
    const last = await get('a beige cup');
    expect([last.cache, calls.at(-1)?.length]).toEqual(['semantic_hit', 9]);
  });

  it('stores the text of a forced refresh without asking for a vector', async () => {
    const { get, calls } = await createCounted();
    const refresh = { headers: { 'x-gateway-cache-force-refresh': 'true' } };
    expect((await get('hello there', refresh)).cache).toBe('refresh');
    expect(calls).toEqual([]);
    expect((await get('hello you')).cache).toBe('semantic_hit');
  });

  it('ends with the reason of the client that left during the call', async () => {
    const gone = new GatewayError('client_closed', 'The client left.');
    const { begin, get, answered } = await createCounted(async ({ attempt }) => {
      attempt.cancellation.cancel(gone);
      return { vectors: undefined, call: { ...call, result: 'failed' } };
    });
    await get('hello there');
    const { done, attempt } = begin('hello you');
    await expect(done).rejects.toBe(gone);
    expect([answered(), attempt.cache]).toEqual([1, undefined]);
  });

  it('does not happen where the config compares exactly', async () => {
    const { get, texts } = await createCounted();
    const exact = { cache: { maxAgeMs: 60_000, scope: 'key' as const } };
    await get('hello there', { target: exact });
    const other = await get('hello you', { target: exact });
    expect([other.cache, other.semantic, texts.size.entries]).toEqual(['miss', undefined, 0]);
  });
});
