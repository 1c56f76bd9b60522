import type { Logger } from 'pino';
import type { NodeChanges, NodeTree } from '../tenants/tree.ts';
import type { MetadataLabel } from '../record/metrics/caller-labels.ts';
import { DigestRing, type KeyRingOptions } from '../settings/compile/key-ring.ts';
import { metadataLabels } from '../settings/compile/metadata-labels.ts';
import { parsePeppers } from '../settings/compile/api-keys.ts';
import { Tenants } from '../settings/compile/tenants.ts';
import type { LoadResult, Settings } from '../settings/read/load.ts';
import {
  changesBetween,
  storeSettings,
  withStored,
  type StoredChanges,
  type StoredObjects,
} from '../settings/source/stored-objects.ts';

/** Objects that one line of the log names. */
const LISTED = 20;

interface TenancyTools {
  readonly clock: KeyRingOptions['clock'];
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly keyUsed?: KeyRingOptions['onUse'];
  readonly tenantsBefore?: (() => Tenants | undefined) | undefined;
}

/** A change of the store replaces the tenants by one pointer: chains ask through it, requests keep their paths. */
export class Tenancy {
  readonly keys: DigestRing;
  readonly tree: NodeTree;
  readonly #settings: Settings;
  readonly #log: Pick<Logger, 'error'>;
  #current: Tenants;
  #onChange = (_changes: NodeChanges): void => {};
  #onPrices = (): void => {};

  constructor(loaded: LoadResult, settings: Settings, { clock, log, keyUsed, tenantsBefore }: TenancyTools) {
    const store = storeSettings(settings.server);
    this.#settings = settings;
    this.#log = log;
    // With errors in the settings, chains are compiled for their diagnostics only.
    this.#current = Tenants.of({
      ...(loaded.ok ? settings.written : { keys: { keys: [] }, teams: {} }),
      stored: loaded.ok ? settings.stored : undefined,
      timeZone: store?.timeZone,
      configIds: new Set(settings.gateway.keys()),
      before: loaded.ok ? tenantsBefore?.() : undefined,
    });
    const peppers = store?.peppers && loaded.ok ? parsePeppers(store.peppers.reveal()) : undefined;
    this.keys = new DigestRing(() => this.#current, {
      clock,
      onUse: keyUsed,
      onPreviousKey: (keyId, expiresAt) =>
        log.warn(
          { key_id: keyId, expires_at: new Date(expiresAt).toISOString() },
          'a request used the previous key, which a rotation replaced',
        ),
      peppers,
      clientCertificates: settings.tls.data?.clientCa !== undefined,
    });
    this.tree = treeOf(() => this.#current);
  }

  /** Called with the nodes that a change of the store has replaced. */
  onChange(changed: (changes: NodeChanges) => void): void {
    this.#onChange = changed;
  }

  /** Called when prices of the store have changed. */
  onPrices(changed: () => void): void {
    this.#onPrices = changed;
  }

  get current(): Tenants {
    return this.#current;
  }

  apply(changes: StoredChanges): void {
    const { tenants, ...nodes } = this.#current.with(changes);
    this.#current = tenants;
    this.#onChange(nodes);
    if (
      changes.changed.some(({ kind }) => kind === 'prices') ||
      changes.gone.some((name) => name.startsWith('prices/'))
    )
      this.#onPrices();
    this.#logProblems(changes);
  }

  /** Applies what has changed since these settings were read. */
  catchUp(stored: StoredObjects | undefined): void {
    if (!stored) return;
    const changes = changesBetween(this.#current.stored, stored);
    const same = changes.changed.length + changes.gone.length === 0 && changes.known === this.#current.known;
    if (!same) this.apply(changes);
  }

  metadataLabels(): readonly MetadataLabel[] {
    const { server, written } = this.#settings;
    if (!server.telemetry?.metrics?.metadata) return [];
    const { keys, teams } = withStored(written, this.#current.stored);
    return metadataLabels(server, keys, teams);
  }

  #logProblems({ changed }: StoredChanges): void {
    const broken = changed.flatMap(({ kind, id, problem }) => (problem === undefined ? [] : [{ kind, id, problem }]));
    if (broken.length > 0)
      this.#log.error(
        { objects: broken.length, problems: broken.slice(0, LISTED) },
        'objects of the state store are not valid; keys that depend on them are refused, prices and webhooks have no effect',
      );
  }
}

const treeOf = (current: () => NodeTree): NodeTree => ({
  pathOf: (caller) => current().pathOf(caller),
  nodes: () => current().nodes(),
  get hasBudgets() {
    return current().hasBudgets;
  },
  get hasLimits() {
    return current().hasLimits;
  },
});
