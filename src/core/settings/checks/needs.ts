import type { ChainItem, ChainList, ServerFile } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import type { JsonPath } from '../schema/pointer.ts';
import { DEFAULT_CHAINS } from '../compile/server-settings.ts';
import { isInside, within, type Check, type CheckedConfig } from './check.ts';

/** Reports settings that have no effect because server.yaml switches off or leaves out what reads them. */
export const checkNeeds: Check = ({ server, keys }) => {
  if (!server) return {};
  return {
    server({ chains, plugins = [] }, report) {
      if (chains?.entry) {
        const isOpen = plugins.length === 0 || (keys?.keys ?? []).length > 0;
        checkEntry(chains.entry, isOpen, within(report, 'chains', 'entry'));
      }
      if (chains?.entry) checkCors(chains.entry, within(report, 'chains', 'entry'));
    },
    config({ file }, report) {
      checkMetadata(file, server, report);
    },
    node({ file, path }, report, config) {
      for (const { key, plugin } of OF_ATTEMPTS) {
        if (file[key] === undefined) continue;
        const chains = config.targets
          .filter((target) => isInside(target.path, path))
          .map((target) => attemptChain(target.path, config, server));
        // A setting of a group or config may be for some of its targets only.
        if (chains.length === 0 || chains.some(({ layers }) => !lacks(layers, plugin))) continue;
        const message = `\`${key}\` needs the plugin "${plugin}", which ${chains[0]!.where} does not include`;
        report({ path: [key], on: 'key', message });
      }
    },
  };
};

/** @param isOpen no plugin from outside is there to authenticate callers, or keys are, which only `auth` reads */
function checkEntry(entry: ChainList, isOpen: boolean, report: Report): void {
  if (isOpen && lacks([entry], 'auth')) report({ path: [], severity: 'warning', message: WITHOUT_AUTH });
  for (const { item, path } of itemsIn(entry))
    if (typeof item !== 'string' && item.always)
      report({ path: [...path, 'always'], on: 'key', severity: 'warning', message: ALWAYS_THERE });
}

const WITHOUT_AUTH =
  'this chain leaves out "auth": requests need no key, and what keys may use, their limits and their budgets do not hold';
const ALWAYS_THERE =
  '`always` has no effect here: `plugins` of a config or target replace request and attempt chains, and never this one';

/** `errors` answers a preflight with the 405 of its path, and the plugins after it see no error replies. */
function checkCors(entry: ChainList, report: Report): void {
  const { item, path } = itemsIn(entry).find((one) => has([one.item], 'cors')) ?? {};
  if (item === undefined || path === undefined) return;
  const origins: unknown = typeof item === 'string' ? undefined : item.options?.['origins'];
  if (origins === undefined || (Array.isArray(origins) && origins.length === 0))
    report({
      path,
      severity: 'warning',
      message: '`cors` without `origins` lets no page read replies: list the pages under `options: { origins: [...] }`',
    });
  if (isBeforeErrors(entry)) return;
  report({
    path,
    message: '`cors` belongs before `errors`: pages could read no error, and no preflight would be answered',
  });
}

function isBeforeErrors(entry: ChainList): boolean {
  if (Array.isArray(entry)) return namesOf(entry).indexOf('errors') > namesOf(entry).indexOf('cors');
  const { before, after = '' } = entry.add?.find((one) => has([one], 'cors')) ?? {};
  const names = namesOf(DEFAULT_CHAINS.entry);
  const errors = names.indexOf('errors');
  return before === undefined ? names.indexOf(after) < errors : names.indexOf(before) <= errors;
}

const namesOf = (items: readonly ChainItem[]): readonly string[] =>
  items.map((item) => (typeof item === 'string' ? item : item.plugin));

const OF_ATTEMPTS = [
  { key: 'default_params', plugin: 'override' },
  { key: 'override_params', plugin: 'override' },
  { key: 'drop_params', plugin: 'override' },
  { key: 'cache', plugin: 'cache' },
  { key: 'retry', plugin: 'retry' },
] as const;

/** The attempt chain of a target: that of the server, with the lists and changes of the levels around the target. */
export function attemptChain(
  path: JsonPath,
  { nodes }: CheckedConfig,
  server: ServerFile,
): { readonly layers: ChainLayers; readonly isServers: boolean; readonly where: string } {
  const own = nodes.filter(({ path: at, file: { plugins } }) => isInside(path, at) && plugins && namesAttempt(plugins));
  const layers = [server.chains?.attempt, ...own.map(({ file: { plugins } }) => plugins)];
  const nearest = own.at(-1);
  if (!nearest) return { layers, isServers: true, where: '`chains.attempt` of server.yaml' };
  return { layers, isServers: false, where: nearest.path.length === 0 ? ITS_PLUGINS : '`plugins` of its target' };
}

/** A chain as the settings make it: that of the server first, then each list, or changes, of a config and of targets in it. */
type ChainLayers = readonly (ChainList | undefined)[];

/** Whether a chain has lost a plugin, or has none of its own. The default chain has all that settings need. */
export function lacks([server, ...own]: ChainLayers, plugin: string): boolean {
  const kept = itemsIn(server).flatMap(({ item }) => (typeof item !== 'string' && item.always ? item : []));
  if (has(kept, plugin)) return false;
  return [server, ...own].reduce((isLost, layer) => {
    if (layer === undefined) return isLost;
    if (Array.isArray(layer)) return !has(layer, plugin);
    return !has(layer.add ?? [], plugin) && (isLost || (layer.remove ?? []).includes(plugin));
  }, false);
}

/** The items that a list or changes write. */
const itemsIn = (list: ChainList = []): readonly { readonly item: ChainItem; readonly path: JsonPath }[] =>
  Array.isArray(list)
    ? list.map((item, index) => ({ item, path: [index] }))
    : (list.add ?? []).map((item, index) => ({ item, path: ['add', index] }));

const ITS_PLUGINS = '`plugins` of this config';

/** Levels of external plugins are unknown here; a valid attempt chain ends with `send`. */
const namesAttempt = (list: ChainList): boolean => !Array.isArray(list) || has(list, 'send');

/** A list without an attempt chain has request plugins only. */
const namesRequest = (list: ChainList): boolean =>
  !Array.isArray(list) || has(list, 'route') || has(list, 'metadata') || (list.length > 0 && !namesAttempt(list));

/** Compares the plugin's own name: an instance may have any name. */
const has = (chain: readonly ChainItem[], plugin: string): boolean =>
  chain.some((item) => (typeof item === 'string' ? item : item.plugin) === plugin);

function checkMetadata(file: CheckedConfig['file'], server: ServerFile, report: Report): void {
  const own = file.plugins && namesRequest(file.plugins) ? file.plugins : undefined;
  if (!file.metadata || !lacks([server.chains?.request, own], 'metadata')) return;
  const place = own ? ITS_PLUGINS : '`chains.request` of server.yaml';
  const message = `\`metadata\` needs the plugin "metadata", which ${place} does not include`;
  report({ path: ['metadata'], on: 'key', message });
}
