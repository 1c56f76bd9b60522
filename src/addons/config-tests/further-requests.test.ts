import { describe, expect, it } from 'vitest';
import type { CaseOutcome } from './outcome.ts';
import { ENTRIES, runAll, TARGETS } from './run.testkit.ts';

const upstream = [{ answer: 'Hello' }];
const expected = { expect: {} };
const CACHED = { ...TARGETS.openai, cache: { mode: 'exact', max_age: 3600 } };

const reported = (outcomes: readonly CaseOutcome[]) =>
  outcomes.map(({ status, headers, calls, faults }) => [
    status,
    headers['x-gateway-cache-status'],
    calls.length,
    ...faults,
  ]);

describe('a further request', () => {
  it('inherits the first request, and can be answered from the cache', async () => {
    const outcomes = await runAll(CACHED, { upstream, next: [expected, expected] });
    expect(reported(outcomes)).toEqual([
      [200, 'MISS', 1],
      [200, 'HIT', 0],
      [200, 'HIT', 0],
    ]);
    expect(outcomes.map(({ text }) => text)).toEqual([outcomes[0]?.text, outcomes[0]?.text, outcomes[0]?.text]);
  });

  it('may differ from the first', async () => {
    const headers = { 'x-gateway-cache-force-refresh': 'true' };
    const request = { path: '/v1/messages', body: { model: 'any', max_tokens: 9, messages: [] as object[] } };
    request.body.messages.push({ role: 'user', content: 'Hi' });
    const outcomes = await runAll(CACHED, {
      upstream,
      next: [
        { headers, upstream, ...expected },
        { request, upstream, ...expected },
      ],
    });
    expect(reported(outcomes)).toEqual([
      [200, 'MISS', 1],
      [200, 'REFRESH', 1],
      [200, 'MISS', 1],
    ]);
    expect(JSON.parse(outcomes[2]!.text)).toMatchObject({ type: 'message' });
  });

  it('is sent after its delay', async () => {
    const next = [
      { after: '59m', ...expected },
      { after: '2m', upstream, ...expected },
      // A week is longer than any request.
      { after: '168h', upstream, ...expected },
    ];
    expect(reported(await runAll(CACHED, { upstream, next }))).toEqual([
      [200, 'MISS', 1],
      [200, 'HIT', 0],
      [200, 'MISS', 1],
      [200, 'MISS', 1],
    ]);
  });

  it('sees the circuit breakers in the state that earlier requests left', async () => {
    const breaker = { failures: 2, min_requests: 2, cooldown: '30s' };
    const targets = [TARGETS.openai, TARGETS.claude];
    const failing = [{ status: 503 }, { answer: 'Hello' }];
    const next = [
      { upstream: failing, ...expected },
      { upstream, ...expected },
      { after: '31s', upstream, ...expected },
    ];
    const outcomes = await runAll(
      { strategy: { mode: 'fallback' }, circuit_breaker: breaker, targets },
      { upstream: failing, next },
    );
    expect(outcomes.map(({ attempts, faults }) => [...attempts.map(({ provider }) => provider), ...faults])).toEqual([
      ['@openai', '@claude'],
      ['@openai', '@claude'],
      ['@claude'],
      ['@openai'],
    ]);
  });

  it('has its own draws and its own counters', async () => {
    const targets = [
      { ...TARGETS.openai, weight: 1 },
      { ...TARGETS.claude, weight: 1 },
    ];
    const outcomes = await runAll(
      { strategy: { mode: 'loadbalance' }, targets },
      {
        draws: [0.9],
        upstream,
        next: [
          { upstream, ...expected },
          { draws: [0.1], upstream, ...expected },
        ],
      },
    );
    expect(outcomes.map(({ attempts }) => attempts[0]?.provider)).toEqual(['@claude', '@claude', '@openai']);
    const requests = outcomes.map(({ metrics }) => metrics.find(({ name }) => name === 'gatehouse_requests_total'));
    expect(requests.map((one) => one?.value)).toEqual([1, 1, 1]);
    expect(new Set(outcomes.map(({ headers }) => headers['x-gateway-request-id'])).size).toBe(3);
  });

  it.each([
    ['each has its own', 'key', 'MISS', upstream],
    ['all of a config share it', 'config', 'HIT', []],
  ])('may come from another key: in a cache where %s', async (_, scope, second, answers) => {
    const keys = { keys: ['one', 'two'].map((id) => ({ id, key: `\${env:${id.toUpperCase()}_KEY}` })) };
    const outcomes = await runAll(
      { ...CACHED, cache: { mode: 'exact', scope } },
      { key: 'one', upstream, next: [{ key: 'two', upstream: [...answers], ...expected }, expected] },
      { keys },
    );
    expect(outcomes.map(({ headers }) => headers['x-gateway-cache-status'])).toEqual(['MISS', second, 'HIT']);
    expect(outcomes.flatMap(({ faults }) => faults)).toEqual([]);
  });

  it('is rejected once its key has expired', async () => {
    const keys = { keys: [{ id: 'team', key: '${env:TEAM_KEY}', expires_at: '2026-01-01T01:00:00Z' }] };
    const outcomes = await runAll(
      TARGETS.openai,
      { key: 'team', upstream, next: [{ after: '2h', ...expected }] },
      { keys, catalog: { providers: ENTRIES } },
    );
    expect(outcomes.map(({ status, faults }) => [status, ...faults])).toEqual([[200], [401]]);
  });

  it('that calls an upstream needs its own answer', async () => {
    const outcomes = await runAll(TARGETS.openai, { upstream: [...upstream], next: [expected] });
    expect(reported(outcomes)).toEqual([
      [200, undefined, 1],
      [502, undefined, 1, expect.stringMatching(/^call 1 \(POST https.*\) has no answer: `upstream` has no answers$/)],
    ]);
  });
});

describe('a semantic cache', () => {
  const near = { ...TARGETS.openai, cache: { mode: 'semantic', embeddings: '@openai/vectors', threshold: 0.9 } };
  const ask = (content: string) => ({
    request: { body: { model: 'any', messages: [{ role: 'user', content }] } },
  });
  const vectors = (...values: readonly (readonly number[])[]) => ({
    body: { data: values.map((embedding, index) => ({ index, embedding })) },
  });

  it('gets its vectors from the answers of the case, in the order of the calls', async () => {
    const outcomes = await runAll(near, {
      upstream,
      next: [
        { ...ask('hello you'), upstream: [vectors([1, 0], [1, 0.1])], ...expected },
        { ...ask('good dog'), upstream: [vectors([0, 1]), ...upstream], ...expected },
        { ...ask('hello 2 you'), upstream, ...expected },
        { ...ask('hello me'), upstream: [{ status: 503 }, ...upstream], ...expected },
        { ...ask('hello us'), upstream: [{ fault: 'hang' }, ...upstream], ...expected },
      ],
    });
    expect(reported(outcomes)).toEqual([
      [200, 'MISS', 1],
      [200, 'SEMANTIC_HIT', 1],
      [200, 'MISS', 2],
      [200, 'MISS', 1],
      [200, 'MISS', 2],
      [200, 'MISS', 2],
    ]);
    expect(outcomes[1]?.calls[0]).toMatchObject({ body: { model: 'vectors', input: ['hello you', 'Hi'] } });
    expect(outcomes[1]?.attempts[0]?.outbound).toBeUndefined();
  });
});
