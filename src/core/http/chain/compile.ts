import { isCreated, toMiddleware, type CreatedPlugin, type PluginHost, type Middleware } from '../../kernel/define.ts';
import type { CapabilityName, Plugin } from '../../kernel/index.ts';
import type { PluginLevel } from '../../../plugin/index.ts';
import type { ListPlace, Placed, Problem, Report } from '../../kernel/report.ts';
import { messageOf } from '../../kernel/outside/thrown.ts';
import { compose } from './compose.ts';
import type { Chain, Guard, Instance } from './instance.ts';
import { runForPlugin } from '../../kernel/outside/plugin-work.ts';
import type { PluginRegistry, RegisteredPlugin } from './registry.ts';

/** An entry of a chain in the settings: a name, or a name with options. */
export type ChainItem =
  | string
  | {
      readonly plugin: string;
      readonly name?: string;
      readonly options?: Readonly<Record<string, unknown>>;
      /** In server.yaml: no list of a config or a target drops it. */
      readonly always?: boolean;
      /** Default: fail. */
      readonly on_error?: 'fail' | 'skip';
    };

export interface CompiledChain {
  readonly run: Chain;
  readonly names: readonly string[];
}

interface ChainSource {
  readonly level: PluginLevel;
  readonly items: readonly ChainItem[];
  /** The indexes of `items` in the written list, which may also have items of other levels. Default: 0, 1, 2 … */
  readonly indexes?: readonly (number | Placed)[] | undefined;
  readonly path: readonly (string | number)[];
  readonly report: Report;
  readonly provided?: readonly string[];
}

/** A plugin and its place, for hooks that observe a chain. */
export interface PluginPlace {
  readonly plugin: Plugin;
  readonly builtin: boolean;
  /** The name in logs and errors. */
  readonly instance: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** The path in the file that lists it. */
  readonly path: readonly (string | number)[];
  /** Its place in another list, where the one at `path` does not name it. */
  readonly from?: ListPlace | undefined;
  /** The list at `path` must keep it. */
  readonly kept?: boolean | undefined;
  /** The list of changes that sets options of it. */
  readonly changedAt?: ListPlace | undefined;
}

type Options = Readonly<Record<string, unknown>>;

type Created = CreatedPlugin | Promise<CreatedPlugin>;

/** Creates a plugin's middleware or step, wrapped or replaced. */
type Instantiate = (place: PluginPlace, create: () => Created) => Created;

export interface ListChecks {
  readonly registry: PluginRegistry;
  /** The valid options, with the schema's defaults. `trusted`: the schema is the gateway's own. */
  readonly readOptions: (
    of: { readonly schema: object; readonly trusted: boolean },
    options: Options,
    path: readonly (string | number)[],
    report: Report,
  ) => Options | undefined;
  /** The known name that is nearest to a misspelt one. */
  readonly nearest: (name: string, names: readonly string[]) => string | undefined;
}

interface CompileSetup extends ListChecks {
  /** Default: calls `create`. */
  readonly instantiate?: Instantiate | undefined;
  /** The hooks of a plugin that declares `reads`, as middleware. */
  readonly hooked?:
    | ((place: Pick<PluginPlace, 'plugin' | 'instance'>, made: unknown) => Promise<Middleware>)
    | undefined;
  /** Creates the host for a plugin: the capabilities it may have and its own log. */
  readonly host: (plugin: Plugin, instance: string, path: PluginPlace['path']) => PluginHost<CapabilityName>;
  readonly inTime: <T>(work: Promise<T>) => Promise<T>;
  /** Time limit and fault reports of external plugins. Default: no limit. */
  readonly guard?: Guard | undefined;
}

/**
 * `send` and `semantic` send bytes with credentials, and `budgets` spends, so external plugins never get them. `cache`
 * would hide the service of this name.
 */
const BUILTIN_ONLY: ReadonlySet<CapabilityName> = new Set(['send', 'semantic', 'budgets', 'cache']);

