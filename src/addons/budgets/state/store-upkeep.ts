import { LostLeases } from '../../alerts/lost-leases.ts';
import { StoredWebhooks } from '../../alerts/stored-webhooks.ts';
import type { ServeParts } from '../../../core/process/serve-parts.ts';
import { AuditHead } from './audit-head.ts';
import { Backups } from './backups.ts';
import { Retention } from './retention.ts';
import { SettingsAudit } from './settings-audit.ts';
import type { Replayed } from './spool-replay.ts';
import type { Spools } from './spools.ts';
import { UsageCounters } from './usage-counters.ts';

/** The process that opens the store sends its webhooks. */
const storedWebhooks = ({ state, alerts, clock, log }: ServeParts): StoredWebhooks | undefined =>
  state &&
  new StoredWebhooks({
    clock,
    log,
    objects: state.objects,
    entities: () => state.store?.entities,
    use: (webhooks) => alerts.useStored(webhooks),
  });

const backupsOf = ({ state, snapshot, ...setup }: ServeParts): Backups | undefined => {
  const settings = snapshot.server.state?.backup;
  return state && settings && new Backups(setup, settings, state);
};

const usageCountersOf = ({ clock, log, metrics, state, alerts }: ServeParts): UsageCounters => {
  const lost = new LostLeases(clock, alerts);
  return new UsageCounters(
    {
      clock,
      onLost(leases) {
        metrics.families.budgetLeasesLost.add({}, leases.length);
        lost.note(leases);
      },
      onFailure: (err) => log.error({ err }, 'counters of budgets could not be tidied'),
    },
    state,
  );
};

interface Task {
  stop(): Promise<void> | void;
}

/** The tasks of the process that owns the state store, besides serving requests. A worker leaves them to its primary. */
export interface StoreUpkeep {
  /** Without a state store they are in memory. */
  readonly usageCounters: UsageCounters;
  readonly settingsAudit: SettingsAudit | undefined;
  readonly spools: Spools | undefined;
  readonly backups: Backups | undefined;
  /** Tasks that stop before the last rows are written. Spools and backups stop afterwards. */
  readonly tasks: readonly Task[];
  /** Starts the tasks that wait until the gateway serves. */
  start(): void;
}

/** Call it before a worker begins a spool of its own: all spools that are there belong to processes that have ended. */
export async function openUpkeep(parts: ServeParts): Promise<StoreUpkeep> {
  const [usageCounters, backups, webhooks] = [usageCountersOf(parts), backupsOf(parts), storedWebhooks(parts)];
  const { settingsAudit, tasks } = startTasks(parts);
  return {
    usageCounters,
    settingsAudit,
    spools: await spoolsOf(parts),
    backups,
    tasks: [usageCounters, ...tasks, ...(webhooks ? [webhooks] : [])],
    start() {
      backups?.start();
      usageCounters.start();
      void webhooks?.start();
    },
  };
}

function startTasks({ clock, log, state, snapshot }: ServeParts): {
  readonly settingsAudit: SettingsAudit | undefined;
  readonly tasks: readonly Task[];
} {
  const settings = snapshot.server.state;
  if (!state || !settings) return { settingsAudit: undefined, tasks: [] };
  const retention = new Retention({ clock, log, state, days: settings.retention });
  retention.start();
  const auditHead = new AuditHead({ clock, log, state });
  auditHead.start();
  const settingsAudit = new SettingsAudit({ clock, log, state });
  settingsAudit.started(snapshot.hash);
  return { settingsAudit, tasks: [retention, auditHead, settingsAudit] };
}

async function spoolsOf({ clock, log, metrics, state, snapshot, budgets }: ServeParts): Promise<Spools | undefined> {
  const folder = snapshot.server.state?.folder;
  if (!state || folder === undefined) return undefined;
  // Most gateways have no state store on disk: they do not load the code.
  const { Spools: Opened } = await import('./spools.ts');
  const onReplayed = ({ lost }: Replayed): void => {
    metrics.families.spoolsReplayed.add({});
    metrics.families.ledgerExpired.add({}, lost);
  };
  const spools = new Opened({ folder, state, clock, log, onReplayed });
  spools.start(budgets?.boot.id ?? '');
  return spools;
}
