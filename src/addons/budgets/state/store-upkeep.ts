import type { AlertSink } from '../../../core/ports/alert.ts';
import { budgetFamilies } from '../metrics.ts';
import type { Boot } from '../../../core/ports/counters.ts';
import type { SharedUsage } from '../../../core/ports/store.ts';
import type { PartTools } from '../../../core/process/process-part.ts';
import type { StateSettings } from '../settings/state.ts';
import { AuditHead } from './audit-head.ts';
import { Backups } from './backups.ts';
import { Retention } from './retention.ts';
import { SettingsAudit } from './settings-audit.ts';
import type { Replayed, Spools } from './spools.ts';
import { LostLeases, UsageCounters } from './usage-counters.ts';

/** The tasks of the process that counts, and that owns the state store if there is one. A worker leaves them to its primary. */
export class StoreUpkeep {
  readonly backups: Backups | undefined;
  readonly #tools: PartTools;
  readonly #settings: StateSettings | undefined;
  readonly #boot: Boot | undefined;
  readonly #counters: UsageCounters;
  #settingsAudit: SettingsAudit | undefined;
  #spools: Spools | undefined;
  /** Tasks that stop before the last rows are written. Spools and backups stop afterwards. */
  readonly #tasks: { stop(): Promise<void> | void }[] = [];

  constructor(tools: PartTools, settings: StateSettings | undefined, boot: Boot | undefined) {
    this.#tools = tools;
    this.#settings = settings;
    this.#boot = boot;
    this.#counters = usageCountersOf(tools);
    this.#tasks.push(this.#counters);
    const { store, port } = tools;
    const alerts: AlertSink = { raise: (alert) => port('alerts')?.raise(alert) };
    this.backups =
      store &&
      settings?.backup &&
      new Backups({ ...tools, families: budgetFamilies(tools.metrics), alerts }, settings.backup, store);
  }

  /** Without a state store the counters are in memory. */
  get usage(): SharedUsage {
    const counters = this.#counters;
    return {
      get ports() {
        return counters.ports;
      },
      ended: (boot) => counters.ended(boot),
      takeSpool: (pid) => this.#spools?.ended(pid),
    };
  }

  get spools(): Spools | undefined {
    return this.#spools;
  }

  /** Call it before a worker begins a spool of its own: all spools that are there belong to processes that have ended. */
  async open(hash: string): Promise<void> {
    const { clock, log, store: state } = this.#tools;
    if (!state || !this.#settings) return;
    const retention = new Retention({ clock, log, state, days: this.#settings.retention });
    retention.start();
    const auditHead = new AuditHead({ clock, log, state });
    auditHead.start();
    this.#settingsAudit = new SettingsAudit({ clock, log, state });
    this.#settingsAudit.started(hash);
    this.#tasks.push(retention, auditHead, this.#settingsAudit);
    this.#spools = await spoolsOf(this.#tools, this.#settings, this.#boot);
  }

  start(): void {
    this.backups?.start();
    this.#counters.start();
  }

  reloaded(hash: string, changed: readonly string[]): void {
    this.#settingsAudit?.reloaded(hash, changed);
  }

  async stop(): Promise<void> {
    for (const task of this.#tasks) await task.stop();
  }
}

function usageCountersOf({ clock, log, metrics, store, port }: PartTools): UsageCounters {
  const lost = new LostLeases(clock, { raise: (alert) => port('alerts')?.raise(alert) });
  return new UsageCounters(
    {
      clock,
      onLost(leases) {
        budgetFamilies(metrics).budgetLeasesLost.add({}, leases.length);
        lost.note(leases);
      },
      onFailure: (err) => log.error({ err }, 'counters of budgets could not be tidied'),
    },
    store,
  );
}

async function spoolsOf(
  { clock, log, metrics, store: state }: PartTools,
  { dir }: StateSettings,
  boot: Boot | undefined,
): Promise<Spools | undefined> {
  if (!state || dir === undefined) return undefined;
  // Most gateways have no state store on disk: they do not load the code.
  const { Spools: Opened } = await import('./spools.ts');
  const families = budgetFamilies(metrics);
  const onReplayed = ({ lost }: Replayed): void => {
    families.spoolsReplayed.add({});
    families.ledgerExpired.add({}, lost);
  };
  const spools = new Opened({ folder: dir, state, clock, log, onReplayed });
  spools.start(boot?.id ?? '');
  return spools;
}
