import type { ResponseStore } from '../memory/ports.ts';
import type { AlertSink } from './alert.ts';
import type { Claims } from './claims.ts';
import type { CounterSource } from './counters.ts';
import type { Entities } from './entities.ts';
import type { Ledger } from './ledger.ts';
import type { ObjectReplica } from '../settings/source/stored-objects.ts';

/** Stores and sinks that the primary of several processes has for its workers. */
export interface SharedByPrimary {
  readonly responses: ResponseStore;
  /** Where the processes count budgets together. */
  readonly budgets: CounterSource;
  readonly alerts: AlertSink;
  /** The objects of the state store. */
  readonly stored: ObjectReplica;
  readonly writeKeyUses: Entities['seen'];
  readonly claims: Claims;
  /** Where the costs of requests are written, if the settings have a state store. */
  readonly ledger: Pick<Ledger, 'append'>;
  /** Sends a message to the same part of the primary. */
  readonly tell?: (topic: string, message: unknown) => void;
}
