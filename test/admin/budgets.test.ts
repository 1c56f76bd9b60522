import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../src/plugin/testing/index.ts';
import { ADMIN_TOKEN, startAdmin, type AdminGateway, type Answer } from './kit.ts';

let admin: AdminGateway;
let token: string;
beforeAll(async () => {
  admin = await startAdmin();
  token = await admin.token('admin');
});
afterAll(() => admin.close());

const ANY = { 'if-match': '*' };
const HOUR_MS = 3_600_000;

const call = (method: string, path: string, body?: object, by = token): Promise<Answer> =>
  admin.ask(method, path, { token: by, ...(body && { body }), headers: method === 'GET' ? {} : ANY });

const problem = ({ status, json }: Answer): string => `${status} ${json.code}`;

const BUDGET = { node: 'team:ads', cap: '100 USD', period: 'month', models: ['claude-*'] };

describe('budgets', () => {
  it('are listed together, whether they are objects or parts of a team, with the place to change them', async () => {
    await call('POST', '/teams', {
      id: 'ads',
      spec: {
        budgets: [
          { cap: '10 USD', period: 'day' },
          { cap: '5000 tokens', period: 'total' },
        ],
      },
    });
    expect((await call('POST', '/budgets', { id: 'ads-claude', spec: BUDGET })).json).toMatchObject({
      id: 'ads-claude',
      part_of: null,
      spec: BUDGET,
      spent: 0,
    });
    const { items } = (await call('GET', '/budgets')).json as { items: Record<string, unknown>[] };
    expect(items.map((one) => [one['id'], one['owner'], one['part_of'], one['unit'], one['cap']])).toEqual([
      ['ads-claude', 'store', null, 'nano_usd', 100_000_000_000],
      ['team:ads:day:usd', 'store', 'teams/ads', 'nano_usd', 10_000_000_000],
      ['team:ads:total:tokens', 'store', 'teams/ads', 'tokens', 5000],
      [
        'team:search:month:usd',
        expect.stringMatching(/^teams\.yaml:\d+$/),
        'teams/search',
        'nano_usd',
        500_000_000_000,
      ],
    ]);
    expect((await call('GET', '/budgets?node=team:search')).json.items.length).toBe(1);
  });

  it('are changed where they are', async () => {
    expect((await call('PATCH', '/budgets/ads-claude', { spec: { cap: '200 USD' } })).json).toMatchObject({
      cap: 200_000_000_000,
    });
    expect(problem(await call('PATCH', '/budgets/team:ads:day:usd', { spec: { cap: '1 USD' } }))).toBe(
      '409 part_of_object',
    );
    expect(problem(await call('DELETE', '/budgets/team:search:month:usd'))).toBe('409 owned_by_files');
    expect(problem(await call('PATCH', '/budgets/ads-claude', { spec: { cap: null } }))).toBe('422 invalid_body');
  });

  it('count each thing of a node once', async () => {
    const same = await call('POST', '/budgets', { id: 'twin', spec: { ...BUDGET, cap: '1 USD' } });
    expect([problem(same), same.json.detail]).toEqual([
      '409 exists',
      'Another budget counts the same: "team:ads:month:usd:claude-*".',
    ]);
    expect(
      problem(
        await call('POST', '/budgets', { id: 'twin', spec: { node: 'team:search', cap: '1 USD', period: 'month' } }),
      ),
    ).toBe('409 exists');
    expect(
      problem(
        await call('PATCH', '/teams/ads', {
          spec: { budgets: [{ cap: '1 USD', period: 'month', models: ['claude-*'] }] },
        }),
      ),
    ).toBe('409 exists');
    const none = await call('POST', '/budgets', {
      id: 'twin',
      spec: { ...BUDGET, node: 'team:none', time_zone: 'Mars' },
    });
    expect([problem(none), none.json.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
      '422 invalid_body',
      ['/spec/time_zone', '/spec/node'],
    ]);
  });

  it('have the periods of `state.time_zone` if they name no time zone', async () => {
    const other = await startAdmin({ state: { time_zone: 'Asia/Tokyo' } });
    try {
      const path = '/budgets/team:search:month:usd';
      const { json } = await other.ask('GET', path, { token: await other.token('admin') });
      expect(json.period_start).toMatch(/T15:00:00\.000Z$/);
    } finally {
      await other.close();
    }
  });

  it('are adjusted exactly, once for each Idempotency-Key, and by an operator only a little within a day', async () => {
    const operator = await admin.token('operator');
    const adjust = (by: string, who: string, key?: string): Promise<Answer> =>
      admin.ask('POST', '/budgets/team:ads:day:usd:adjust', {
        token: who,
        body: { by, reason: 'a test' },
        headers: { ...ANY, ...(key && { 'idempotency-key': key }) },
      });
    expect((await adjust('0.000000007 USD', token)).json.spent).toBe(7);
    for (let times = 0; times < 3; times += 1)
      expect((await adjust('2.5 USD', token, 'once')).json.spent).toBe(2_500_000_007);
    expect((await adjust('-0.6 USD', operator)).json.spent).toBe(1_900_000_007);
    expect((await adjust('-0.4 USD', operator)).json.spent).toBe(1_500_000_007);
    expect(problem(await adjust('0.000000001 USD', operator))).toBe('403 forbidden');
    expect(problem(await adjust('5 tokens', token))).toBe('422 invalid_body');
    expect(problem(await adjust('1.5 tokens', token))).toBe('422 invalid_body');
    expect((await call('GET', '/budgets/team:ads:day:usd')).json.spent).toBe(1_500_000_007);
    const rows = (await call('GET', '/audit?object_kind=counter&limit=10')).json.items as {
      before: object;
      after: object;
      reason: string;
    }[];
    expect(rows.map(({ before, after, reason }) => [before, after, reason])[0]).toEqual([
      { spent: 1_900_000_007 },
      { spent: 1_500_000_007 },
      'budgets.adjust: a test',
    ]);
  });

  it('are adjusted by an operator only a little, however many adjustments there are and however many at once', async () => {
    const other = await startAdmin();
    try {
      const operator = await other.token('operator');
      const adjust = async (by: string): Promise<number> => {
        const asked = { token: operator, body: { by, reason: 'a test' }, headers: ANY };
        return (await other.ask('POST', '/budgets/team:search:month:usd:adjust', asked)).status;
      };
      // Ten percent of the cap are 50 USD.
      const together = await Promise.all(Array.from({ length: 12 }, () => adjust('-4 USD')));
      expect(together.filter((status) => status === 200).length).toBe(12);
      // As many rows as a page of the audit has.
      for (let times = 0; times < 20; times += 1)
        await Promise.all(Array.from({ length: 10 }, () => adjust('-0.000001 USD')));
      expect(await adjust('-40 USD')).toBe(403);
      const rest = await Promise.all(Array.from({ length: 12 }, () => adjust('-1.5 USD')));
      expect(rest.filter((status) => status === 200).length).toBe(1);
    } finally {
      await other.close();
    }
  });

  it('keep their node from being deleted', async () => {
    const used = await call('DELETE', '/teams/ads');
    expect([problem(used), used.json.detail]).toEqual(['409 in_use', '1 object names it: budgets/ads-claude.']);
  });
});

