import { createHmac, randomBytes } from 'node:crypto';
import type { ChainList, GatewayFile, Target as TargetFile } from '../../../schemas/types.generated.ts';
import { isValid, type ChainItem } from '../http/chain/compile.ts';
import { isChanges } from '../http/chain/chain-changes.ts';
import { alwaysIn, hasOptions, keptAs } from '../http/chain/kept-plugins.ts';
import { inherited, instanceOf, pluginOf, type OuterChains } from '../http/chain/list-part.ts';
import { divideList, namesOf, type DividedList, type WrittenList } from '../http/chain/plugin-list.ts';
import { Secret } from '../../plugin/index.ts';
import type { Capabilities, NamedChain } from '../kernel/index.ts';
import type { Report } from '../kernel/report.ts';
import type { NamedChains, NamedChainsOfList } from '../settings/compile/gateway-config.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import {
  outerEntry,
  serverChain,
  serverChains,
  type ChainBuilder,
  type ChainPlace,
  type ListedPlugin,
} from './chain-builder.ts';
import { RequestedChains, type CheckedList, type ListedChain } from './requested-chains.ts';

interface PluginListTools {
  readonly server: ServerSettings;
  readonly granted: { readonly request: Partial<Capabilities>; readonly attempt: Partial<Capabilities> };
}

/** The chains that the `plugins` lists of configs and targets name. Equal lists share one chain. */
export class PluginLists {
  readonly #builder: ChainBuilder;
  readonly #tools: PluginListTools;
  readonly #compiled = new Map<string, ListedChain>();
  readonly #requested: RequestedChains;

  constructor(builder: ChainBuilder, tools: PluginListTools) {
    this.#builder = builder;
    this.#tools = tools;
    this.#requested = new RequestedChains(builder);
  }

