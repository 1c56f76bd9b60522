import type { Plugin } from '../define.ts';
import { checkDefinition } from './check-definition.ts';
import { checkRuns, type CheckSetup } from './check-runs.ts';
import { sentence, type PluginFinding } from './finding.ts';

/**
 * Checks the rules that every plugin should follow: what it declares, and how it behaves on replies of every form, when the
 * client leaves, when it is closed, and over many requests. Returns one sentence per violation, with its rule, its place and
 * its remedy: `expect(await checkPlugin(plugin)).toEqual([])`.
 */
export const checkPlugin = async (plugin: Plugin, setup: CheckSetup = {}): Promise<readonly string[]> =>
  (await findings(plugin, setup)).map(sentence);

/** The same as values. */
export async function findings(plugin: Plugin, setup: CheckSetup = {}): Promise<readonly PluginFinding[]> {
  const declared = [...checkDefinition(plugin)];
  // A plugin cannot be created with options that its schema refuses.
  if (declared.some(({ rule }) => rule === 'options-default')) return declared;
  return [...declared, ...(await checkRuns(plugin, setup))];
}
