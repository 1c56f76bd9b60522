import { describe, expect, it } from 'vitest';
import { GatewayError, UpstreamError, type ErrorCode, type FailureKind } from '../../src/plugin/index.ts';
import { createAttempt, createExchange, createReply, createSource } from '../../src/plugin/testing/index.ts';
import type { Target } from '../../schemas/types.generated.ts';
import { failureOf, treeOf, walk, type SelectorSetup } from './target-selector.testkit.ts';

const target = (name: string): Target => ({ provider: `@${name}`, override_params: { model: `model-${name}` } });
const group = (targets: readonly Target[], codes: readonly number[] = [429, 503], mode = 'fallback'): Target =>
  ({ strategy: { mode, on_status_codes: codes }, targets }) as Target;
const [a, b, c] = ['a', 'b', 'c'].map(target) as [Target, Target, Target];
const fallback = (...targets: readonly Target[]): Target => ({ strategy: { mode: 'fallback' }, targets: [...targets] });
const late = new UpstreamError('timeout_request', 'late');
const unsent = (code: ErrorCode): UpstreamError => new UpstreamError(code, 'late', { ofGateway: true });
const busy = (status = 503): UpstreamError => new UpstreamError('overloaded', `no ${status}`, { status });
const run = (file: Target, setup?: SelectorSetup) => walk(treeOf(file), setup);

