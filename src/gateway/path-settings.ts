import type { Chain } from '../chain/instance.ts';
import type { Exchange } from '../plugin/index.ts';
import type { NetworkTest } from '../settings/compile/networks.ts';
import type { HeaderNames } from './header-names.ts';

/** The settings an exchange is made with. */
export interface ExchangeSettings {
  readonly hash: string;
  readonly server: { readonly deadlineMs: number };
  readonly headerNames: HeaderNames;
  /** Undefined: no proxy is trusted. */
  readonly isTrustedProxy?: NetworkTest | undefined;
}

/** The settings the request path runs a request on, from its beginning to its end. */
export interface PathSettings extends ExchangeSettings {
  readonly entry: Chain;
  /** Undefined where no reply may carry `Server-Timing`. */
  readonly pluginTimes: { header(exchange: Exchange): string } | undefined;
}

/** Holds the settings of one request until its reply has ended. */
export interface Lease {
  readonly snapshot: PathSettings;
  /** Called once. */
  release(): void;
}
