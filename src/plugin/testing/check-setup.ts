import type { ExchangeParts } from './exchange.ts';
import type { HostSetup } from './run-plugin.ts';

export interface CheckSetup extends HostSetup {
  /** Options to create the plugin with, for a plugin with required options. Default: none. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** The request of the runs: headers, caller. Default: a chat request of a caller without restrictions. */
  readonly request?: ExchangeParts;
  /** Texts that the hooks of the plugin change, for the rule `same-text`. Default: an address, a number, a key and words. */
  readonly texts?: readonly string[];
}