describe('an open breaker', () => {
  it('skips its target and records it', async () => {
    expect(await run(group([a, b, c]), { open: { a: 5, c: 5 }, failures: { b: busy() } })).toMatchObject({
      tried: ['b'],
      failure: { status: 503 },
      fallsThrough: [false],
      skipped: [
        ['a', 'circuit_open', 0],
        ['c', 'circuit_open', 1],
      ],
    });
  });

  it('of all targets: only the one whose cooldown ends first is tried', async () => {
    const tree = group([a, group([b, c])]);
    const open = { a: 9, b: 5, c: 7 };
    expect(await run(tree, { open })).toMatchObject({ tried: ['b'], failure: undefined, nextCalls: 1 });
    expect(await run(tree, { open, failures: { b: busy() } })).toMatchObject({
      tried: ['b'],
      failure: { status: 503 },
      nextCalls: 0,
    });
  });

  it.each<FailureKind>(['unsupported', 'context_length'])(
    'is overridden when the other targets cannot take the request: %s',
    async (kind) => {
      const failures = { a: failureOf(kind) };
      for (const tree of [fallback(a, b), fallback(b, a), fallback(fallback(b, a), c)])
        expect(await run(tree, { open: { b: 5, c: 9 }, failures })).toMatchObject({
          tried: ['a', 'b'],
          failure: undefined,
          reasons: [expect.any(String), 'last_resort'],
          fallsThrough: [true],
        });
      const unwell = { ...failures, b: busy() };
      expect(await run(fallback(a, b), { open: { b: 5 }, failures: unwell })).toMatchObject({
        failure: { status: 503 },
      });
    },
  );

  it.each<ErrorCode>(['provider_not_allowed', 'model_not_allowed'])(
    'is overridden when the caller may not use the other targets: %s',
    async (code) => {
      const failures = { b: new GatewayError(code, 'not yours') };
      const walked = await run(fallback(a, b), { open: { a: 5 }, failures });
      expect(walked).toMatchObject({ tried: ['b', 'a'], failure: undefined, reasons: ['fallback', 'last_resort'] });
      const unwell = await run(fallback(a, b), { open: { a: 5 }, failures: { ...failures, a: busy() } });
      expect(unwell).toMatchObject({ tried: ['b', 'a'], failure: { status: 503 } });
      expect(await run(fallback(b, a, c), { failures })).toMatchObject({ tried: ['b'], failure: { status: 403 } });
    },
  );

  it('still skips its target after an outage, after a failure that stops the chain, and for a model that has refused', async () => {
    const long = { failures: { a: failureOf('context_length') }, open: { b: 5 } };
    const stops: Target = { strategy: { mode: 'fallback', stop_on_errors: ['context_length'] }, targets: [a, b] };
    const twin: Target = { ...b, override_params: a.override_params! };
    for (const walked of [
      await run(fallback(a, b), { failures: { a: busy() }, open: { b: 5 } }),
      await run(stops, long),
      await run(fallback(a, twin), long),
    ])
      expect(walked).toMatchObject({ tried: ['a'], fallsThrough: [false] });
  });

  it('does not apply to a config of one target', async () => {
    expect(await run(a, { open: { a: 5 } })).toMatchObject({ tried: ['a'], reasons: ['only'], skipped: [] });
  });

  it.each<[string, unknown, string]>([
    ['an answer', undefined, 'a succeeded'],
    ['a failure of the upstream', busy(), 'a failed overloaded'],
    ['no credentials', failureOf('credentials'), 'a failed credentials'],
    ['a rejection by the gateway', new GatewayError('invalid_request', 'no'), 'a abandoned'],
    ['a target that does not support the task', failureOf('unsupported'), 'a abandoned'],
    ['a fault of a plugin', new Error('broken'), 'a abandoned'],
    ['silence until the operator’s deadline', late, 'a failed'],
    ['a full pool of the gateway', new UpstreamError('pool_exhausted', 'no'), 'a abandoned'],
    ['a host without sockets', new UpstreamError('sockets_exhausted', 'no'), 'a abandoned'],
    ['an address that the egress guard refuses', new UpstreamError('egress_refused', 'no'), 'a abandoned'],
    ['a reply above the gateway’s limit', new UpstreamError('reply_too_large', 'no'), 'a abandoned'],
    ['a time that was over before anything was sent', unsent('timeout_total'), 'a abandoned'],
    ['a request’s time that was over before anything was sent', unsent('timeout_request'), 'a abandoned'],
    ['a gateway that stops', new GatewayError('shutting_down', 'no'), 'a abandoned'],
  ])('records the outcome of %s', async (_, failure, reported) => {
    expect((await run(a, failure ? { failures: { a: failure } } : {})).health).toEqual([reported]);
  });

  it.each<[string, SelectorSetup]>([
    ['from the cache', { cached: true }],
    ['of a host that the caller chose', { exchange: { headers: { 'x-gateway-custom-host': 'h' } } }],
  ])('records no outcome for an answer %s', async (_, setup) => {
    expect((await run(a, setup)).health).toEqual(['a abandoned']);
  });

  it('ignores outcomes at a destination that the request itself names, such as a region', async () => {
    const during: SelectorSetup['during'] = (_, { attempts }) => {
      const attempt = attempts.at(-1)!;
      attempt.resolved = { ...createAttempt(createExchange()).resolved!, adHoc: true };
    };
    expect((await run(a, { during })).health).toEqual(['a abandoned']);
    expect((await run(a, { during, failures: { a: failureOf('connection') } })).health).toEqual(['a abandoned']);
  });

  it.each<[string, SelectorSetup, string[]]>([
    // A caller with a deadline of 1 ms must not block a target for all others.
    ['a caller chose', { exchange: { headers: { 'x-gateway-request-timeout': '1' } } }, ['a abandoned']],
    ['another target used most of', { failures: { a: busy() } }, ['a failed overloaded', 'b abandoned']],
    ['a host that the caller chose used', { exchange: { headers: { 'x-gateway-custom-host': 'h' } } }, ['a abandoned']],
  ])('records no outcome for the end of the time that %s', async (_, setup, reported) => {
    const failures = { a: late, b: late, ...setup.failures };
    expect((await run(group([a, b]), { ...setup, failures })).health).toEqual(reported);
  });

  it.each<[string, GatewayError | undefined, string[]]>([
    ['a stream that ends well', undefined, []],
    ['a stream that breaks', failureOf('stream_error'), ['a failed stream_error']],
    ['a client that leaves', new GatewayError('client_closed', 'gone'), []],
    // It streamed until the end: a slow reader is no evidence about the upstream.
    ['a stream that takes too long', failureOf('timeout_total'), []],
    ['the end of the request’s own time', late, []],
  ])('records the outcome of %s after the commit', async (_, error, more) => {
    const { health, exchange } = await run(a, {
      exchange: { reply: createReply(createSource()) },
    });
    exchange.end({ error });
    expect(health).toEqual(['a succeeded', ...more]);
  });
});
