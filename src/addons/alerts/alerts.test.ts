import { describe, expect, it } from 'vitest';
import { Secret } from '../../plugin/index.ts';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { familiesOf, openFamilies } from '../../core/record/metrics/metrics.ts';
import { ALERT_METRICS } from './metrics.ts';
import { compileAlerts, type AlertSettings } from './settings/compile-alerts.ts';
import type { LedgerRow } from '../../core/ports/ledger.ts';
import type { StateStore } from '../../core/ports/store.ts';
import { sameThreadStore } from '../budgets/store/sqlite/same-thread-store.testkit.ts';
import type { SmallRequest } from '../../core/upstream/types.ts';
import { Tenants } from '../../core/settings/compile/tenants.ts';
import type { AlertTree } from '../../core/tenants/tree.ts';
import { EXHAUSTED_BIT, type Alert } from '../../core/ports/alert.ts';
import { KeyWatch } from './key-watch.ts';
import { Alerts } from './alerts.ts';
import { LostLeases } from '../budgets/state/usage-counters.ts';
import { UnknownPrices } from './unknown-prices.ts';

const HOUR_MS = 3_600_000;
const DIGEST = `sha256:${'0'.repeat(64)}`;
const TEAMS = { organizations: { acme: {} }, teams: { search: { organization: 'acme' } } };
const TREE = Tenants.of({ keys: { keys: [{ id: 'ci', digest: DIGEST, team: 'search' }] }, teams: TEAMS });
const webhook = (more: object = {}) => ({
  id: 'ops',
  url: new Secret('https://alerts.example/'),
  secret: new Secret(`whsec_${Buffer.alloc(32, 7).toString('base64')}`),
  ...more,
});

