import { describe, expect, it } from 'vitest';
import { GatewayError, UpstreamError } from '../../src/plugin/index.ts';
import type { Attempt } from '../../src/core/kernel/index.ts';
import { createCaller, createConfig, createSource, readBody, runPlugin } from '../../src/plugin/testing/index.ts';
import { answers, createBench, plainReply, streamReply, type AskParts } from './bench.testkit.ts';
import cache from './index.ts';

const HELLO = plainReply('hello');
const gone = new GatewayError('client_closed', 'The client left.');
const textOf = ({ reply }: Attempt): Promise<string> => readBody(reply!.body);

/** Sends a request to a fake upstream that counts its requests and answers with the count. */
async function createCounted(limits: { maxBytes?: number; maxEntryBytes?: number } = {}) {
  const bench = await createBench(limits);
  let calls = 0;
  return {
    ...bench,
    calls: () => calls,
    async get(parts: AskParts = {}) {
      const { attempt, done } = bench.ask(({ attempt }) => {
        calls += 1;
        const streamed = attempt.body.value('stream') === true;
        answers(attempt, Buffer.from(streamed ? streamReply(`answer ${calls}`) : plainReply(`answer ${calls}`)));
      }, parts);
      await done;
      return attempt;
    },
  };
}

describe('a target without a cache', () => {
  it('gets every request; headers, catalog and body are not read', async () => {
    const { attempt, done, exchange } = await (async () => {
      const bench = await createBench();
      return bench.ask(({ attempt }) => answers(attempt, Buffer.from(HELLO)), {
        target: { cache: undefined },
        headers: { 'x-gateway-cache-force-refresh': 'nonsense' },
      });
    })();
    await done;
    expect([attempt.cache, attempt.resolved, exchange.attempts.length]).toEqual([undefined, undefined, 1]);
  });

  it('needs no cache capability', async () => {
    const run = await runPlugin(cache, { needs: { cache: {}, semantic: {}, targets: {} } });
    expect(run.nextCalls).toBe(1);
  });
});

describe('a cached reply', () => {
  it('answers an identical request with its age, without asking the upstream', async () => {
    const { get, calls, clock } = await createCounted();
    const first = await get();
    expect(first.cache).toBe('miss');
    await clock.advance(12_900);
    const second = await get();
    expect(calls()).toBe(1);
    expect([second.cache, second.tries.length, second.signals]).toEqual(['hit', 0, undefined]);
    expect(second.resolved).toMatchObject({ slug: 'openai', model: 'm' });
    expect(second.reply).toMatchObject({ status: 200, stream: false });
    // No headers of the call that made it: its id, its rate limits.
    expect(second.reply!.headers).toEqual({ 'content-type': 'application/json', age: '12' });
    expect(await textOf(second)).toBe(await textOf(first));
  });

  it('is used while its age is below `max_age`', async () => {
    const { get, clock } = await createCounted();
    await get();
    await clock.advance(59_999);
    expect((await get()).cache).toBe('hit');
    await clock.advance(1);
    expect((await get()).cache).toBe('miss');
  });

  it('obeys the `max_age` of the current config, not of the config that stored it', async () => {
    const { get, clock } = await createCounted();
    await get();
    await clock.advance(5000);
    expect((await get({ target: { cache: { maxAgeMs: 5000, scope: 'key' } } })).cache).toBe('miss');
    expect((await get({ target: { cache: { maxAgeMs: 5001, scope: 'key' } } })).cache).toBe('hit');
  });

  it('reports its losses again', async () => {
    const { ask } = await createBench();
    const seed = { param: 'seed', action: 'dropped', reason: 'none' } as const;
    await ask(({ attempt }) => {
      answers(attempt, Buffer.from(HELLO));
      attempt.losses.push(seed);
    }).done;
    const { attempt, done } = ask(() => expect.unreachable());
    await done;
    expect(attempt.losses).toEqual([seed]);
  });

  it('does not help a key that may not use the model', async () => {
    const { get } = await createCounted();
    await get();
    const caller = createCaller({ keyId: 'a', models: ['other'] });
    await expect(get({ caller })).rejects.toMatchObject({ code: 'model_not_allowed', status: 403 });
  });

  it.each<[string, AskParts]>([
    ['another key', { caller: createCaller({ keyId: 'b' }) }],
    ['another model', { json: { model: 'n' } }],
    ['another message', { json: { messages: [{ role: 'user', content: 'ho' }] } }],
    ['the lax form', { strict: false }],
    ['losses as errors', { strictParams: true }],
    ['a namespace', { headers: { 'x-gateway-cache-namespace': 'x' } }],
    ['a forwarded header', { target: { forwardHeaders: ['x-tenant'] }, headers: { 'x-tenant': 't' } }],
  ])('is not for %s', async (_, parts) => {
    const { get } = await createCounted();
    await get();
    expect((await get(parts)).cache).toBe('miss');
    expect((await get(parts)).cache).toBe('hit');
  });

  it('is shared by every key of the config under `scope: config`, and by no other config', async () => {
    const { get } = await createCounted();
    const shared = { cache: { maxAgeMs: 60_000, scope: 'config' } } as const;
    const of = (keyId: string, id: string): AskParts => ({
      caller: createCaller({ keyId }),
      config: createConfig({ id }),
      target: shared,
    });
    await get(of('a', 'one'));
    expect((await get(of('b', 'one'))).cache).toBe('hit');
    expect((await get(of('a', 'two'))).cache).toBe('miss');
  });
});

