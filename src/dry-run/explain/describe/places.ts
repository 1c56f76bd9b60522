import type { GatewayFile, Target as TargetFile } from '../../../../schemas/types.generated.ts';
import { entryOf } from '../../../catalog/catalog-target.ts';
import type { SettingPlace, FieldSource } from '../../explanation/explanation.ts';
import type { ResolvedTarget } from '../../../plugin/index.ts';
import { valueAt, type JsonPath } from '../../../settings/read/pointer.ts';
import { inOurSpelling } from '../../../settings/read/spellings.ts';
import type { Observation } from '../observation.ts';

/** Nobody has said anything else. */
export const DEFAULT: FieldSource = { kind: 'gateway', what: 'default' };

/** A config, or a target of it, as it is written. */
export interface Level {
  /** `config.targets[1]` */
  readonly target: string;
  /** The same in the file: `['targets', 1]`. */
  readonly path: JsonPath;
  readonly says: GatewayFile | TargetFile;
}

/**
 * Where a setting that a target uses stands: at the nearest level that says it, from the target up to its config.
 * @param target path as `Target` has it: `config.targets[1].targets[0]`
 * @param keys in our spelling; several where one setting has several names, the one that wins first
 * @returns undefined where nobody says it
 */
export function configSource(seen: Observation, target: string, ...keys: readonly JsonPath[]): FieldSource | undefined {
  for (const level of levelsOf(seen, target)) {
    const said = keys.find((path) => valueAt(level.says, path) !== undefined);
    if (said) return sourceAt(seen, [...level.path, ...said]);
    if (keys.some((path) => endsAt(level, path))) return undefined;
  }
  return undefined;
}

/** Where a setting stands that is a target's, a group's or the config's own and not inherited: `name`, `strategy`, `deadline`. */
export function ownSource(seen: Observation, target: string, keys: JsonPath): FieldSource | undefined {
  const [level] = levelsOf(seen, target);
  return level && valueAt(level.says, keys) !== undefined ? sourceAt(seen, [...level.path, ...keys]) : undefined;
}

/** Undefined for a target that stands in no file. */
export function targetPlace(seen: Observation, target: string): SettingPlace | undefined {
  const file = fileOf(seen);
  return file === undefined ? undefined : seen.loaded.placeOf(file, pathOf(target));
}

/** What the config calls a target, or a group. The name of the config itself is none. */
export function targetName(seen: Observation, target: string): string | undefined {
  return target === ROOT ? undefined : levelsOf(seen, target)[0]?.says.name;
}

/** The slug of the catalog entry a target was resolved to; undefined for a place that the request itself names, whatever that is called. */
export const listedSlug = (resolved: ResolvedTarget | undefined): string | undefined =>
  resolved && entryOf(resolved)?.name === `@${resolved.slug}` ? resolved.slug : undefined;

/** Of a catalog entry: `catalogSource(seen, 'vertex', ['timeouts', 'total'])`; without keys, the entry. */
export function catalogSource(
  { settings, loaded }: Observation,
  slug: string | undefined,
  keys: JsonPath,
): FieldSource | undefined {
  const { providers } = settings.catalog;
  const index = providers.findIndex((entry) => entry.slug === slug);
  if (index < 0 || valueAt(providers[index], keys) === undefined) return undefined;
  return inFile(loaded, 'catalog.yaml', ['providers', index, ...keys]);
}

export function serverSource({ settings, loaded }: Observation, keys: JsonPath): FieldSource | undefined {
  return valueAt(settings.server, keys) === undefined ? undefined : inFile(loaded, 'server.yaml', keys);
}

/** Of a gateway key; without keys, its entry in keys.yaml. */
export function keySource({ settings, loaded }: Observation, keyId: string, keys: JsonPath): FieldSource | undefined {
  const all = settings.keys.keys;
  const index = all.findIndex(({ id }) => id === keyId);
  if (index < 0 || valueAt(all[index], keys) === undefined) return undefined;
  return inFile(loaded, 'keys.yaml', ['keys', index, ...keys]);
}

/** Undefined for what stands in no file. */
export const placeOf = (source: FieldSource | undefined): SettingPlace | undefined =>
  source?.kind === 'settings' ? source.at : undefined;

/** The config came in the header that names configs. */
export const isInline = ({ exchange: { request } }: Observation): boolean =>
  request.header('config')?.trimStart().startsWith('{') ?? false;

/** From the target up to its config, as they are written. Empty where a request came without a config. */
export function levelsOf(seen: Observation, target: string): readonly Level[] {
  const path = pathOf(target);
  const levels: Level[] = [];
  let says: GatewayFile | TargetFile | undefined = writtenConfig(seen);
  for (let depth = 0; says; depth += 2) {
    levels.unshift({ target: nameOf(path.slice(0, depth)), path: path.slice(0, depth), says });
    const index = path[depth + 1];
    says = typeof index === 'number' ? says.targets?.[index] : undefined;
  }
  return levels.length === path.length / 2 + 1 ? levels : [];
}

const ROOT = 'config';

/** `config.targets[1].targets[0]` → `['targets', 1, 'targets', 0]` */
const pathOf = (target: string): JsonPath =>
  [...target.matchAll(/\.targets\[(\d+)\]/g)].flatMap(([, index]) => ['targets', Number(index)]);

const nameOf = (path: JsonPath): string =>
  ROOT + path.map((segment) => (typeof segment === 'number' ? `[${segment}]` : `.${segment}`)).join('');

/** Whole at one level: what it does not say there is said by nobody. And a cache that is off forgets what stands around it. */
function endsAt({ says }: Level, [key]: JsonPath): boolean {
  if (key === 'remote_media' || key === 'forward_headers') return says[key] !== undefined;
  return key === 'cache' && says.cache?.mode === 'off';
}

const inline = new WeakMap<Observation, GatewayFile>();

/** In our spelling. */
function writtenConfig(seen: Observation): GatewayFile | undefined {
  const { config, request } = seen.exchange;
  if (!config) return undefined;
  if (!isInline(seen)) return seen.settings.gateway.get(config.id);
  let written = inline.get(seen);
  if (!written) inline.set(seen, (written = inOurSpelling(JSON.parse(request.header('config') ?? '{}'), () => {})));
  return written;
}

function fileOf(seen: Observation): string | undefined {
  const { config } = seen.exchange;
  return config && !isInline(seen) && seen.settings.gateway.has(config.id) ? `gateway/${config.id}.yaml` : undefined;
}

/** Of a path in the config as `Level` has it. */
export function sourceAt(seen: Observation, path: JsonPath): FieldSource {
  const file = fileOf(seen);
  if (file === undefined) return { kind: 'header', name: seen.exchange.request.headerName('config') };
  return inFile(seen.loaded, file, path);
}

/** The key is where people look; the items of a list have none. */
const inFile = (loaded: Observation['loaded'], file: string, path: JsonPath): FieldSource => ({
  kind: 'settings',
  at: loaded.placeOf(file, path, 'key'),
  setting: path.join('.'),
});
