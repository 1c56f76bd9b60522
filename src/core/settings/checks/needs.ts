import type { ChainItem, ServerFile } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import type { JsonPath } from '../schema/pointer.ts';
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
      checkCors(chains?.entry ?? [], within(report, 'chains', 'entry'));
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
        if (chains.length === 0 || chains.some(({ items }) => !items || has(items, plugin))) continue;
        const message = `\`${key}\` needs the plugin "${plugin}", which ${chains[0]!.where} does not include`;
        report({ path: [key], on: 'key', message });
      }
    },
  };
};

/** @param isOpen no plugin from outside is there to authenticate callers, or keys are, which only `auth` reads */
function checkEntry(entry: readonly ChainItem[], isOpen: boolean, report: Report): void {
  if (isOpen && !has(entry, 'auth')) report({ path: [], severity: 'warning', message: WITHOUT_AUTH });
  for (const [index, item] of entry.entries())
    if (typeof item !== 'string' && item.always)
      report({ path: [index, 'always'], on: 'key', severity: 'warning', message: ALWAYS_THERE });
}

const WITHOUT_AUTH =
  'this chain leaves out "auth": requests need no key, and what keys may use, their limits and their budgets do not hold';
const ALWAYS_THERE =
  '`always` has no effect here: `plugins` of a config or target replace request and attempt chains, and never this one';

/** `errors` answers a preflight with the 405 of its path, and the plugins after it see no error replies. */
function checkCors(entry: readonly ChainItem[], report: Report): void {
  const names = entry.map((item) => (typeof item === 'string' ? item : item.plugin));
  const at = names.indexOf('cors');
  const item = entry[at];
  if (item === undefined) return;
  const origins: unknown = typeof item === 'string' ? undefined : item.options?.['origins'];
  if (origins === undefined || (Array.isArray(origins) && origins.length === 0))
    report({
      path: [at],
      severity: 'warning',
      message: '`cors` without `origins` lets no page read replies: list the pages under `options: { origins: [...] }`',
    });
  if (names.indexOf('errors') > at) return;
  report({
    path: [at],
    message: '`cors` belongs before `errors`: pages could read no error, and no preflight would be answered',
  });
}

const OF_ATTEMPTS = [
  { key: 'default_params', plugin: 'override' },
  { key: 'override_params', plugin: 'override' },
  { key: 'drop_params', plugin: 'override' },
  { key: 'cache', plugin: 'cache' },
  { key: 'retry', plugin: 'retry' },
] as const;

/** The attempt chain of a target: the nearest list that names one, else the server's. Undefined: the default. */
export function attemptChain(
  path: JsonPath,
  { nodes }: CheckedConfig,
  server: ServerFile,
): { readonly items: readonly ChainItem[] | undefined; readonly where: string } {
  const around = nodes.filter((node) => isInside(path, node.path));
  const own = around.findLast(({ file: { plugins } }) => plugins && namesAttempt(plugins));
  if (!own) return { items: server.chains?.attempt, where: '`chains.attempt` of server.yaml' };
  const items = [...(own.file.plugins ?? []), ...alwaysIn(server.chains?.attempt)];
  return { items, where: own.path.length === 0 ? ITS_PLUGINS : '`plugins` of its target' };
}

/** Entries that stay in every chain. */
const alwaysIn = (chain: readonly ChainItem[] = []): readonly ChainItem[] =>
  chain.filter((item) => typeof item !== 'string' && item.always);

const ITS_PLUGINS = '`plugins` of this config';

/** Levels of external plugins are unknown here; a valid attempt chain ends with `send`. */
const namesAttempt = (list: readonly ChainItem[]): boolean => has(list, 'send');

/** A list without an attempt chain has request plugins only. */
const namesRequest = (list: readonly ChainItem[]): boolean =>
  has(list, 'route') || has(list, 'metadata') || (list.length > 0 && !namesAttempt(list));

/** Compares the plugin's own name: an instance may have any name. */
export const has = (chain: readonly ChainItem[], plugin: string): boolean =>
  chain.some((item) => (typeof item === 'string' ? item : item.plugin) === plugin);

function checkMetadata(file: CheckedConfig['file'], server: ServerFile, report: Report): void {
  const own =
    file.plugins && namesRequest(file.plugins) ? [...file.plugins, ...alwaysIn(server.chains?.request)] : undefined;
  const chain = own ?? server.chains?.request;
  if (!file.metadata || !chain || has(chain, 'metadata')) return;
  const place = own ? ITS_PLUGINS : '`chains.request` of server.yaml';
  const message = `\`metadata\` needs the plugin "metadata", which ${place} does not include`;
  report({ path: ['metadata'], on: 'key', message });
}
