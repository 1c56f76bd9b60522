import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Exchange, Group, StickySettings } from '../../src/core/kernel/index.ts';
import { createCaller, createExchange, createFakeClock, createTarget } from '../../src/plugin/testing/index.ts';
import { hashField } from '../../src/core/settings/compile/gateway-config.ts';
import { orderOf, stickyKey, stickyOrder } from './order.ts';
import { nameOf } from './target-selector.testkit.ts';

const HOUR = 3_600_000;
const WALL = Date.UTC(2026, 0, 1);

const balance = (weights: Readonly<Record<string, number>>, sticky?: Partial<StickySettings>): Group => ({
  kind: 'group',
  path: 'config',
  mode: 'loadbalance',
  fallsThrough: { kinds: new Set(), statusCodes: new Set(), stop: new Set() },
  sticky: { fields: [hashField('metadata.user')], ttlMs: HOUR, ...sticky },
  members: Object.keys(weights).map((name, index) =>
    createTarget({ path: `config.targets[${index}]`, provider: `@${name}`, overrideParams: { model: 'm' } }),
  ),
  weights: Object.values(weights),
});

const of = (user: string | undefined, parts: Partial<Exchange> = {}): Exchange =>
  createExchange({ metadata: user === undefined ? {} : { user }, ...parts });

/** Members in order of trial for a user, at a time. */
function ranking(group: Group, user: string, wall = WALL): string[] {
  const key = stickyKey(group.sticky!, of(user))!;
  return stickyOrder(group, group.sticky!, key, wall).map((member) => nameOf(member as never));
}

const weight = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 100 }),
  fc.double({ min: 0.01, max: 1, noNaN: true }),
);
const weights = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), weight, { maxKeys: 8 });
const user = fc.string({ maxLength: 40 });

describe('the order of a sticky load balance', () => {
  it('contains every member with a weight once', () => {
    fc.assert(
      fc.property(weights, user, (shares, who) => {
        const used = Object.keys(shares).filter((name) => shares[name]! > 0);
        expect(ranking(balance(shares), who).toSorted()).toEqual(used.toSorted());
      }),
    );
  });

  it('is the same for the same user in every process, config object and order of the list', () => {
    fc.assert(
      fc.property(weights, user, (shares, who) => {
        const reversed = Object.fromEntries(Object.entries(shares).toReversed());
        expect(ranking(balance(shares), who)).toEqual(ranking(balance({ ...shares }), who));
        expect(ranking(balance(shares), who)).toEqual(ranking(balance(reversed), who));
      }),
    );
  });

  it('does not change when another member is removed', () => {
    fc.assert(
      fc.property(weights, user, fc.nat(), (shares, who, pick) => {
        const list = Object.keys(shares);
        const gone = list[pick % Math.max(1, list.length)];
        const { [gone!]: _, ...rest } = shares;
        expect(ranking(balance(rest), who)).toEqual(ranking(balance(shares), who).filter((name) => name !== gone));
        expect(ranking(balance({ ...shares, ...(gone && { [gone]: 0 }) }), who)).toEqual(ranking(balance(rest), who));
      }),
    );
  });

  it('begins with each member in proportion to its weight', () => {
    const shares = { a: 1, b: 2, c: 7 };
    const group = balance(shares);
    const rounds = 20_000;
    const counts: Record<string, number> = { a: 0, b: 0, c: 0 };
    for (let round = 0; round < rounds; round += 1) counts[ranking(group, `user-${round}`)[0]!]! += 1;
    // Four standard deviations of such a draw; the users are fixed, so the test never flickers.
    for (const [name, share] of Object.entries(shares)) {
      const p = share / 10;
      expect(Math.abs(counts[name]! - rounds * p)).toBeLessThan(4 * Math.sqrt(rounds * p * (1 - p)));
    }
  });

  it('spreads the users of a failing member over the others by their weights', () => {
    const group = balance({ a: 10, b: 1, c: 3 });
    const seconds = Array.from({ length: 5000 }, (_, index) => ranking(group, `user-${index}`))
      .filter(([first]) => first === 'a')
      .map(([, second]) => second);
    expect(seconds.filter((name) => name === 'c').length / seconds.length).toBeCloseTo(0.75, 1);
  });

  it('distinguishes identical targets', () => {
    const twin = createTarget({ provider: '@same' });
    const group: Group = { ...balance({ a: 1, b: 1 }), members: [twin, { ...twin }] };
    const first = Array.from({ length: 200 }, (_, index) => {
      const key = stickyKey(group.sticky!, of(`user-${index}`))!;
      return group.members.indexOf(stickyOrder(group, group.sticky!, key, WALL)[0]!);
    });
    expect(new Set(first)).toEqual(new Set([0, 1]));
  });
});

