import { describe, expect, it } from 'vitest';
import { GatewayError, UpstreamError } from '../../src/plugin/index.ts';
import { createFakeClock, runPlugin } from '../../src/plugin/testing/index.ts';
import type { Target } from '../../schemas/types.generated.ts';
import route from './index.ts';
import { condition, failureOf, treeOf, walk, type SelectorSetup } from './target-selector.testkit.ts';

const target = (name: string): Target => ({ provider: `@${name}`, override_params: { model: `model-${name}` } });
const group = (targets: readonly Target[], codes: readonly number[] = [429, 503], mode = 'fallback'): Target =>
  ({ strategy: { mode, on_status_codes: codes }, targets }) as Target;
const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(target) as [Target, Target, Target, Target];
const late = new UpstreamError('timeout_request', 'late');
const busy = (status = 503): UpstreamError => new UpstreamError('overloaded', `no ${status}`, { status });
const run = (file: Target, setup?: SelectorSetup) => walk(treeOf(file), setup);

describe('route', () => {
  it.each<[string, Target]>([
    ['a config of one target', a],
    ['a group of one', { targets: [a] }],
    ['nested groups', group([group([group([a])])])],
  ])('tries the target of %s, then goes on', async (_, tree) => {
    expect(await run(tree)).toMatchObject({ tried: ['a'], failure: undefined, nextCalls: 1 });
  });

  it('stops at the first target that answers', async () => {
    expect(await run(group([a, b, c]), { failures: { a: busy() } })).toMatchObject({
      tried: ['a', 'b'],
      failure: undefined,
      nextCalls: 1,
    });
  });

  it('throws the last target’s failure when all fail, and does not call next', async () => {
    const last = busy(429);
    const { tried, failure, nextCalls } = await run(group([a, b]), { failures: { a: busy(), b: last } });
    expect([tried, failure, nextCalls]).toEqual([['a', 'b'], last, 0]);
  });

  it.each<[string, Error, boolean]>([
    ['a listed status of an upstream', busy(429), true],
    ['another status', busy(500), false],
    ['an invalid request, whatever its status', new GatewayError('invalid_request', 'no', { status: 503 }), false],
    ['a fault of a plugin', new Error('broken'), false],
  ])('for %s gives way: %s', async (_, failure, fallsThrough) => {
    const { tried } = await run(group([a, b]), { failures: { a: failure } });
    expect(tried).toEqual(fallsThrough ? ['a', 'b'] : ['a']);
  });

  it('tries no further target for a disconnected client', async () => {
    const { tried, failure, health } = await run(group([a, b]), {
      failures: { a: busy() },
      during: (_, { cancellation }) => cancellation.cancel(new GatewayError('client_closed', 'gone')),
    });
    expect([tried, health]).toEqual([['a'], ['a abandoned']]);
    expect(failure).toMatchObject({ status: 503 });
  });

  it.each<[string, Target, Record<string, unknown>, string[], boolean]>([
    ['an inner group first', group([group([a, b]), c]), { a: busy() }, ['a', 'b'], true],
    ['then the member after it', group([group([a, b]), c]), { a: busy(), b: busy() }, ['a', 'b', 'c'], true],
    [
      'by each group’s own statuses: the inner falls through',
      group([group([a, b], [503]), c], [500]),
      { a: busy(503), b: busy(500) },
      ['a', 'b', 'c'],
      true,
    ],
    [
      'by each group’s own statuses: the outer does not',
      group([group([a, b], [503]), c], [429]),
      { a: busy(503), b: busy(500) },
      ['a', 'b'],
      false,
    ],
    [
      'an inner failure that only the outer group lets fall through',
      group([group([a, b], [429]), c, d], [503]),
      { a: busy(503), c: busy(503) },
      ['a', 'c', 'd'],
      true,
    ],
  ])('nests: tries %s', async (_, tree, failures, tried, answered) => {
    const walked = await run(tree, { failures });
    expect([walked.tried, walked.failure === undefined]).toEqual([tried, answered]);
  });

  it('falls through to the other members of a load balance', async () => {
    const tree = group([a, b, c], [503], 'loadbalance');
    const { tried, failure } = await run(tree, { failures: { a: busy(), b: busy(), c: busy() } });
    expect(tried.toSorted()).toEqual(['a', 'b', 'c']);
    expect(failure).toMatchObject({ status: 503 });
  });

  it('never tries or predicts a member of weight 0', async () => {
    const weighted = [a, { ...b, weight: 1 }, c].map((one) => ({ weight: 0, ...one }));
    const walked = await run(group(weighted, [503], 'loadbalance'), { failures: { b: busy() } });
    expect(walked).toMatchObject({ tried: ['b'], failure: { status: 503 }, fallsThrough: [false] });
  });

  it('fails with internal_error when no config was chosen before it', async () => {
    await expect(runPlugin(route, { needs: { attempts: {}, health: {} } })).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining('before a config was chosen'),
    });
  });
});

