import type { AlertSink } from '../../governance/alert.ts';
import type { AlertNodes, AlertSettings } from '../../settings/compile/alerts.ts';
import type { CountedPorts } from '../state/counted.ts';

/** The alerts of a process. */
export interface ProcessAlerts extends AlertSink {
  apply(settings: AlertSettings, nodes: AlertNodes): void;
  /** @param ports where the processes of the gateway count; undefined while they cannot */
  start(ports: () => CountedPorts | undefined): void;
  close(): Promise<void>;
}

/** Of a process that hands its alerts to another one, which raises them. */
export const relayedAlerts = (to: AlertSink): ProcessAlerts => ({
  raise: (alert) => to.raise(alert),
  apply() {},
  start() {},
  close: async () => {},
});