interface Event {
  readonly type: string;
  readonly nodes: readonly string[];
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One process, and what its webhook got. */
function open(
  clock: ReturnType<typeof createFakeClock>,
  store: Partial<StateStore> | undefined,
  {
    settings = compileAlerts({ webhooks: [webhook()] }),
    tree = TREE,
  }: { settings?: AlertSettings; tree?: AlertTree } = {},
) {
  const events: Event[] = [];
  const exchange = ({ body = '' }: SmallRequest) => {
    events.push(JSON.parse(body) as Event);
    return Promise.resolve({ status: 200, headers: {}, text: '' });
  };
  const alerts = new Alerts({
    clock,
    log: { error() {}, warn() {} } as never,
    families: familiesOf(openFamilies(), ALERT_METRICS),
    exchange,
  });
  alerts.apply(settings);
  alerts.start(() => store as StateStore | undefined, tree);
  return { alerts, events };
}

const atPercent = (percent: number, bits: readonly number[], more: Partial<Alert> = {}): Alert => ({
  kind: 'budget',
  nodes: ['team:search'],
  text: 'The budget has reached an alert.',
  data: { budget: 'team:search:month:usd', percent },
  once: { counter: { node: 'team:search month usd', period: 1 }, bits },
  ...more,
});

describe('alerts of several processes', () => {
  it('are raised by one of them', async () => {
    const clock = createFakeClock();
    const store = sameThreadStore(clock);
    const processes = [open(clock, store), open(clock, store), open(clock, store)];
    for (const { alerts } of processes) for (let at = 0; at < 2; at += 1) alerts.raise(atPercent(80, [19, 18]));
    for (const { alerts } of processes) alerts.raise(atPercent(50, [19]));
    for (const { alerts } of processes) alerts.raise(atPercent(100, [19, 18, 7]));
    for (const { alerts } of processes) alerts.raise(atPercent(84, [EXHAUSTED_BIT], { kind: 'exhausted' }));
    await clock.advance(0);
    const raised = processes.flatMap(({ events }) => events.map(({ type, data }) => `${type} ${String(data.percent)}`));
    expect(raised.toSorted()).toEqual(['budget 100', 'budget 80', 'exhausted 84']);
  });

  it('are asked about a few at a time, each of two thousand that come at once', async () => {
    const clock = createFakeClock();
    const asked = { all: 0, now: 0, most: 0 };
    const notify: StateStore['counters']['notify'] = async () => {
      asked.all += 1;
      asked.most = Math.max(asked.most, (asked.now += 1));
      await clock.sleep(1);
      asked.now -= 1;
      return false;
    };
    const { alerts } = open(clock, { counters: { notify } as unknown as StateStore['counters'] });
    for (let at = 0; at < 2000; at += 1)
      alerts.raise(atPercent(80, [18], { once: { counter: { node: `n${at}`, period: 1 }, bits: [18] } }));
    await clock.advance(1000);
    expect(asked).toEqual({ all: 2000, now: 0, most: 4 });
  });

  it('are raised by each of them while the store does not answer', async () => {
    const clock = createFakeClock();
    const counters = { notify: () => Promise.reject(new Error('down')) } as unknown as StateStore['counters'];
    const { alerts, events } = open(clock, { counters });
    for (let at = 0; at < 3; at += 1) alerts.raise(atPercent(80, [18]));
    await clock.advance(0);
    expect(events).toHaveLength(1);
  });
});

describe('a webhook', () => {
  it.each([
    [{}, ['budget', 'budget', 'unknown_price']],
    [{ kinds: ['budget'] }, ['budget', 'budget']],
    [{ nodes: ['organization:acme'] }, ['budget']],
    [{ nodes: ['key:ci'] }, []],
  ] as const)('with %j gets the kinds %j', async (more, kinds) => {
    const clock = createFakeClock();
    const settings = compileAlerts({ webhooks: [webhook(more)] });
    const { alerts, events } = open(clock, undefined, { settings });
    alerts.raise(atPercent(80, [18]));
    alerts.raise(atPercent(80, [18], { nodes: ['team:other'], once: undefined }));
    alerts.raise({ kind: 'unknown_price', nodes: [], text: '', data: {}, once: undefined });
    await clock.advance(0);
    expect(events.map(({ type }) => type).toSorted()).toEqual(kinds);
    for (const { nodes } of events.filter(({ nodes: of }) => of.includes('team:search')))
      expect(nodes).toEqual(['team:search', 'organization:acme']);
  });
});

/** One process with the watch of its keys, which other keys may replace. */
function watching(
  clock: ReturnType<typeof createFakeClock>,
  store: StateStore,
  first: Tenants,
  days: readonly number[] = [1, 7, 30],
) {
  let tenants = first;
  const opened = open(clock, store, { tree: { around: (ref) => tenants.around(ref) } });
  const families = familiesOf(openFamilies(), ALERT_METRICS);
  const watch = new KeyWatch({
    clock,
    alerts: opened.alerts,
    families,
    tenants: () => tenants,
    days: () => days,
  });
  watch.start();
  const replace = (next: Tenants): void => void (tenants = next);
  return { ...opened, watch, replace, daysOf: () => opened.events.map(({ data }) => data.days) };
}

const ending = (at: number, ids: readonly string[]): Tenants =>
  Tenants.of({
    keys: {
      keys: ids.map((id, index) => ({
        id,
        digest: `sha256:${String(index).padStart(64, '0')}`,
        team: 'search',
        expires_at: new Date(at).toISOString(),
      })),
    },
    teams: TEAMS,
  });

describe('keys that end', () => {
  it('are alerted at each of the days before, and once over restarts', async () => {
    const clock = createFakeClock();
    const store = sameThreadStore(clock);
    const tenants = ending(clock.wall() + 4 * 24 * HOUR_MS, ['ci']);
    const first = watching(clock, store, tenants, [1, 2, 3]);
    for (let hour = 0; hour < 60; hour += 1) await clock.advance(HOUR_MS);
    first.watch.stop();
    await first.alerts.close();
    const second = watching(clock, store, tenants, [1, 2, 3]);
    for (let hour = 60; hour < 100; hour += 1) await clock.advance(HOUR_MS);
    expect([first.daysOf(), second.daysOf()]).toEqual([[3, 2], [1]]);
    expect(first.events[0]).toMatchObject({
      type: 'key_expiry',
      nodes: ['key:ci', 'team:search', 'organization:acme'],
    });
    second.watch.stop();
    await second.alerts.close();
  });

  it('are alerted within a minute of a change of the keys in force, and again when their end has moved', async () => {
    const clock = createFakeClock();
    const { watch, replace, events, alerts } = watching(clock, sameThreadStore(clock), TREE);
    await clock.advance(61_000);
    expect(events).toEqual([]);
    replace(ending(clock.wall() + 3 * 24 * HOUR_MS, ['new']));
    await clock.advance(61_000);
    replace(ending(clock.wall() + 4 * 24 * HOUR_MS, ['new']));
    await clock.advance(61_000);
    expect(events.map(({ nodes, data }) => [nodes[0], nodes[1], data.days])).toEqual([
      ['key:new', 'team:search', 7],
      ['key:new', 'team:search', 7],
    ]);
    watch.stop();
    await alerts.close();
  });

  it('at once are alerted in the course of some minutes, each of them', async () => {
    const clock = createFakeClock();
    const ids = Array.from({ length: 450 }, (_, index) => `k${index}`);
    const { watch, events, alerts } = watching(clock, sameThreadStore(clock), ending(clock.wall() + 24 * HOUR_MS, ids));
    for (let minute = 0; minute < 6; minute += 1) await clock.advance(60_000);
    expect(new Set(events.map(({ data }) => data.key))).toEqual(new Set(ids));
    expect(events).toHaveLength(450);
    watch.stop();
    await alerts.close();
  });
});

const rowAt = (at: number, number: number, usd: number): LedgerRow => ({
  req: `0190f2ac-1c00-7000-8000-${String(number).padStart(12, '0')}`,
  requestId: '',
  att: 0,
  kind: 'try',
  at,
  key: 'ci',
  user: '',
  team: 'search',
  organization: 'acme',
  config: '',
  asked: 'm',
  model: 'm',
  status: '200',
  src: 'told',
  tier: '',
  geo: '',
  priceVersion: '1',
  labels: '',
  held: 0,
  ms: 1,
  firstMs: undefined,
  input: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  inputAudio: 0,
  outputAudio: 0,
  inputImage: 0,
  outputImage: 0,
  units: 0,
  searches: 0,
  nano: usd * 1e9,
});

describe('the spending of an hour', () => {
  it('far above the median of the days before is alerted once for each node', async () => {
    const clock = createFakeClock();
    const store = sameThreadStore(clock);
    await store.ledger.append(
      Array.from({ length: 30 }, (_, hour) => rowAt(clock.wall() - (hour + 1) * HOUR_MS, hour, 2)),
    );
    const { alerts, events } = open(clock, store);
    await store.ledger.append([rowAt(clock.wall(), 100, 9)]);
    await clock.advance(6 * 60_000);
    expect(events).toEqual([]);
    await store.ledger.append([rowAt(clock.wall(), 101, 5)]);
    for (let at = 0; at < 3; at += 1) await clock.advance(5 * 60_000);
    expect(events.map(({ nodes }) => nodes[0])).toEqual(['organization:acme', 'team:search', 'key:ci']);
    expect(events[1]).toMatchObject({
      type: 'anomaly',
      text: 'team search has spent 14 USD in the hour from 2026-01-01T00:00:00.000Z; the median of its hours is 2 USD.',
      data: { spent: 14, median: 2, days: 7 },
    });
    await alerts.close();
  });
});

describe('the spending of an hour beside sums that are out of order', () => {
  const spend = async (clock: ReturnType<typeof createFakeClock>, store: StateStore, saturated: boolean) => {
    const hours = Array.from({ length: 30 }, (_, hour) => rowAt(clock.wall() - (hour + 1) * HOUR_MS, hour, 2));
    const most = { key: 'other', team: 'bad', organization: 'bad', nano: Number.MAX_SAFE_INTEGER };
    const idAt = (at: number): string => `0190f2ac-1c00-7000-8000-1${String(at).padStart(11, '0')}`;
    const bad = hours.map((row, at) => ({ ...row, ...most, req: idAt(at) }));
    const twice = [900, 901].map((number) => ({ ...rowAt(clock.wall(), number, 0), ...most }));
    await store.ledger.append([...hours, rowAt(clock.wall(), 100, 50), ...(saturated ? [...bad, ...twice] : [])]);
  };

  it('is alerted where another node has a sum that has reached the most', async () => {
    const clock = createFakeClock();
    const store = sameThreadStore(clock);
    await spend(clock, store, true);
    const { alerts, events } = open(clock, store);
    await clock.advance(6 * 60_000);
    expect(events.map(({ nodes }) => nodes[0])).toEqual(['organization:acme', 'team:search', 'key:ci']);
    await alerts.close();
  });

  it('is alerted for the nodes of one kind where the sums of another cannot be read', async () => {
    const clock = createFakeClock();
    const store = sameThreadStore(clock);
    await spend(clock, store, false);
    const rollups: StateStore['ledger']['rollups'] = (query) =>
      query.by.includes('team') ? Promise.reject(new Error('no sums')) : store.ledger.rollups(query);
    const { alerts, events } = open(clock, { counters: store.counters, ledger: { rollups } as StateStore['ledger'] });
    await clock.advance(6 * 60_000);
    expect(events.map(({ nodes }) => nodes[0])).toEqual(['organization:acme', 'key:ci']);
    await alerts.close();
  });
});

describe('other alerts', () => {
  it('of leases are joined for a minute', async () => {
    const clock = createFakeClock();
    const { alerts, events } = open(clock, undefined);
    const lost = new LostLeases(clock, alerts);
    const lease = { lease: 1, boot: '', node: 'team:search month usd', period: 0, rest: 5 };
    for (let at = 0; at < 5; at += 1) lost.note([lease]);
    await clock.advance(3 * 60_000);
    expect(events).toMatchObject([
      { nodes: ['team:search', 'organization:acme'], data: { leases: 1, budgets: ['team:search:month:usd'] } },
      { data: { leases: 4 } },
    ]);
  });

  it('of prices come once a day and model, for a bounded number of models', async () => {
    const clock = createFakeClock();
    const { alerts, events } = open(clock, undefined);
    const prices = new UnknownPrices(clock, alerts);
    const record = (model: string, unknown = 'model') =>
      ({
        attempts: [
          { cost: { unknown }, place: { provider: 'own', model } },
          { cost: undefined, place: undefined },
        ],
      }) as never;
    prices.see(record('m'));
    prices.apply(compileAlerts({ webhooks: [webhook()] }));
    for (let at = 0; at < 300; at += 1) {
      prices.see(record('m'));
      prices.see(record('n', 'usage'));
    }
    await clock.advance(24 * HOUR_MS);
    prices.see(record('m'));
    await clock.advance(0);
    expect(events.map(({ data }) => data)).toEqual([
      { entry: 'own', model: 'm', reason: 'model' },
      { entry: 'own', model: 'm', reason: 'model' },
    ]);
    for (let at = 0; at < 300; at += 1) prices.see(record(`m-${at}`));
    await clock.advance(0);
    expect(events).toHaveLength(101);
  });
});
