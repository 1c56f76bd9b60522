import type { Logger } from 'pino';
import type { Clock } from '../../plugin/index.ts';
import type { KeyRing } from '../kernel/index.ts';
import type { NodeChanges, NodeTree } from '../tenants/tree.ts';
import type { MetadataLabel } from '../record/metrics/caller-labels.ts';
import { DigestRing, type KeyRingOptions } from '../settings/compile/key-ring.ts';
import { metadataLabels } from '../settings/compile/metadata-labels.ts';
import { parsePeppers } from '../settings/compile/peppers.ts';
import { Tenants } from '../settings/compile/tenants.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
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

/**
 * The tenants of one snapshot. A change of the state store replaces them by one pointer: the chains ask through it and stay as they
 * are. Requests under way keep the paths with which they began.
 */
export class Tenancy {
  readonly keys: KeyRing;
  readonly tree: NodeTree;
  readonly #settings: Settings;
  readonly #log: Pick<Logger, 'error'>;
  #current: Tenants;
  #onChange = (_changes: NodeChanges): void => {};
  #onPrices = (): void => {};

  constructor(
    loaded: Pick<LoadResult, 'ok'>,
    settings: Settings,
    {
      log,
      ...options
    }: Omit<KeyRingOptions, 'peppers' | 'clientCertificates'> & {
      readonly log: Pick<Logger, 'error'>;
      readonly server: ServerSettings;
      readonly before?: TenancyShared['tenantsBefore'];
    },
  ) {
    const store = storeSettings(settings.server);
    this.#settings = settings;
    this.#log = log;
    // With errors in the settings, chains are compiled for their diagnostics only.
    this.#current = Tenants.of({
      ...(loaded.ok ? settings.written : { keys: { keys: [] }, teams: {} }),
      stored: loaded.ok ? settings.stored : undefined,
      timeZone: store?.timeZone,
      configIds: new Set(settings.gateway.keys()),
      before: loaded.ok ? options.before?.() : undefined,
    });
    const peppers = store?.peppers && loaded.ok ? parsePeppers(store.peppers.reveal()) : undefined;
    const clientCertificates = settings.tls.data?.clientCa !== undefined;
    this.keys = new DigestRing(() => this.#current, { ...options, peppers, clientCertificates });
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

  /** The metadata of the present objects, as labels of metrics. */
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

interface TenancyShared {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly keyUsed?: KeyRingOptions['onUse'];
  /** The tenants of the settings that serve now. */
  readonly tenantsBefore?: (() => Tenants | undefined) | undefined;
}

export const composeTenancy = (
  loaded: LoadResult,
  settings: Settings,
  server: ServerSettings,
  { clock, log, keyUsed, tenantsBefore }: TenancyShared,
): Tenancy =>
  new Tenancy(loaded, settings, {
    clock,
    log,
    server,
    onUse: keyUsed,
    before: tenantsBefore,
    onPreviousKey: (keyId, expiresAt) =>
      log.warn(
        { key_id: keyId, expires_at: new Date(expiresAt).toISOString() },
        'a request used the previous key, which a rotation replaced',
      ),
  });
