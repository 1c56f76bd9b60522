import type { AlertSink, AlertTree } from '../../core/ports/alert.ts';
import type { AlertSettings, WebhookSettings } from './settings/compile-alerts.ts';
import type { CounterPorts } from '../../core/ports/store.ts';

/** The alerts of a process. */
export interface ProcessAlerts extends AlertSink {
  apply(settings: AlertSettings): void;
  /** The webhooks of the state store, beside those of the settings. */
  useStored(webhooks: readonly WebhookSettings[]): void;
  /** @param ports where the processes of the gateway count; undefined while they cannot @param tree in force */
  start(ports: () => CounterPorts | undefined, tree: AlertTree): void;
  close(): Promise<void>;
}

/** For a process that passes its alerts to another one, which raises them. */
export const relayedAlerts = (to: AlertSink): ProcessAlerts => ({
  raise: (alert) => to.raise(alert),
  apply() {},
  useStored() {},
  start() {},
  close: async () => {},
});
