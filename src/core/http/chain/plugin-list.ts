import type { PluginLevel } from '../../../plugin/index.ts';
import type { Report } from '../../kernel/report.ts';
import { unknownPlugin, type ChainItem, type ListChecks } from './compile.ts';
import { changeChains, isChanges, type ChainChanges } from './chain-changes.ts';
import { withKept } from './kept-plugins.ts';
import { pluginOf, type ListPart, type OuterChains } from './list-part.ts';
import type { PluginRegistry } from './registry.ts';

interface ListSetup extends Pick<ListChecks, 'registry' | 'nearest'> {
  /** Those of server.yaml. */
  readonly chains: OuterChains;
}

/** A `plugins` list by level. Undefined: the list names no plugin of this level, so the level is inherited. */
export interface DividedList {
  readonly request: ListPart | undefined;
  readonly attempt: ListPart | undefined;
}

export interface WrittenList {
  readonly items: readonly ChainItem[] | ChainChanges;
  readonly file: string;
  readonly path: readonly (string | number)[];
  /** A target is chosen by the request chain, so only a config names that chain. */
  readonly of: 'config' | 'target';
  /** The chains that it replaces or changes. */
  readonly around: OuterChains;
}

/** The attempt chain encodes the request with this plugin. */
const ENCODES = 'transform';
/** The attempt chain ends with this plugin, the only one that calls the upstream. */
const SENDS = 'send';
const isSend = (item: ChainItem): boolean => pluginOf(item) === SENDS;
/** The request chain runs attempt chains with this plugin, or with an external one. */
const RUNS = 'route';

/** Divides a list. Reports unknown plugins, plugins of other levels, and an attempt chain that cannot send. */
export function divideList(list: WrittenList, report: Report, setup: ListSetup): DividedList {
  const { items } = list;
  return isChanges(items) ? applyChanges(items, list, report, setup) : divideItems(items, list, report, setup);
}

function divideItems(
  items: readonly ChainItem[],
  { path, of }: WrittenList,
  report: Report,
  setup: ListSetup,
): DividedList {
  const parts = { request: newPart(), attempt: newPart() };
  let isWhole = true;
  for (const [index, item] of items.entries()) {
    const name = pluginOf(item);
    const at = typeof item === 'string' ? [...path, index] : [...path, index, 'plugin'];
    const level = setup.registry.get(name)?.plugin.level;
    if (typeof item !== 'string' && item.always !== undefined)
      report({ path: [...path, index, 'always'], on: 'key', message: ONLY_SERVER });
    if (level === 'attempt' || (level === 'request' && of === 'config')) {
      parts[level].items.push(item);
      parts[level].indexes.push(index);
      continue;
    }
    isWhole = false;
    report(level === undefined ? unknownPlugin(name, at, setup) : { path: at, message: misplaced(name, level, of) });
  }
  const { request, attempt } = parts;
  const canSend = encodesAndSends(attempt.items);
  const runs = (item: ChainItem): boolean => isRunner(item, setup.registry);
  const runsTargets = request.items.length === 0 || request.items.some(runs);
  // With an unknown name the corrected line could not be right.
  if (isWhole && attempt.items.length > 0 && !canSend)
    report({ path, on: 'key', message: `${CANNOT_SEND}${corrected(items, runsTargets, setup.registry)}` });
  else if (isWhole && !runsTargets)
    report({ path, on: 'key', severity: 'warning', message: `${NO_RUNNER}${corrected(items, false, setup.registry)}` });
  return {
    request: request.items.length > 0 ? withKept(request, setup.chains.request, runs) : undefined,
    attempt: canSend ? withKept(attempt, setup.chains.attempt, isSend) : undefined,
  };
}

