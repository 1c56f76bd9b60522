import type { Plugin } from '../define.ts';
import { checkDefinition } from './check-definition.ts';
import { checkRuns } from './check-runs.ts';
import type { ExchangeParts } from './exchange.ts';
import { sentence, type Finding } from './finding.ts';
import type { HostSetup } from './run-plugin.ts';

export interface CheckSetup extends HostSetup {
  /** Options to create the plugin with, for a plugin with required options. Default: none. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** The request of the runs: headers, caller. Default: a chat request of a caller without restrictions. */
  readonly request?: ExchangeParts;
  /** Texts that the hooks of the plugin change, for the rule `same-text`. Default: an address, a number, a key and words. */
  readonly texts?: readonly string[];
}

/**
 * Checks the rules that every plugin should follow: what it declares, and how it behaves on replies of every form, when the
 * client leaves, when it is closed, and over many requests. Returns one sentence per violation, with its rule, its place and
 * its remedy: `expect(await checkPlugin(plugin)).toEqual([])`.
 */
export const checkPlugin = async (plugin: Plugin, setup: CheckSetup = {}): Promise<readonly string[]> =>
  (await findings(plugin, setup)).map(sentence);

/** The same as values. */
export async function findings(plugin: Plugin, setup: CheckSetup = {}): Promise<readonly Finding[]> {
  const declared = checkDefinition(plugin);
  return [...declared, ...(await checkRuns(plugin, setup))];
}