describe('cache headers of a request', () => {
  it('force-refresh asks the upstream and replaces the cached reply', async () => {
    const { get, calls } = await createCounted();
    await get();
    const fresh = await get({ headers: { 'x-gateway-cache-force-refresh': 'true' } });
    expect([fresh.cache, calls()]).toEqual(['refresh', 2]);
    const after = await get({ headers: { 'x-gateway-cache-force-refresh': 'false' } });
    expect([after.cache, await textOf(after)]).toEqual(['hit', plainReply('answer 2')]);
  });

  it.each([
    ['cache-force-refresh', 'yes'],
    ['cache-force-refresh', ''],
    ['cache-namespace', ''],
    ['cache-namespace', 'a b'],
    ['cache-namespace', 'é'],
    ['cache-namespace', 'x'.repeat(129)],
  ])('x-gateway-%s: %j is refused', async (name, value) => {
    const { get, calls } = await createCounted();
    await expect(get({ headers: { [`x-gateway-${name}`]: value } })).rejects.toMatchObject({
      code: 'invalid_header',
      message: expect.stringContaining(`x-gateway-${name}`),
    });
    expect(calls()).toBe(0);
  });
});

describe('not cached is', () => {
  it('a completion that the upstream stores', async () => {
    const { get, calls } = await createCounted();
    expect((await get({ json: { store: true } })).cache).toBe('bypass');
    expect((await get({ json: { store: true } })).cache).toBe('bypass');
    expect(calls()).toBe(2);
  });

  it.each<[string, (attempt: Attempt) => void]>([
    ['an error that a plugin made a reply of', (attempt) => answers(attempt, Buffer.from('{}'), { status: 500 })],
    ['a redirect', (attempt) => answers(attempt, Buffer.from('{}'), { status: 302 })],
    ['a reply of more bytes than an entry may have', (attempt) => answers(attempt, Buffer.alloc(100_001))],
    [
      'a reply that its upstream did not end',
      (attempt) => {
        answers(attempt, Buffer.from(HELLO));
        attempt.signals!.ended = false;
      },
    ],
    [
      'a reply in which its upstream failed',
      (attempt) => {
        answers(attempt, Buffer.from(HELLO));
        attempt.signals!.failure = { status: 529, message: 'overloaded' };
      },
    ],
    [
      'a reply that no upstream made',
      (attempt) => {
        answers(attempt, Buffer.from(HELLO));
        attempt.signals = undefined;
      },
    ],
    ['no reply', () => {}],
  ])('%s', async (_, next) => {
    const { ask, store } = await createBench();
    await ask(({ attempt }) => next(attempt)).done;
    const second = ask(({ attempt }) => next(attempt));
    await second.done;
    expect([second.attempt.cache, store.size.entries]).toEqual(['miss', 0]);
  });

  it('a failure, which is thrown unchanged', async () => {
    const { ask, store } = await createBench();
    const failure = new UpstreamError('overloaded', 'busy');
    await expect(
      ask(() => {
        throw failure;
      }).done,
    ).rejects.toBe(failure);
    expect(store.size.entries).toBe(0);
  });
});

