import type { Chain } from '../chain/instance.ts';
import type { Exchange } from '../../kernel/index.ts';
import type { Reply } from '../../../plugin/index.ts';
import type { NetworkTest } from '../../settings/compile/networks.ts';
import type { HeaderNames } from './header-names.ts';

export interface ExchangeSettings {
  readonly hash: string;
  readonly server: { readonly deadlineMs: number };
  readonly headerNames: HeaderNames;
  /** Undefined: no proxy is trusted. */
  readonly isTrustedProxy?: NetworkTest | undefined;
}

/** The settings of the request path. A request uses the same ones from beginning to end. */
export interface PathSettings extends ExchangeSettings {
  readonly entry: Chain;
  /** Undefined: no reply carries `Server-Timing`. */
  readonly pluginTimes: { header(exchange: Exchange): string } | undefined;
  /** The cost of a request for a header of its reply; undefined for a reply that has none. Undefined: this build has no prices. */
  readonly costHeader: { of(exchange: Exchange, reply: Reply, receivedAt: number): string | undefined } | undefined;
}

/** Keeps the settings of one request alive until its reply has ended. */
export interface Lease {
  readonly snapshot: PathSettings;
  release(): void;
}
