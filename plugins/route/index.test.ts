import { describe, expect, it } from 'vitest';
import { GatewayError, UpstreamError, type Group, type Route, type Target } from '../../src/plugin/index.ts';
import { createConfig, createExchange, createTarget, runPlugin } from '../../src/plugin/testing/index.ts';
import route from './index.ts';

const target = (path: string): Target => createTarget({ path });
const group = (
  members: readonly Route[],
  codes: readonly number[] = [429, 503],
  mode: Group['mode'] = 'fallback',
): Group => ({
  kind: 'group',
  path: 'config',
  mode,
  onStatusCodes: new Set(codes),
  members,
  weights: members.map(() => 1),
});
const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(target) as [Target, Target, Target, Target];
const busy = (status = 503): UpstreamError => new UpstreamError('overloaded', `no ${status}`, { status });

/** Walks a config whose targets fail as told. */
async function walk(
  tree: Route,
  failures: Readonly<Record<string, unknown>> = {},
  whileTrying: (path: string, exchange: ReturnType<typeof createExchange>) => void = () => {},
) {
  const exchange = createExchange({ config: createConfig({ route: tree }) });
  const tried: string[] = [];
  let nextCalls = 0;
  const failure: unknown = await runPlugin(route, {
    exchange,
    needs: {
      attempts: {
        async run(ctx, { path }) {
          expect(ctx.exchange).toBe(exchange);
          tried.push(path);
          whileTrying(path, exchange);
          if (path in failures) throw failures[path];
        },
      },
    },
    next: () => void (nextCalls += 1),
  }).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { tried, failure, nextCalls };
}

describe('route', () => {
  it.each<[string, Route]>([
    ['a config that is one target', a],
    ['a group of one', group([a], [], 'single')],
    ['groups in groups', group([group([group([a])])])],
  ])('tries the target of %s, then goes on', async (_, tree) => {
    expect(await walk(tree)).toEqual({ tried: ['a'], failure: undefined, nextCalls: 1 });
  });

  it('stops at the first target that answers', async () => {
    expect(await walk(group([a, b, c]), { a: busy() })).toEqual({
      tried: ['a', 'b'],
      failure: undefined,
      nextCalls: 1,
    });
  });

  it('fails as the last target failed, when all do, and does not go on', async () => {
    const last = busy(429);
    expect(await walk(group([a, b]), { a: busy(), b: last })).toEqual({
      tried: ['a', 'b'],
      failure: last,
      nextCalls: 0,
    });
  });

  it.each<[string, Error, boolean]>([
    ['a listed status of an upstream', busy(429), true],
    ['another status', busy(500), false],
    [
      'what the client did wrong, whatever its status',
      new GatewayError('invalid_request', 'no', { status: 503 }),
      false,
    ],
    ['a fault of a plugin', new Error('broken'), false],
  ])('for %s gives way: %s', async (_, failure, givesWay) => {
    const { tried } = await walk(group([a, b]), { a: failure });
    expect(tried).toEqual(givesWay ? ['a', 'b'] : ['a']);
  });

  it('asks nobody else for a client that has left', async () => {
    const { tried, failure } = await walk(group([a, b]), { a: busy() }, (_, { cancellation }) =>
      cancellation.cancel(new GatewayError('client_closed', 'gone')),
    );
    expect(tried).toEqual(['a']);
    expect(failure).toMatchObject({ status: 503 });
  });

  it.each<[string, Route, Record<string, unknown>, string[], boolean]>([
    ['an inner group first', group([group([a, b]), c]), { a: busy() }, ['a', 'b'], true],
    ['then what is beside it', group([group([a, b]), c]), { a: busy(), b: busy() }, ['a', 'b', 'c'], true],
    [
      'by each group’s own statuses: the inner gives way',
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
      'an inner failure that only the outer gives way to',
      group([group([a, b], [429]), c, d], [503]),
      { a: busy(503), c: busy(503) },
      ['a', 'c', 'd'],
      true,
    ],
  ])('nests: tries %s', async (_, tree, failures, tried, answered) => {
    const walked = await walk(tree, failures);
    expect([walked.tried, walked.failure === undefined]).toEqual([tried, answered]);
  });

  it('gives way in a load balance to another member, until none is left', async () => {
    const tree = group([a, b, c], [503], 'loadbalance');
    const { tried, failure } = await walk(tree, { a: busy(), b: busy(), c: busy() });
    expect(tried.toSorted()).toEqual(['a', 'b', 'c']);
    expect(failure).toMatchObject({ status: 503 });
  });

  it('never tries a member with the weight 0', async () => {
    const tree: Group = { ...group([a, b, c], [503], 'loadbalance'), weights: [0, 1, 0] };
    expect(await walk(tree, { b: busy() })).toMatchObject({ tried: ['b'], failure: { status: 503 } });
  });

  it('says so where no config was chosen before it', async () => {
    await expect(runPlugin(route, { needs: { attempts: {} } })).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining('before a config was chosen'),
    });
  });
});