describe('the lifetime of a choice', () => {
  const group = balance(Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`t${index}`, 1])));
  const users = Array.from({ length: 300 }, (_, index) => `user-${index}`);
  /** The users whose choice differs at the second time. */
  const moved = (from: number, to: number): number =>
    users.filter((who) => ranking(group, who, from)[0] !== ranking(group, who, to)[0]).length;

  it('is the ttl, after which a user’s choice is made again', () => {
    // One in twenty gets the same of twenty targets again.
    expect(moved(WALL, WALL + HOUR)).toBeGreaterThan(users.length * 0.85);
  });

  it('begins at a different time for each user, so that they never all move at once', () => {
    const step = HOUR / 10;
    for (let at = 0; at < 10; at += 1) {
      const count = moved(WALL + at * step, WALL + (at + 1) * step);
      expect(count).toBeGreaterThan(0);
      expect(count).toBeLessThan(users.length / 4);
    }
  });

  it('contains exactly one change within any ttl', () => {
    const step = HOUR / 20;
    for (const who of users.slice(0, 50)) {
      const choices = Array.from({ length: 20 }, (_, index) => ranking(group, who, WALL + index * step)[0]);
      expect(choices.filter((choice, index) => index > 0 && choice !== choices[index - 1]).length).toBeLessThanOrEqual(
        1,
      );
    }
  });
});

describe('the sticky key', () => {
  const keyOf = (fields: readonly string[], exchange: Exchange): string | undefined =>
    stickyKey({ fields: fields.map(hashField), ttlMs: HOUR }, exchange)?.toString('hex');
  const all = ['caller', 'metadata.user', 'headers.x-session', 'params.user'];
  const sent = (body: Readonly<Record<string, unknown>>): Exchange => createExchange({ json: body });

  it.each<[string, string, Exchange, Exchange]>([
    [
      'the gateway key',
      'caller',
      of('u', { caller: createCaller({ keyId: 'a' }) }),
      of('u', { caller: createCaller({ keyId: 'b' }) }),
    ],
    ['metadata', 'metadata.user', of('a'), of('b')],
    [
      'a field of the body',
      'params.prompt_cache_key',
      sent({ prompt_cache_key: 'a' }),
      sent({ prompt_cache_key: 'b' }),
    ],
    [
      'a field inside',
      'params.metadata.user_id',
      sent({ metadata: { user_id: 'a' } }),
      sent({ metadata: { user_id: 'b' } }),
    ],
    ['a number of the body', 'params.seed', sent({ seed: 1 }), sent({ seed: '1' })],
    [
      'a header',
      'headers.X-Session',
      createExchange({ headers: { 'x-session': 'a' } }),
      createExchange({ headers: { 'x-session': 'b' } }),
    ],
    [
      'a header of several lines',
      'headers.x-tags',
      createExchange({ headers: { 'x-tags': ['a', 'b'] } }),
      createExchange({ headers: { 'x-tags': ['a', 'c'] } }),
    ],
  ])('can be %s', (_, field, one, other) => {
    expect(keyOf([field], one)).toBeDefined();
    expect(keyOf([field], one)).toBe(keyOf([field], one));
    expect(keyOf([field], one)).not.toBe(keyOf([field], other));
  });

  it('covers all fields, including a missing one', () => {
    const keys = [of('u'), of('u', { caller: undefined }), of(undefined), of('x-session')].map((one) =>
      keyOf(all, one),
    );
    expect(new Set(keys).size).toBe(4);
  });

  it('is undefined when all fields are missing', () => {
    expect(keyOf(all, of(undefined, { caller: undefined }))).toBeUndefined();
    expect(keyOf(['metadata.toString', 'params.toString'], of('u'))).toBeUndefined();
    expect(keyOf(['params.user'], sent({ user: null }))).toBeUndefined();
  });

  it('does not confuse values that look alike when joined', () => {
    const fields = ['metadata.user', 'metadata.team'];
    const key = (metadata: Record<string, string>) => keyOf(fields, createExchange({ metadata }));
    expect(key({ user: 'a', team: 'b' })).not.toBe(key({ user: 'a","b' }));
    expect(key({ user: 'a' })).not.toBe(key({ team: 'a' }));
  });
});

describe('a load balance', () => {
  const group = balance({ a: 1, b: 1, c: 1 });
  const tools = { clock: createFakeClock(), random: () => 0 };

  it('uses the hash for a request with a sticky field', () => {
    const { order, reason } = orderOf(group, of('u'), tools);
    expect([[...order].map((member) => nameOf(member as never)), reason]).toEqual([ranking(group, 'u'), 'sticky']);
  });

  it('draws by weight without a sticky field or sticky settings', () => {
    for (const [one, exchange] of [
      [group, of(undefined)],
      [{ ...group, sticky: undefined }, of('u')],
    ] as const) {
      const { order, reason } = orderOf(one, exchange, tools);
      expect([[...order].map((member) => nameOf(member as never)), reason]).toEqual([['a', 'b', 'c'], 'weight']);
    }
  });
});
