import type { Logger } from 'pino';
import type { Clock, Secret } from '../../plugin/index.ts';
import type { StateStore } from '../ports/store.ts';
import type { Metrics } from '../record/metrics/registry.ts';

interface StorePlace {
  readonly folder: string;
  readonly encryptionKeys?: Secret | undefined;
}

export interface OpenStoreTools {
  /** Injected by tests. Default: opens the store of the settings. */
  readonly open?: ((place: StorePlace, clock: Clock) => Promise<StateStore>) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}
