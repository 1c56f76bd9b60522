import type { PartTools, ProcessPart } from '../../core/process/process-part.ts';
import { familiesOf } from '../../core/record/metrics/metrics.ts';
import { storeSettings } from '../../core/settings/source/stored-objects.ts';
import type { AlertSink } from '../../core/ports/alert.ts';
import { Alerts, type ProcessAlerts } from './alerts.ts';
import { ALERT_METRICS } from './metrics.ts';
import { KeyWatch } from './key-watch.ts';
import { compileAlerts } from './settings/compile-alerts.ts';
import { UnknownPrices } from './unknown-prices.ts';
import { StoredWebhooks } from './stored-webhooks.ts';

/** The alerts of a process. A worker passes its own to the primary, which raises them. */
export function openAlerts({ clock, log, metrics, upstream, shared, store, port }: PartTools): ProcessPart {
  const families = familiesOf(metrics.families, ALERT_METRICS);
  const own = shared ? undefined : new Alerts({ clock, log, families, exchange: upstream.exchange });
  const alerts = own ?? relayedAlerts(shared!.alerts);
  const prices = new UnknownPrices(clock, alerts);
  // The process that opens the store sends its webhooks.
  const webhooks =
    store &&
    new StoredWebhooks({
      clock,
      log,
      objects: store.objects,
      entities: () => store.store?.entities,
      use: (stored) => alerts.useStored(stored),
    });
  let settings = compileAlerts();
  let keys: KeyWatch | undefined;
  return {
    alerts,
    ...(own && { alertDesk: own }),
    compose: ({ settings: { server } }) => ({
      use() {
        settings = compileAlerts(server.alerts);
        alerts.apply(settings);
        prices.apply(settings, storeSettings(server)?.owns.includes('alerts'));
      },
    }),
    dry: () => ({}),
    recorded: prices.see,
    lines: () => keys?.warnings() ?? [],
    start({ role, tenants }) {
      alerts.start(() => port('usage')?.ports, { around: (ref) => tenants().around(ref) }, port('usage')?.fleet);
      if (role === 'worker') return;
      keys = new KeyWatch({ clock, alerts, families, tenants, days: () => settings.keyExpiry });
      keys.start();
      void webhooks?.start();
    },
    stop() {
      webhooks?.stop();
      keys?.stop();
    },
    close: () => alerts.close(),
  };
}

const relayedAlerts = (to: AlertSink): ProcessAlerts => ({
  raise: (alert) => to.raise(alert),
  apply() {},
  useStored() {},
  start() {},
  close: async () => {},
});
