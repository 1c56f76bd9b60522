import type { AlertSink } from '../../../core/ports/alert.ts';
import { budgetFamilies } from '../metrics.ts';
import type { Boot } from '../../../core/ports/counters.ts';
import type { SharedUsage, OpenStore, RolledBack } from '../../../core/ports/store.ts';
import type { PartTools } from '../../../core/process/process-part.ts';
import type { StateSettings } from '../settings/state.ts';
import { AuditHead } from './audit-head.ts';
import { Backups } from './backups.ts';
import { driverOf } from '../../../core/ports/store-driver.ts';
import type { StoreHandle } from '../../../core/ports/store-handle.ts';
import { FleetMember } from './fleet-member.ts';
import { Retention } from './retention.ts';
import { SettingsAudit } from './settings-audit.ts';
import type { Replayed, Spools } from './spools.ts';
import { LostLeases, UsageCounters } from './usage-counters.ts';

/** The tasks of the process that counts, and that owns the state store if there is one. A worker leaves them to its primary. */
export class StoreUpkeep {
  readonly backups: Backups | undefined;
  readonly #tools: PartTools;
  readonly #settings: StateSettings | undefined;
  readonly #boot: Boot;
  readonly fleet: FleetMember;
  readonly #counters: UsageCounters;
  #settingsAudit: SettingsAudit | undefined;
  #spools: Spools | undefined;
  /** Tasks that stop before the last rows are written. Spools and backups stop afterwards. */
  readonly #tasks: { stop(): Promise<void> | void }[] = [];

  constructor(tools: PartTools, settings: StateSettings | undefined, boot: Boot) {
    this.#tools = tools;
    this.#settings = settings;
    this.#boot = boot;
    this.#counters = usageCountersOf(tools);
    this.#tasks.push(this.#counters);
    const { store, port } = tools;
    const alerts: AlertSink = { raise: (alert) => port('alerts')?.raise(alert) };
    const isShared = settings !== undefined && driverOf(settings.store).use === 'shared';
    this.fleet = new FleetMember({
      ...tools,
      families: budgetFamilies(tools.metrics),
      boot,
      shared: isShared ? store : undefined,
      version: () => store?.version ?? 0,
    });
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
      fleet: this.fleet,
    };
  }

  get spools(): Spools | undefined {
    return this.#spools;
  }

  async open(hash: string): Promise<void> {
    const { clock, log, store: state } = this.#tools;
    await this.fleet.start(hash);
    if (!state || !this.#settings) return;
    // One gateway does these tasks for all.
    const { fleet } = this;
    const cared: StoreHandle = {
      get store() {
        return fleet.isCaretaker ? state.store : undefined;
      },
    };
    const retention = new Retention({ clock, log, state: cared, days: this.#settings.retention });
    retention.start();
    const auditHead = new AuditHead({ clock, log, state: cared });
    auditHead.start();
    this.#settingsAudit = new SettingsAudit({ clock, log, state, fleet });
    this.#settingsAudit.started(hash);
    this.#tasks.push(retention, auditHead, this.#settingsAudit, new RollbackAlert(this.#tools, state), fleet);
    this.#spools = await spoolsOf(this.#tools, this.#settings, this.#boot);
  }

  start(): void {
    this.backups?.start();
    this.#counters.start();
  }

  reloaded(hash: string, changed: readonly string[]): void {
    this.fleet.show({ configHash: hash });
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
  { dir, store: entry }: StateSettings,
  boot: Boot,
): Promise<Spools | undefined> {
  if (!state || dir === undefined) return undefined;
  // Most gateways have no state store on disk: they do not load the code.
  const { Spools: Opened } = await import('./spools.ts');
  const families = budgetFamilies(metrics);
  const onReplayed = ({ lost }: Replayed): void => {
    families.spoolsReplayed.add({});
    families.ledgerExpired.add({}, lost);
  };
  const spools = new Opened({
    folders: [...new Set([dir, driverOf(entry).folderOf(entry) ?? dir])],
    state,
    clock,
    log,
    onReplayed,
  });
  spools.start(boot.id);
  return spools;
}

const LOOK_MS = 5_000;

/** Raises an alert when the state store is behind what this gateway has seen of it: once for all gateways that find the same. */
class RollbackAlert {
  readonly #tools: Pick<PartTools, 'clock' | 'port'>;
  readonly #state: Pick<OpenStore, 'rolledBack'>;
  #raised: RolledBack | undefined;
  #stopTimer: () => void;

  constructor(tools: Pick<PartTools, 'clock' | 'port'>, state: Pick<OpenStore, 'rolledBack'>) {
    this.#tools = tools;
    this.#state = state;
    this.#stopTimer = tools.clock.after(LOOK_MS, () => this.#look());
  }

  stop(): void {
    this.#stopTimer();
  }

  #look(): void {
    const { clock, port } = this.#tools;
    this.#stopTimer = clock.after(LOOK_MS, () => this.#look());
    const { rolledBack } = this.#state;
    const alerts = port('alerts');
    if (rolledBack && rolledBack !== this.#raised)
      alerts?.raise({
        kind: 'rolled_back',
        nodes: [],
        text: `The state store went back: ${rolledBack.reason}.`,
        data: { found: rolledBack.found, seen: rolledBack.seen },
        once: { counter: { node: `alert rolled_back ${rolledBack.seen} ${rolledBack.found}`, period: 0 }, bits: [0] },
      });
    this.#raised = rolledBack;
  }
}