  /** Compiles the lists of a config's file. Every mistake is reported at its place. */
  async compile(file: GatewayFile, name: string): Promise<NamedChains> {
    const made = new Map<ChainList, NamedChainsOfList>();
    const report = this.#builder.reporter(name);
    for (const { items, path, parts } of this.#check(file, name, report)) {
      const left = isChanges(items)
        ? []
        : LISTED_LEVELS.flatMap((level) => (parts[level] ? this.#leftOut(level, items) : []));
      if (left.length > 0) report({ path, on: 'key', severity: 'warning', message: leavesOut(left) });
      made.set(items, { request: await this.#make(parts.request), attempt: await this.#make(parts.attempt) });
    }
    return made;
  }

  /** The lists of a config that came with a request: their plugins are created when a request first runs them. */
  requested(file: GatewayFile, report: Report): NamedChains {
    const made = new Map<ChainList, NamedChainsOfList>();
    const count = [...pluginsIn(file)].reduce((sum, items) => sum + this.#lengthOf(items), 0);
    if (count > MOST_REQUESTED) {
      report({ path: [], message: `the config lists ${count} plugins; it may list ${MOST_REQUESTED} at most` });
      return made;
    }
    for (const { items, path, parts } of this.#check(file, REQUESTED, report)) {
      this.#refuseOptions(items, path, report);
      made.set(items, { request: this.#later(parts.request), attempt: this.#later(parts.attempt) });
    }
    if (listedParts(file, this.#builder, this.#tools.server).request) this.#checkServersAttempt(file, report);
    return made;
  }

  *#check(file: GatewayFile, name: string, report: Report) {
    const { server, granted } = this.#tools;
    const chains = serverChains(server);
    const divide = (list: WrittenList) => divideList(list, report, { ...this.#builder.checks, chains });
    for (const { items, path, divided } of listsOf(file, { file: name, path: [], around: chains }, divide)) {
      const { request, attempt } = divided;
      const place = { file: name, path };
      const part = (level: ListedLevel, listed: typeof request, provided: readonly string[]) =>
        listed && this.#part({ ...place, ...listed, level, provided }, granted[level], report);
      const parts = {
        request: part('request', request, this.#builder.providedTo('request', outerEntry(server))),
        attempt: part('attempt', attempt, this.#providedToAttempts(file)),
      };
      yield { items, path, parts };
    }
  }

  /** The plugins of the server's chain that a list drops silently, but for those whose checks name them. */
  #leftOut(level: ListedLevel, items: readonly ChainItem[]): readonly string[] {
    const { registry } = this.#builder.checks;
    const named = namesOf(items);
    return this.#tools.server.chains[level].flatMap((entry) => {
      const { plugin, builtin } = registry.get(pluginOf(entry)) ?? {};
      const isMissed =
        plugin && !named.has(plugin.name) && (!builtin || hasOptions(entry) || plugin.name === 'prompts');
      return isMissed && alwaysIn([entry]).length === 0 ? [plugin.name] : [];
    });
  }

  /** The plugins that a list may create. */
  #lengthOf(items: ChainList): number {
    if (!isChanges(items)) return items.length;
    const { request, attempt } = this.#tools.server.chains;
    return request.length + attempt.length + (items.add ?? []).length;
  }

  /** A caller must not weaken an entry that it cannot drop. */
  #refuseOptions(items: ChainList, path: WrittenList['path'], report: Report): void {
    const { request, attempt } = this.#tools.server.chains;
    const always = alwaysIn([...request, ...attempt]);
    const refuse = (name: string, ...keys: WrittenList['path']): void =>
      report({
        path: [...path, ...keys],
        message: `the options of "${name}" are those of server.yaml, which has \`always: true\` there`,
      });
    if (isChanges(items)) {
      for (const name of Object.keys(items.options ?? {}))
        if (always.some((entry) => instanceOf(entry) === name || pluginOf(entry) === name))
          refuse(name, 'options', name);
      return;
    }
    for (const [index, item] of items.entries())
      if (hasOptions(item) && keptAs(item, always)) refuse(pluginOf(item), index, 'options');
  }

  #part(place: ChainPlace, granted: Partial<Capabilities>, report: Report): CheckedList {
    return {
      id: idOf(place.level, place.items),
      pluginNames: namesOf(place.items),
      file: place.file,
      granted,
      chain: this.#builder.check(place, report),
    };
  }

  /** The names that the request chain of a config provides to its attempts. */
  #providedToAttempts(file: GatewayFile): readonly string[] {
    const { server } = this.#tools;
    const items = listedParts(file, this.#builder, server).request?.items ?? server.chains.request;
    return this.#builder.providedTo('attempt', outerEntry(server), { items, runner: 'attempts' });
  }

  /** A request chain that came with a request may lack what the server's attempt chain needs. */
  #checkServersAttempt(file: GatewayFile, report: Report): void {
    const place = { ...serverChain(this.#tools.server, 'attempt'), provided: this.#providedToAttempts(file) };
    this.#builder.check(place, ({ message }) => report({ path: ['plugins'], on: 'key', message }));
  }

  async #make(part: CheckedList | undefined): Promise<ListedChain | undefined> {
    if (!part) return undefined;
    const known = this.#builder.shares ? this.#compiled.get(part.id) : undefined;
    if (known && isValid(part.chain)) return known;
    const plugins: ListedPlugin[] = [];
    const { id, pluginNames, chain, file, granted } = part;
    const made = await this.#builder.create(chain, { file, granted, onPlugin: (place) => void plugins.push(place) });
    if (!made) return undefined;
    const listed = { id, pluginNames, run: made.run, plugins };
    this.#compiled.set(id, listed);
    return listed;
  }

  #later(part: CheckedList | undefined): NamedChain | undefined {
    return part ? (this.#compiled.get(part.id) ?? this.#requested.chain(part)) : undefined;
  }
}

type ListedLevel = 'request' | 'attempt';
const LISTED_LEVELS: readonly ListedLevel[] = ['request', 'attempt'];

const leavesOut = (plugins: readonly string[]): string => {
  const names = plugins.map((name) => `"${name}"`).join(' and ');
  return `this list leaves out ${names}, which the chain of server.yaml has; list ${plugins.length === 1 ? 'it' : 'them'}, or set \`always: true\` there`;
};

/** The plugins of a chain in order, with their places. Empty for a chain whose plugins have not been created. */
export const pluginsOf = ({ plugins = [] }: NamedChain & Partial<ListedChain>): readonly ListedPlugin[] => plugins;

/** The plugins of all lists in a config sent with a request: each may be a mistake, and is created. */
const MOST_REQUESTED = 100;

/** The file name in the places of plugins that a config sent with a request lists. */
const REQUESTED = 'x-gateway-config';

/** The levels that a config's own list names. */
export const listedParts = (
  { plugins = [] }: GatewayFile,
  { checks }: Pick<ChainBuilder, 'checks'>,
  server: ServerSettings,
): DividedList => {
  const chains = serverChains(server);
  const list = { items: plugins, file: '', path: [], of: 'config', around: chains } as const;
  return divideList(list, () => {}, { ...checks, chains });
};

/** The lists of a config or a target and of all targets in it, the outer ones first, each by level. */
function* listsOf(
  node: GatewayFile | TargetFile,
  { file, path, around }: Pick<WrittenList, 'file' | 'path' | 'around'>,
  divide: (list: WrittenList) => DividedList,
): Generator<WrittenList & { readonly items: ChainList; readonly divided: DividedList }> {
  const { plugins: items, targets = [] } = node;
  let inner: OuterChains = around;
  if (items) {
    const at = { file, path: [...path, 'plugins'] };
    const list = { items, ...at, of: path.length === 0 ? ('config' as const) : ('target' as const), around };
    const divided = divide(list);
    yield { ...list, divided };
    if (divided.attempt) inner = { ...around, attempt: inherited(divided.attempt, at) };
  }
  for (const [index, target] of targets.entries())
    yield* listsOf(target, { file, path: [...path, 'targets', index], around: inner }, divide);
}

function* pluginsIn({ plugins, targets = [] }: GatewayFile | TargetFile): Generator<ChainList> {
  if (plugins) yield plugins;
  for (const target of targets) yield* pluginsIn(target);
}

const processKey = randomBytes(32);

/** Explain shows ids, and options may hold secrets: the digest is keyed, so that an id does not reveal them. */
function idOf(level: string, items: readonly ChainItem[]): string {
  const text = JSON.stringify([level, items], function (this: Record<string, unknown>, key, value: unknown) {
    // `value` is what `toJSON` of a secret returns.
    const own = this[key];
    return own instanceof Secret ? { secret: own.reveal() } : value;
  });
  return createHmac('sha256', processKey).update(text).digest('base64url').slice(0, 16);
}