describe('limits', () => {
  it('of a node are written in one place: its spec or one object', async () => {
    await call('POST', '/keys', { id: 'limited', spec: { limits: { requests: '60/min' } } });
    expect(problem(await call('POST', '/limits', { id: 'more', spec: { node: 'key:limited', concurrency: 2 } }))).toBe(
      '409 exists',
    );
    expect((await call('POST', '/limits', { id: 'ads', spec: { node: 'team:ads', concurrency: 2 } })).status).toBe(201);
    expect(problem(await call('PATCH', '/teams/ads', { spec: { limits: { concurrency: 3 } } }))).toBe('409 exists');
    expect((await call('PATCH', '/limits/ads', { spec: { requests: '10/s', concurrency: null } })).json.spec).toEqual({
      node: 'team:ads',
      requests: '10/s',
    });
    expect(problem(await call('PATCH', '/limits/ads', { spec: { requests: null } }))).toBe('422 invalid_body');
    expect((await call('GET', '/limits?node=team:ads')).json.items.map(({ id }: { id: string }) => id)).toEqual([
      'ads',
    ]);
  });
});

describe('an operator', () => {
  it('changes a tenth of a cap again after a day, and no more of it before', async () => {
    const clock = createFakeClock(Date.UTC(2026, 10, 10));
    const other = await startAdmin({
      clock,
      state: { store: { type: 'memory' } },
      admin: { token: ADMIN_TOKEN, role: 'admin' },
    });
    const made = await other.ask('POST', '/tokens', { token: ADMIN_TOKEN, body: { id: 'op', role: 'operator' } });
    const adjust = async (by: string): Promise<number> => {
      const path = '/budgets/team:search:month:usd:adjust';
      const asked = { token: made.json.token as string, body: { by, reason: 'a test' }, headers: ANY };
      return (await other.ask('POST', path, asked)).status;
    };
    try {
      const statuses = [await adjust('50 USD'), await adjust('1 USD')];
      await clock.advance(23 * HOUR_MS);
      statuses.push(await adjust('1 USD'));
      await clock.advance(2 * HOUR_MS);
      statuses.push(await adjust('-50 USD'), await adjust('1 USD'));
      expect(statuses).toEqual([200, 403, 403, 200, 403]);
    } finally {
      await other.close();
    }
  });
});