describe('a stream', () => {
  const json = { stream: true };
  const pieces = streamReply('hel', 'lo').split(/(?<=\n\n)/);

  /** A stream that runs, opened by a client. */
  async function running(maxEntryBytes = 100_000) {
    const bench = await createBench({ maxEntryBytes });
    const source = createSource();
    const { attempt, done } = bench.ask(({ attempt }) => answers(attempt, source), { json });
    await done;
    const got = readBody(attempt.reply!.body);
    got.catch(() => undefined);
    return { ...bench, source, attempt, got };
  }

  it('is forwarded as it arrives and cached once it is complete', async () => {
    const { source, got, store, ask } = await running();
    for (const piece of pieces) {
      source.push(piece);
      expect(store.size.entries).toBe(0);
    }
    source.end();
    expect(await got).toBe(pieces.join(''));
    const second = ask(() => expect.unreachable(), { json });
    await second.done;
    expect(second.attempt.cache).toBe('hit');
    expect(second.attempt.reply).toMatchObject({
      stream: true,
      headers: { 'content-type': 'text/event-stream', age: '0' },
    });
    expect(await textOf(second.attempt)).toBe(pieces.join(''));
  });

  it('forwards pause, resume and cancel', async () => {
    const { source, attempt } = await running();
    const { body } = attempt.reply!;
    if (Buffer.isBuffer(body)) expect.unreachable();
    else {
      body.pause();
      body.resume();
      body.cancel(gone);
    }
    expect(source.calls).toEqual(['open', 'pause', 'resume', 'cancel']);
  });

  it('is not cached when its client disconnects', async () => {
    const { source, attempt, store } = await running();
    source.push(pieces[0]!);
    if (!Buffer.isBuffer(attempt.reply!.body)) attempt.reply!.body.cancel(gone);
    source.end();
    expect(store.size.entries).toBe(0);
  });

  it('is not cached when it is interrupted, and passes the failure on', async () => {
    const { source, got, store } = await running();
    source.push(pieces[0]!);
    const cut = new UpstreamError('stream_interrupted', 'cut');
    source.fail(cut);
    await expect(got).rejects.toBe(cut);
    expect(store.size.entries).toBe(0);
  });

  it('is not cached when its upstream reported a failure in it', async () => {
    const { source, attempt, got, store } = await running();
    source.push(pieces[0]!);
    attempt.signals!.failure = { status: 500, message: 'broken' };
    source.end();
    await got;
    expect(store.size.entries).toBe(0);
  });

  it('is not cached when it is too large, but still reaches its client', async () => {
    const { source, got, store } = await running(pieces.join('').length - 1);
    for (const piece of pieces) source.push(piece);
    source.end();
    expect(await got).toBe(pieces.join(''));
    expect(store.size.entries).toBe(0);
  });

  it('that arrived at once is cached too', async () => {
    const { get } = await createCounted();
    await get({ json });
    expect((await get({ json })).cache).toBe('hit');
  });

  it('answers a plain request, including the usage that the streaming client had not requested', async () => {
    const { get } = await createCounted();
    await get({ json });
    const plain = await get();
    expect([plain.cache, plain.reply!.stream, plain.reply!.headers]).toEqual([
      'hit',
      false,
      { 'content-type': 'application/json', age: '0' },
    ]);
    expect(JSON.parse(await textOf(plain))).toMatchObject(JSON.parse(plainReply('answer 1')) as object);
  });

  it('is rendered from a cached plain reply, with a usage chunk when the client requests one', async () => {
    const { get } = await createCounted();
    await get();
    const without = await get({ json });
    expect([without.cache, without.reply!.stream, without.reply!.headers]).toEqual([
      'hit',
      true,
      { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', age: '0' },
    ]);
    const text = await textOf(without);
    expect(text).toContain('answer 1');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(text).not.toContain('"prompt_tokens"');
    const withUsage = await get({ json: { stream: true, stream_options: { include_usage: true } } });
    expect(withUsage.cache).toBe('hit');
    expect(await textOf(withUsage)).toContain('"prompt_tokens":3');
  });

  it('that was cached without a usage chunk gets one for a client that requests it', async () => {
    const { get } = await createCounted();
    await get({ json });
    const withUsage = await get({ json: { stream: true, stream_options: { include_usage: true } } });
    expect(withUsage.cache).toBe('hit');
    expect(await textOf(withUsage)).toContain('"prompt_tokens":3');
    expect(await textOf(await get({ json }))).not.toContain('"prompt_tokens"');
  });

  it('is requested again when a cached plain reply cannot be rendered as one', async () => {
    const { ask } = await createBench();
    await ask(({ attempt }) => answers(attempt, Buffer.from('{"not":"a completion"}'))).done;
    const second = ask(({ attempt }) => answers(attempt, Buffer.from(streamReply('x'))), { json });
    await second.done;
    expect(second.attempt.cache).toBe('miss');
  });
});

/** A fake upstream that answers when the test tells it to. */
async function createSlow(limits: { maxEntryBytes?: number } = {}) {
  const bench = await createBench(limits);
  const waiting: { attempt: Attempt; answer(text?: string): void; fail(error: Error): void }[] = [];
  const ask = (parts: AskParts = {}) =>
    bench.ask(
      ({ attempt }) =>
        new Promise<void>((resolve, reject) => {
          waiting.push({
            attempt,
            answer(text = HELLO) {
              answers(attempt, Buffer.from(text));
              resolve();
            },
            fail: reject,
          });
          // As `send` does.
          attempt.cancellation.onCancel(reject);
        }),
      parts,
    );
  return { ...bench, waiting, ask };
}

describe('identical concurrent plain requests', () => {
  it('are sent once, and all get the reply', async () => {
    const { ask, waiting, clock } = await createSlow();
    const all = Array.from({ length: 50 }, () => ask());
    await clock.advance(1500);
    expect(waiting).toHaveLength(1);
    waiting[0]!.answer();
    await Promise.all(all.map(({ done }) => done));
    expect(all.map(({ attempt }) => attempt.cache)).toEqual(['miss', ...Array.from({ length: 49 }, () => 'shared')]);
    for (const { attempt } of all) expect(await textOf(attempt)).toBe(HELLO);
    expect([all[0]!.attempt.wait, all[1]!.attempt.wait]).toEqual([undefined, { from: 0, to: 1500 }]);
    expect(all[1]!.attempt.reply!.headers).toEqual({ 'content-type': 'application/json' });
    expect(clock.pending).toEqual([]);
  });

  it('get a separate, mutable reply each', async () => {
    const { ask, waiting, clock } = await createSlow();
    const [one, other] = [ask(), ask(), ask()].slice(1);
    await clock.advance(0);
    waiting[0]!.answer();
    await Promise.all([one!.done, other!.done]);
    one!.attempt.reply!.headers['x-mine'] = '1';
    expect(other!.attempt.reply!.headers).not.toHaveProperty('x-mine');
  });

  it.each<[string, AskParts]>([
    ['another key', { caller: createCaller({ keyId: 'b' }) }],
    ['a stream', { json: { stream: true } }],
    ['a forced refresh', { headers: { 'x-gateway-cache-force-refresh': 'true' } }],
    ['one with other limits', { timeouts: { connect: 1, firstByte: 1, firstContent: 1, idle: 1, total: 600_000 } }],
  ])('is not waited for by %s', async (_, parts) => {
    const { ask, waiting, clock } = await createSlow();
    const both = [ask(), ask(parts)];
    await clock.advance(0);
    expect(waiting).toHaveLength(2);
    for (const one of waiting) one.answer();
    await Promise.all(both.map(({ done }) => done));
  });

  it('are each sent at once when the first fails', async () => {
    const { ask, waiting, clock } = await createSlow();
    const all = [ask(), ask(), ask()];
    await clock.advance(0);
    const failure = new UpstreamError('overloaded', 'busy');
    waiting[0]!.fail(failure);
    await expect(all[0]!.done).rejects.toBe(failure);
    await clock.advance(0);
    expect(waiting).toHaveLength(3);
    waiting[2]!.answer();
    await all[2]!.done;
    waiting[1]!.answer();
    await all[1]!.done;
    expect(all.slice(1).map(({ attempt }) => attempt.cache)).toEqual(['miss', 'miss']);
  });

  it('are each sent when the reply is too large to cache', async () => {
    const { ask, waiting, clock } = await createSlow({ maxEntryBytes: 10 });
    const all = [ask(), ask(), ask()];
    await clock.advance(0);
    waiting[0]!.answer();
    await clock.advance(0);
    expect(waiting).toHaveLength(3);
    for (const one of waiting.slice(1)) one.answer();
    await Promise.all(all.map(({ done }) => done));
  });

  it('continue when the leader’s client disconnects: a follower sends the request instead', async () => {
    const { ask, waiting, clock } = await createSlow();
    const all = [ask(), ask(), ask(), ask()];
    await clock.advance(0);
    all[0]!.attempt.cancellation.cancel(gone);
    await expect(all[0]!.done).rejects.toBe(gone);
    await clock.advance(0);
    expect(waiting.map(({ attempt }) => attempt)).toEqual([all[0]!.attempt, all[1]!.attempt]);
    all[1]!.attempt.cancellation.cancel(gone);
    await clock.advance(0);
    const late = ask();
    await clock.advance(0);
    expect(waiting).toHaveLength(3);
    waiting[2]!.answer();
    await Promise.all([all[2]!.done, all[3]!.done, late.done]);
    expect([all[2]!.attempt.cache, all[3]!.attempt.cache, late.attempt.cache]).toEqual(['miss', 'shared', 'shared']);
  });

  it('end only for a follower whose client disconnects', async () => {
    const { ask, waiting, clock } = await createSlow();
    const all = [ask(), ask(), ask()];
    await clock.advance(10);
    all[1]!.attempt.cancellation.cancel(gone);
    await expect(all[1]!.done).rejects.toBe(gone);
    expect(all[1]!.attempt.wait).toEqual({ from: 0, to: 10 });
    waiting[0]!.answer();
    await Promise.all([all[0]!.done, all[2]!.done]);
    expect(waiting).toHaveLength(1);
  });

  it('continue when the leader ends: a follower without time left passes the lead to another', async () => {
    const { ask, waiting, clock } = await createSlow();
    const [first, second] = [ask(), ask()] as const;
    await clock.advance(899_001);
    const late = ask();
    await clock.advance(0);
    first.attempt.cancellation.cancel(gone);
    await expect(first.done).rejects.toBe(gone);
    await expect(second.done).rejects.toMatchObject({ code: 'timeout_total', status: 504 });
    await clock.advance(0);
    expect(waiting.map(({ attempt }) => attempt)).toEqual([first.attempt, late.attempt]);
    const third = ask();
    await clock.advance(899_001);
    waiting[1]!.fail(new UpstreamError('overloaded', 'busy'));
    await expect(late.done).rejects.toMatchObject({ code: 'overloaded' });
    await expect(third.done).rejects.toMatchObject({ code: expect.stringMatching(/^timeout_/) });
    expect(waiting).toHaveLength(2);
  });

  it('wait at most for their own total timeout', async () => {
    const { ask, waiting, clock } = await createSlow();
    const first = ask();
    await clock.advance(0);
    const second = ask();
    await clock.advance(900_000);
    await expect(second.done).rejects.toMatchObject({ code: 'timeout_total', status: 504 });
    waiting[0]!.answer();
    await first.done;
  });

  it('wait at most until the request’s deadline, and the error names which limit ended the wait', async () => {
    const { ask, waiting, clock } = await createSlow();
    const first = ask();
    await clock.advance(0);
    const second = ask({ deadline: 500 });
    await clock.advance(500);
    await expect(second.done).rejects.toMatchObject({ code: 'timeout_request', status: 504 });
    waiting[0]!.answer();
    await first.done;
  });

  it('leave no state behind', async () => {
    const { ask, waiting, clock } = await createSlow();
    const first = ask({ headers: { 'x-gateway-cache-namespace': 'n' } });
    await clock.advance(0);
    first.attempt.cancellation.cancel(gone);
    await clock.advance(0);
    const second = ask({ headers: { 'x-gateway-cache-namespace': 'n' } });
    await clock.advance(0);
    expect(waiting).toHaveLength(2);
    waiting[1]!.answer();
    await second.done;
    expect(second.attempt.cache).toBe('miss');
  });
});
