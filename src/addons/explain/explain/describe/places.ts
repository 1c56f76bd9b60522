import { entryOf } from '../../../../core/catalog/catalog-target.ts';
import type { SettingPlace, FieldSource } from '../../explanation/explanation.ts';
import type { ListedPlugin } from '../../../../core/compose/chain-builder.ts';
import type { ListPlace } from '../../../../core/kernel/report.ts';
import type { ResolvedTarget } from '../../../../core/kernel/index.ts';
import type { LoadResult } from '../../../../core/settings/read/load.ts';
import { valueAt, type JsonPath } from '../../../../core/settings/schema/pointer.ts';
import type { DryRun } from '../../../../core/dry-run/dry-run.ts';
import { isInline, levelsOf, pathInFile, type Level } from '../../../../core/dry-run/written-config.ts';

export const DEFAULT: FieldSource = { kind: 'gateway', what: 'default' };

/**
 * The source of a setting that a target uses: the nearest level that sets it, from the target up to its config.
 * @param target path as in `Target`: `config.targets[1].targets[0]`
 * @param keys in canonical spelling; several for a setting with several names, in order of precedence
 * @returns undefined when no level sets it
 */
export function configSource(seen: DryRun, target: string, ...keys: readonly JsonPath[]): FieldSource | undefined {
  for (const level of levelsOf(seen, target)) {
    const key = keys.find((path) => valueAt(level.says, path) !== undefined);
    if (key) return sourceAt(seen, [...level.path, ...key]);
    if (keys.some((path) => endsAt(level, path))) return undefined;
  }
  return undefined;
}

/** The source of a setting that is not inherited: `name`, `strategy`, `deadline`. */
export function ownSource(seen: DryRun, target: string, keys: JsonPath): FieldSource | undefined {
  const [level] = levelsOf(seen, target);
  return level && valueAt(level.says, keys) !== undefined ? sourceAt(seen, [...level.path, ...keys]) : undefined;
}

/** Undefined for a target that is not in a file. */
export function targetPlace(seen: DryRun, target: string): SettingPlace | undefined {
  const file = fileOf(seen);
  return file === undefined ? undefined : seen.loaded.placeOf(file, pathInFile(target));
}

/** The slug of the resolved catalog entry; undefined for a destination that the request itself names. */
export const listedSlug = (resolved: ResolvedTarget | undefined): string | undefined =>
  resolved && entryOf(resolved)?.name === `@${resolved.slug}` ? resolved.slug : undefined;

/** The source of a setting of an entry: `catalogSource(seen, 'vertex', ['timeouts', 'total'])`. */
export function catalogSource(seen: DryRun, slug: string | undefined, keys: JsonPath): FieldSource | undefined {
  const index = seen.settings.catalog.providers.findIndex((entry) => entry.slug === slug);
  return sourceIn(seen, 'catalog', ['providers', index, ...keys]);
}

/** The source of a setting of the catalog outside its entries. */
export const sourceInCatalog = (seen: DryRun, keys: JsonPath): FieldSource | undefined =>
  sourceIn(seen, 'catalog', keys);

export const serverSource = (seen: DryRun, keys: JsonPath): FieldSource | undefined => sourceIn(seen, 'server', keys);

/** The source of a setting of a gateway key; without keys, its entry in keys.yaml. */
export function keySource(seen: DryRun, keyId: string, keys: JsonPath): FieldSource | undefined {
  return sourceIn(seen, 'keys', ['keys', seen.settings.keys.keys.findIndex(({ id }) => id === keyId), ...keys]);
}

/** Undefined when the file does not have the setting. */
const sourceIn = (
  { settings, loaded }: DryRun,
  name: 'server' | 'catalog' | 'keys',
  path: JsonPath,
): FieldSource | undefined =>
  valueAt(settings[name], path) === undefined ? undefined : inFile(loaded, `${name}.yaml`, path);

/** Undefined for a source that is not in a file. */
export const placeOf = (source: FieldSource | undefined): SettingPlace | undefined =>
  source?.kind === 'settings' ? source.at : undefined;

/** Whether inheritance ends at this level: some settings are replaced as a whole, as is a cache that is off. */
function endsAt({ says }: Level, [key]: JsonPath): boolean {
  if (key === 'remote_media' || key === 'forward_headers') return says[key] !== undefined;
  return key === 'cache' && says.cache?.mode === 'off';
}

function fileOf(seen: DryRun): string | undefined {
  const { config } = seen.exchange;
  return config && !isInline(seen) && seen.settings.gateway.has(config.id) ? `gateway/${config.id}.yaml` : undefined;
}

/** The source of a path in the config, in the form of `Level.path`. */
export function sourceAt(seen: DryRun, path: JsonPath): FieldSource {
  const file = fileOf(seen);
  if (file === undefined) return { kind: 'header', name: seen.exchange.request.headerName('config') };
  return inFile(seen.loaded, file, path);
}

export const listedAt = (seen: DryRun, { file, path, from = { file, path } }: ListedPlugin): FieldSource =>
  sourceOf(seen, from) ?? DEFAULT_CHAIN;

/** The list that does not name the plugin, and must keep it. */
export const keptIn = (seen: DryRun, { path, kept }: ListedPlugin): FieldSource | undefined =>
  kept ? sourceAt(seen, path) : undefined;

/** The list of changes that sets options of the plugin. */
export const changedAt = (seen: DryRun, { changedAt: place }: ListedPlugin): FieldSource | undefined =>
  place && sourceOf(seen, place);

const sourceOf = (seen: DryRun, { file, path }: ListPlace): FieldSource | undefined =>
  file === 'server.yaml' ? serverSource(seen, path) : sourceAt(seen, path);

const DEFAULT_CHAIN: FieldSource = { kind: 'gateway', what: 'default chain' };

export const pluginSource = (seen: DryRun, place: ListedPlugin): FieldSource => ({
  kind: 'plugin',
  plugin: place.instance,
  on: placeOf(listedAt(seen, place)),
});

/** Points at the key, if there is one; items of a list have none. */
export const inFile = (
  loaded: LoadResult,
  file: string,
  path: JsonPath,
): Extract<FieldSource, { kind: 'settings' }> => ({
  kind: 'settings',
  at: loaded.placeOf(file, path, 'key'),
  setting: path.join('.'),
});
