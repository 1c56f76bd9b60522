import { describe, expect, it } from 'vitest';
import { Secret } from '../../plugin/index.ts';
import { createFakeClock } from '../../plugin/testing/index.ts';
import type { Alert } from '../../core/ports/alert.ts';
import type { StateStore } from '../../core/ports/store.ts';
import { familiesOf, openFamilies } from '../../core/record/metrics/metrics.ts';
import { sameThreadStore } from '../budgets/store/sqlite/same-thread-store.testkit.ts';
import { Alerts } from './alerts.ts';
import { ALERT_METRICS } from './metrics.ts';
import { compileAlerts } from './settings/compile-alerts.ts';

const webhook = {
  id: 'ops',
  url: new Secret('https://alerts.example/'),
  secret: new Secret(`whsec_${Buffer.alloc(32, 7).toString('base64')}`),
};
const alert = (number: number, more: Partial<Alert> = {}): Alert => ({
  kind: 'lost_lease',
  nodes: [],
  text: `alert ${number}`,
  data: {},
  once: undefined,
  ...more,
});
const once = { counter: { node: 'team:a budget', period: 1 }, bits: [0] };

function setUp() {
  const clock = createFakeClock();
  const store = sameThreadStore(clock);
  const got: string[] = [];
  const ids = new Set<string>();
  const receiver = { status: 200 };
  /** A gateway on the store. */
  const gateway = (ports: () => Partial<StateStore> | undefined = () => store) => {
    const errors: object[] = [];
    const alerts = new Alerts({
      clock,
      log: { error: (fields: object) => void errors.push(fields), warn() {} } as never,
      families: familiesOf(openFamilies(), ALERT_METRICS),
      exchange: async ({ body = '' }) => {
        const { text, id } = JSON.parse(body) as { text: string; id: string };
        if (receiver.status < 300) got.push(text);
        if (receiver.status < 300) ids.add(id);
        return { status: receiver.status, headers: {}, text: '' };
      },
    });
    alerts.apply(compileAlerts({ webhooks: [webhook] }));
    alerts.start(ports as () => StateStore | undefined, { around: () => [] });
    return { alerts, errors };
  };
  return { clock, store, got, ids, receiver, gateway };
}

describe('alerts with a state store', () => {
  it('outlive the gateway that has raised them: another one delivers them', async () => {
    const { clock, store, got, receiver, gateway } = setUp();
    receiver.status = 503;
    const first = gateway();
    first.alerts.raise(alert(1));
    await clock.advance(100);
    await first.alerts.close();
    expect([(await store.outbox.waiting()).get('ops'), first.errors]).toEqual([1, []]);
    receiver.status = 200;
    const second = gateway();
    await clock.advance(60_000);
    expect([got, await store.outbox.waiting()]).toEqual([['alert 1'], new Map()]);
    await second.alerts.close();
  });

  it('wait in memory until a store that was away takes them, and outlive their gateway from then on', async () => {
    const { clock, store, got, receiver, gateway } = setUp();
    receiver.status = 503;
    let isAway = true;
    const add: StateStore['outbox']['add'] = (events) =>
      isAway ? Promise.reject(new Error('away')) : store.outbox.add(events);
    const first = gateway(() => ({ ...store, outbox: { ...store.outbox, add } }));
    first.alerts.raise(alert(1));
    await clock.advance(10_000);
    expect(await store.outbox.waiting()).toEqual(new Map());
    isAway = false;
    await clock.advance(10_000);
    expect([(await store.outbox.waiting()).get('ops'), first.errors]).toEqual([1, []]);
    receiver.status = 200;
    const second = gateway();
    await clock.advance(3_600_000);
    expect([got, await store.outbox.waiting()]).toEqual([['alert 1'], new Map()]);
    for (const { alerts } of [first, second]) await alerts.close();
  });

  it('are given up after six tries, with a line that has all of the event', async () => {
    const { clock, store, receiver, gateway } = setUp();
    receiver.status = 500;
    const { alerts, errors } = gateway();
    alerts.raise(alert(1));
    await clock.advance(2 * 3_600_000);
    expect(errors).toEqual([
      expect.objectContaining({
        webhook: 'ops',
        reason: 'tries',
        tries: 6,
        event: expect.objectContaining({ text: 'alert 1' }),
      }),
    ]);
    expect(await store.outbox.waiting()).toEqual(new Map());
    await alerts.close();
  });

  it('wait in memory while the store does not take them', async () => {
    const { clock, store, got, gateway } = setUp();
    const outbox = { ...store.outbox, add: () => Promise.reject(new Error('down')) };
    const { alerts } = gateway(() => ({ ...store, outbox }));
    alerts.raise(alert(1));
    await clock.advance(100);
    expect(got).toEqual(['alert 1']);
    await alerts.close();
  });

  it('that two gateways raise are one event, also where an answer about the first was lost', async () => {
    const { clock, store, got, ids, gateway } = setUp();
    let lost = 1;
    const counters = {
      ...store.counters,
      notify: async (...args: Parameters<StateStore['counters']['notify']>) => {
        const isFirst = await store.counters.notify(...args);
        if ((lost -= 1) >= 0) throw new Error('lost');
        return isFirst;
      },
    };
    const [one, other] = [gateway(() => ({ ...store, counters })), gateway()];
    one.alerts.raise(alert(1, { once }));
    await clock.advance(10);
    other.alerts.raise(alert(1, { once }));
    await clock.advance(10_000);
    expect([got, ids.size]).toEqual([['alert 1'], 1]);
    await one.alerts.close();
    await other.alerts.close();
  });
});