/** A list whose mistakes have been reported; its plugins have not been created. */
export interface CheckedChain {
  readonly source: ChainSource;
  /** Undefined for an item with a mistake. */
  readonly items: readonly (CheckedItem | undefined)[];
}

interface CheckedItem {
  readonly entry: RegisteredPlugin;
  readonly place: ItemPlace;
}

/** Reports every mistake of a list at its place: unknown names, wrong levels and order, options. Creates nothing. */
export function checkChain(source: ChainSource, setup: ListChecks): CheckedChain {
  const provided = new Set(source.provided);
  const items: (CheckedItem | undefined)[] = [];
  for (const [index, item] of source.items.entries()) {
    const place = toPlace(item, source.indexes?.[index] ?? index, source.path);
    const entry = findPlugin(place, source, setup);
    const missing = entry?.plugin.requires.filter((name) => !provided.has(name)) ?? [];
    const options = entry && checkPlace(entry, place, missing, { source, setup });
    items.push(options && { entry, place: { ...place, options } });
    for (const name of entry?.plugin.provides ?? []) provided.add(name);
  }
  return { source, items };
}

export const isValid = ({ items }: CheckedChain): boolean => !items.includes(undefined);

/** Creates the plugins of a checked chain. Reports those that cannot start; with any mistake the result is undefined. */
export async function createChain(
  { source, items }: CheckedChain,
  setup: CompileSetup,
): Promise<CompiledChain | undefined> {
  const instances: (Instance | undefined)[] = [];
  for (const item of items) instances.push(item && (await createInstance(item.entry, item.place, source, setup)));
  const whole = instances.filter((instance) => instance !== undefined);
  return whole.length < instances.length
    ? undefined
    : { run: compose(whole, source.level), names: whole.map(({ name }) => name) };
}

interface ItemPlace extends Omit<PluginPlace, 'plugin' | 'builtin'> {
  readonly skips: boolean;
  readonly plugin: string;
  readonly namePath: readonly (string | number)[];
  readonly optionsPath: readonly (string | number)[];
}

/** Mistakes of an item that another list has are reported at this list. */
function toPlace(item: ChainItem, index: number | Placed, list: readonly (string | number)[]): ItemPlace {
  const { at, from, kept, options: changedAt } = typeof index === 'number' ? { at: [index] } : index;
  const path = [...list, ...at];
  const isOwnChange = changedAt !== undefined && list.every((key, position) => changedAt.path[position] === key);
  const optionsPath = isOwnChange ? changedAt.path : [...path, 'options'];
  const skips = typeof item === 'object' && item.on_error === 'skip';
  const place = { path, optionsPath, from, kept, changedAt, skips };
  if (typeof item === 'string') return { ...place, plugin: item, instance: item, options: {}, namePath: path };
  const { plugin, name = plugin, options = {} } = item;
  return { ...place, plugin, instance: name, options, namePath: at.length === 0 ? path : [...path, 'plugin'] };
}

export function unknownPlugin(
  name: string,
  path: readonly (string | number)[],
  { registry, nearest }: Pick<ListChecks, 'registry' | 'nearest'>,
): Problem {
  const suggestion = nearest(name, registry.names);
  return { path, message: `unknown plugin "${name}"`, ...(suggestion && { suggestion }) };
}

function findPlugin(
  { plugin: name, namePath }: ItemPlace,
  { level, report }: ChainSource,
  { registry, nearest }: ListChecks,
): RegisteredPlugin | undefined {
  const entry = registry.get(name);
  if (!entry) {
    report(unknownPlugin(name, namePath, { registry, nearest }));
    return undefined;
  }
  const { plugin, builtin } = entry;
  const refused = builtin ? undefined : plugin.needs.find((need) => BUILTIN_ONLY.has(need));
  const message =
    plugin.level === level
      ? refused && `plugin "${name}" needs "${refused}", which external plugins do not get`
      : `plugin "${name}" belongs in the ${plugin.level} chain, this is the ${level} chain`;
  if (message === undefined) return entry;
  report({ path: namePath, message });
  return undefined;
}

