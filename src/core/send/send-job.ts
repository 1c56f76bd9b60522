import type { CatalogEntry } from '../catalog/catalog.ts';
import type { Attempt, Exchange, Outbound } from '../kernel/index.ts';
import type { Taps } from '../kernel/taps.ts';
import type { Clock } from '../../plugin/index.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import type { OutboundRequest, Upstream } from '../upstream/types.ts';

export interface SenderSetup {
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly limits: ServerSettings['limits'];
  /** See `OutboundRequest.onHold`. */
  readonly hold: (exchange: Exchange, bytes: number) => boolean;
  readonly taps?: Taps | undefined;
}

export interface SendJob {
  readonly setup: SenderSetup;
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  readonly outbound: Outbound;
  readonly entry: CatalogEntry;
}

/** One call to the upstream. An attempt has one, or several as a batch. */
export interface UpstreamCall extends Pick<OutboundRequest, 'body' | 'stream' | 'openReader' | 'cancellation'> {
  readonly number: number;
}
