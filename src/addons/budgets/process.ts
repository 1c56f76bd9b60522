import type { SnapshotSource } from '../../core/compose/snapshot-part.ts';
import { newBoot } from '../../core/ports/boot.ts';
import type { CounterSource } from '../../core/ports/counters.ts';
import { requireStore } from '../../core/ports/store-handle.ts';
import type { PartTools, ProcessPart } from '../../core/process/process-part.ts';
import type { Clock } from '../../plugin/index.ts';
import { budgetFamilies } from './metrics.ts';
import { RequestLedger } from './ledger/request-ledger.ts';
import { Gates } from './limits/gates.ts';
import { PriceList, PricesInForce } from './prices/price-list.ts';
import { requestPrices } from './record/request-prices.ts';
import { BudgetState } from './reserve/budget-state.ts';
import { compileState, type StateSettings } from './settings/state.ts';
import { sourceOf } from './snapshot.ts';
import { ledgerReports } from './ledger/reports.ts';
import { StoreUpkeep } from './state/store-upkeep.ts';
import { countersOf, ledgerOf } from './state/usage-counters.ts';
import type { KeyUse } from '../../core/ports/entities.ts';

/** Limits, budgets, prices and the ledger of a process, and the tasks of its state store. */
export function openBudgets(tools: PartTools): ProcessPart {
  const { clock, log, metrics, role, shared, store, settings } = tools;
  const state = compileState(settings.server.state);
  const counters = shared?.budgets ?? ownCounters(tools);
  const ledger = openLedger(tools, state, counters);
  const gates = new Gates(clock, () => tools.port('fleetMemory')?.limits);
  const budgets = new BudgetState({
    clock,
    log,
    families: budgetFamilies(metrics),
    shared: counters,
    ledger,
    raise: (alert) => tools.port('alerts')?.raise(alert),
  });
  const write = shared?.writeKeyUses ?? (store && (async (uses) => requireStore(store).entities.seen(uses)));
  const keyUses = write && new KeyUses(clock, write);
  const boot = counters?.boot ?? newBoot('single', clock);
  const upkeep = role === 'worker' ? undefined : new StoreUpkeep(tools, state, boot);
  if (role === 'alone') upkeep?.usage.fleet.onGateways((gateways) => gates.share(gateways));
  // Config tests apply no settings: the shipped prices hold.
  let prices = new PricesInForce(new PriceList());
  return {
    ...sourceOf({ gates, budgets, metrics, onPrices: (inForce) => (prices = inForce) }),
    dry: () => sourceOf({ gates }),
    costs: { prices: (at) => requestPrices(prices.at(at)), ledger },
    ...(keyUses && { keyUsed: (...use) => keyUses.used(...use) }),
    ...(upkeep && { usage: upkeep.usage }),
    shareLimits: (processes) => gates.share(processes),
    begin: async ({ hash }) => {
      tools.port('fleetMemory')?.limits.onMembers((members) => gates.shareWithFleet(members));
      await upkeep?.open(hash);
    },
    start: () => upkeep?.start(),
    reloaded: (hash, changed) => upkeep?.reloaded(hash, changed),
    reloadEnded: (refused) => upkeep?.fleet.show({ refused }),
    stop: () => upkeep?.stop(),
    async settle() {
      await keyUses?.flush();
      await upkeep?.backups?.stop();
      await budgets.close();
    },
    close: () => Promise.all([ledger?.close(), upkeep?.spools?.close()]),
  };
}

/** For a dry run without a process: everything is counted from zero. */
export const dryBudgets = (clock: Clock): SnapshotSource => sourceOf({ gates: new Gates(clock) });

/** With a state store, what is spent outlives this process. */
const ownCounters = ({ store, role, clock }: PartTools): CounterSource | undefined =>
  store && { counters: countersOf(store), boot: newBoot(role === 'primary' ? 'primary' : 'single', clock) };

/** The primary serves no requests itself. */
function openLedger(
  { clock, log, metrics, role, shared, store }: PartTools,
  state: StateSettings | undefined,
  counters: CounterSource | undefined,
): RequestLedger | undefined {
  const ledger = shared?.ledger ?? (store && ledgerOf(store));
  if (!state || !counters || !ledger || role === 'primary') return undefined;
  return new RequestLedger({
    ledger,
    boot: counters.boot,
    folder: state.dir,
    labels: state.ledgerLabels,
    clock,
    reports: ledgerReports(budgetFamilies(metrics), clock, log),
    endOfTurn: (task) => void setImmediate(task),
  });
}

/** The store gets one write a minute, whatever the number of requests. */
const EVERY_MS = 60_000;
/** Keys of one write, and keys whose use is not written yet. */
const MOST = 10_000;
/** Addresses have at most 45 characters; a zone of a link-local one may be longer. */
const MOST_ADDRESS = 64;

/** The last use of each key of the store since the last write, in this process. */
export class KeyUses {
  readonly #clock: Clock;
  readonly #write: (uses: readonly KeyUse[]) => Promise<void>;
  #uses = new Map<string, { at: number; address: string }>();
  #stopTimer: (() => void) | undefined;

  /** @param write rejects while the store does not answer */
  constructor(clock: Clock, write: (uses: readonly KeyUse[]) => Promise<void>) {
    this.#clock = clock;
    this.#write = write;
  }

  used(keyId: string, address: string, at: number): void {
    const use = this.#uses.get(keyId);
    if (use) {
      use.at = at;
      use.address = address;
      return;
    }
    if (this.#uses.size >= MOST) return;
    this.#uses.set(keyId, { at, address });
    this.#stopTimer ??= this.#clock.after(EVERY_MS, () => void this.flush());
  }

  /** Never rejects: the next write takes the uses that this one could not write. */
  async flush(): Promise<void> {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const uses = this.#uses;
    this.#uses = new Map();
    if (uses.size === 0) return;
    const written = [...uses].map(([keyId, { at, address }]) => ({
      keyId,
      at,
      address: address.slice(0, MOST_ADDRESS),
    }));
    try {
      await this.#write(written);
    } catch {
      for (const { keyId, at, address } of written) if (!this.#uses.has(keyId)) this.used(keyId, address, at);
    }
  }
}