function applyChanges(
  changes: ChainChanges,
  { file, path, of, around }: WrittenList,
  report: Report,
  { registry, nearest, chains }: ListSetup,
): DividedList {
  const runs = (item: ChainItem): boolean => isSend(item) || isRunner(item, registry);
  const always = [...chains.request.items, ...chains.attempt.items];
  for (const [index, { always: own }] of (changes.add ?? []).entries())
    if (own !== undefined) report({ path: [...path, 'add', index, 'always'], on: 'key', message: ONLY_SERVER });
  const bases = of === 'config' ? around : { attempt: around.attempt };
  const { request, attempt } = changeChains(changes, bases, report, {
    list: { file, path },
    nearest,
    always,
    ends: runs,
  });
  if (request && !request.items.some(runs)) report({ path, on: 'key', severity: 'warning', message: CHANGED_RUNNER });
  if (!attempt || encodesAndSends(attempt.items)) return { request, attempt };
  report({ path, on: 'key', message: CHANGED_SENDER });
  return { request, attempt: undefined };
}

const encodesAndSends = (items: readonly ChainItem[]): boolean =>
  items.some((item) => pluginOf(item) === ENCODES) && items.slice(-1).some(isSend);

const CHANGED_RUNNER = `the request chain that these changes leave has no plugin that runs an attempt chain, as "${RUNS}" does`;
const CHANGED_SENDER = `the attempt chain that these changes leave must hold "${ENCODES}" and end with "${SENDS}"`;

const newPart = (): { items: ChainItem[]; indexes: number[] } => ({ items: [], indexes: [] });

export const namesOf = (items: readonly ChainItem[]): ReadonlySet<string> => new Set(items.map(pluginOf));

function misplaced(name: string, level: PluginLevel, of: WrittenList['of']): string {
  const belongs = `plugin "${name}" belongs in the ${level} chain`;
  return of === 'config' || level === 'entry'
    ? `${belongs}, which \`chains.${level}\` of server.yaml lists for all configs; a ${of} lists ${LISTED[of]}`
    : `${belongs}, which runs before a target is chosen; a target lists ${LISTED[of]}`;
}

const LISTED = { config: 'request and attempt plugins', target: 'attempt plugins only' } as const;

const ONLY_SERVER = '`always` belongs to the chains of server.yaml, whose entries no other list drops';
const CANNOT_SEND = `a list with attempt plugins replaces the attempt chain: it must hold "${ENCODES}" and end with "${SENDS}"; write `;
const NO_RUNNER = `a list with request plugins replaces the request chain, and no plugin of this one runs an attempt chain, as "${RUNS}" does; write `;

/** A request plugin that runs attempt chains, or declares that it replies itself. */
function isRunner(item: ChainItem, registry: PluginRegistry): boolean {
  const plugin = registry.get(pluginOf(item))?.plugin;
  return plugin !== undefined && (plugin.needs.includes('attempts') || plugin.provides.includes('reply'));
}

/** Longer lists are shortened in the message. */
const MAX_SHOWN = 30;

/** The line as it must be written. Plugins keep their order. */
function corrected(items: readonly ChainItem[], runsTargets: boolean, registry: PluginRegistry): string {
  const has = (name: string): boolean => items.some((item) => pluginOf(item) === name);
  const find = (item: ChainItem) => registry.get(pluginOf(item))?.plugin;
  const kept = items.filter((item) => !isSend(item));
  const sends = items.some((item) => find(item)?.level === 'attempt');
  if (!runsTargets) kept.splice(kept.findLastIndex((item) => find(item)?.level === 'request') + 1, 0, RUNS);
  if (sends && !has(ENCODES)) {
    const needs = kept.findIndex((item) => find(item)?.requires.includes('outbound'));
    kept.splice(needs < 0 ? kept.length : needs, 0, ENCODES);
  }
  const end = sends ? [items.find(isSend) ?? SENDS] : [];
  const line = kept.length > MAX_SHOWN ? [...kept.slice(0, MAX_SHOWN), '…'] : kept;
  return `\`plugins: [${[...line, ...end].map(shown).join(', ')}]\``;
}

/** Options are left out: they may hold the value of a reference. */
function shown(item: ChainItem): string {
  if (typeof item === 'string') return item;
  const { plugin, name, options } = item;
  const fields = [
    `plugin: ${plugin}`,
    ...(name === undefined ? [] : [`name: ${name}`]),
    ...(options === undefined ? [] : ['options: …']),
  ];
  return fields.length === 1 ? plugin : `{ ${fields.join(', ')} }`;
}