/** The valid options. @param missing names that the plugin requires and no earlier plugin provides */
function checkPlace(
  { plugin, builtin }: RegisteredPlugin,
  place: ItemPlace,
  missing: readonly string[],
  { source, setup }: { readonly source: ChainSource; readonly setup: ListChecks },
): Options | undefined {
  for (const name of missing)
    source.report({ path: place.namePath, message: missingMessage(plugin, name, setup.registry) });
  const unfit = place.skips ? whyNotSkipped(plugin, builtin) : undefined;
  if (unfit !== undefined) source.report({ path: [...place.path, 'on_error'], message: unfit });
  const of = { schema: plugin.options, trusted: builtin };
  const options = setup.readOptions(of, place.options, place.optionsPath, source.report);
  return missing.length === 0 && unfit === undefined ? options : undefined;
}

/** A plugin that was skipped may have left half of its work. */
function whyNotSkipped({ name, pure, reads }: Plugin, builtin: boolean): string | undefined {
  if (builtin) return `"${name}" is a plugin of the gateway, which is never skipped`;
  const observes =
    reads &&
    [reads.request, reads.reply].every((level) => level === undefined || level === 'none' || level === 'observe');
  return pure || observes
    ? undefined
    : `"${name}" can be skipped only if it has \`pure: true\`, or \`reads\` that only observe`;
}

function missingMessage({ name: plugin, level }: Plugin, name: string, registry: PluginRegistry): string {
  const providers = registry.names
    .flatMap((other) => registry.get(other)?.plugin ?? [])
    .filter(({ provides }) => provides.includes(name));
  const near = providers.find((provider) => provider.level === level);
  if (near)
    return `plugin "${plugin}" needs "${name}" from a plugin earlier in the chain; put "${near.name}" before it`;
  const [far] = providers;
  const hint = far ? `; "${far.name}" provides it, in the ${far.level} chain` : '';
  return `plugin "${plugin}" needs "${name}" from a plugin before it${hint}`;
}

async function createInstance(
  entry: RegisteredPlugin,
  place: ItemPlace,
  { report }: ChainSource,
  { host, inTime, guard, hooked, instantiate = (_, create) => create() }: CompileSetup,
): Promise<Instance | undefined> {
  const { plugin, builtin } = entry;
  const { instance, options, path } = place;
  try {
    const create = (): Created => {
      const made = plugin.create({ options, host: host(plugin, instance, path) });
      if (plugin.reads && hooked) return Promise.resolve(made).then((hooks) => hooked({ plugin, instance }, hooks));
      // Without `reads`, hooks are a fault like any other object.
      return made as Created;
    };
    const made = instantiate({ ...place, plugin, builtin }, builtin ? create : () => runForPlugin(instance, create));
    const created = await inTime(Promise.resolve(made));
    if (!isCreated(created)) throw new Error('its `create` returned no middleware');
    return {
      name: instance,
      repeats: plugin.repeats,
      builtin,
      middleware: toMiddleware(created),
      ...(plugin.idleFor && { isIdleFor: idleTest(entry, place, guard) }),
      ...(builtin && 'step' in created && { step: created }),
      ...(!builtin && { guard }),
      ...(place.skips && { skips: true }),
    };
  } catch (error) {
    report({ path: place.namePath, message: `plugin "${plugin.name}" cannot start: ${messageOf(error)}` });
    return undefined;
  }
}

/** Whether a plan leaves the plugin out. An outside plugin whose test fails stays in: it may be a guard. */
export function idleTest(
  { plugin, builtin }: RegisteredPlugin,
  { instance, options }: Pick<ItemPlace, 'instance' | 'options'>,
  guard?: Guard,
): (subject: object) => boolean {
  if (builtin) return (subject) => plugin.idleFor?.(subject, options) === true;
  return (subject) => {
    try {
      return runForPlugin(instance, () => plugin.idleFor?.(subject, options)) === true;
    } catch (error) {
      guard?.onFault({ kind: 'error', plugin: instance, error });
      return false;
    }
  };
}