describe('a conditional', () => {
  const byModel: Target = {
    strategy: {
      mode: 'conditional',
      conditions: [condition('large', 'big')],
      default: 'small',
    },
    targets: [
      { ...a, name: 'big' },
      { ...b, name: 'small' },
    ],
  };

  it.each([
    ['large', 'a', 'condition'],
    ['other', 'b', 'otherwise'],
  ])('sends model %s only to %s', async (model, name, reason) => {
    const setup = { exchange: { json: { model } }, failures: { [name]: busy() } };
    expect(await run(byModel, setup)).toMatchObject({ tried: [name], reasons: [reason], fallsThrough: [false] });
  });

  it('that fails inside a fallback falls through to the next member, not to its other branch', async () => {
    const walked = await run(group([byModel, c]), {
      exchange: { json: { model: 'large' } },
      failures: { a: busy() },
    });
    expect(walked).toMatchObject({ tried: ['a', 'c'], failure: undefined, reasons: ['condition', 'fallback'] });
  });

  it('does not count as a next target when its branch for this request has an open breaker', async () => {
    const setup = { exchange: { json: { model: 'large' } }, failures: { c: busy() }, open: { a: 10 } };
    expect(await run(group([c, byModel]), setup)).toMatchObject({ tried: ['c'], fallsThrough: [false] });
    expect(await run(group([c, byModel]), { ...setup, open: { b: 10 } })).toMatchObject({
      tried: ['c', 'a'],
      fallsThrough: [true],
      reasons: ['first', 'fallback'],
    });
  });
});

describe('why a target is tried', () => {
  it.each<[string, Target, SelectorSetup, string[]]>([
    ['only', a, {}, ['only']],
    ['only, in a group of one', { targets: [a] }, {}, ['only']],
    [
      'first, then fallback',
      group([a, b, c]),
      { failures: { a: busy(), b: busy() } },
      ['first', 'fallback', 'fallback'],
    ],
    ['fallback, when the first is skipped', group([a, b]), { open: { a: 5 } }, ['fallback']],
    ['weight, then fallback', group([a, b], [503], 'loadbalance'), { failures: { b: busy() } }, ['weight', 'fallback']],
    ['weight, when another is skipped', group([a, b], [503], 'loadbalance'), { open: { b: 5 } }, ['weight']],
    ['first of an inner group', group([group([a, b]), c]), {}, ['first']],
    [
      'fallback through an inner group',
      group([a, group([b, c], [503], 'loadbalance')]),
      { failures: { a: busy() } },
      ['first', 'fallback'],
    ],
    ['probe', group([a, b]), { probing: ['a'] }, ['probe']],
    ['last resort', group([a, b]), { open: { a: 9, b: 5 }, probing: ['b'] }, ['last_resort']],
  ])('%s', async (_, tree, setup, reasons) => {
    expect((await run(tree, setup)).reasons).toEqual(reasons);
  });
});

describe('the deadline of a request', () => {
  it('ends the chain: no target is tried after it', async () => {
    const clock = createFakeClock();
    const setup: SelectorSetup = { clock, failures: { a: busy(), b: busy() }, during: () => clock.advance(60) };
    const walked = await run(group([a, b, c]), { ...setup, exchange: { deadline: 120 } });
    expect(walked).toMatchObject({ tried: ['a', 'b'], failure: { status: 503 } });
    expect(await run(group([a, b, c]), { ...setup, exchange: { deadline: 1000 } })).toMatchObject({
      failure: undefined,
    });
  });

  it('is the error when it ends the request', async () => {
    expect(await run(group([a, b]), { failures: { a: busy(), b: late } })).toMatchObject({ failure: late });
  });

  it('that passed before the first try is reported with its length', async () => {
    const clock = createFakeClock();
    await clock.advance(50);
    expect(await run(a, { clock, exchange: { startedAt: 10, deadline: 30 } })).toMatchObject({
      tried: [],
      failure: { code: 'timeout_request', status: 504, message: expect.stringContaining('20 ms') },
    });
  });
});

describe('the error for the client when no target answers', () => {
  const any: Target = {
    strategy: {
      mode: 'fallback',
      on_errors: ['default', 'auth', 'not_found', 'invalid_request', 'content_filter'],
    },
    targets: [a, b, c],
  };
  const refused = failureOf('invalid_request');
  const strict = new GatewayError('unsupported_parameter', 'no');

  it.each<[string, Record<string, unknown>, string]>([
    ['the last failure', { a: failureOf('overloaded'), b: failureOf('rate_limit'), c: failureOf('overloaded') }, 'c'],
    ['not the last target’s rejection of the request', { a: refused, b: failureOf('overloaded'), c: refused }, 'b'],
    ['nor the gateway’s rejection before sending', { a: failureOf('timeout_total'), b: strict }, 'a'],
    [
      'nor its refused credentials',
      { a: failureOf('overloaded'), b: failureOf('auth'), c: failureOf('not_found') },
      'a',
    ],
    [
      'nor its too small context window',
      { a: failureOf('connection'), b: failureOf('context_length'), c: refused },
      'a',
    ],
    ['the last refusal where all refuse', { a: failureOf('not_found'), b: failureOf('auth'), c: refused }, 'c'],
    [
      'the content filter’s refusal',
      { a: failureOf('overloaded'), b: failureOf('content_filter'), c: failureOf('content_filter') },
      'c',
    ],
    ['a fault of the gateway', { a: failureOf('overloaded'), b: new Error('broken') }, 'b'],
  ])('%s', async (_, failures, reported) => {
    expect((await run(any, { failures })).failure).toBe(failures[reported]);
  });
});
