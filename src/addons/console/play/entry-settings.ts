import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { isObject } from '../../../core/kernel/index.ts';
import type { CatalogEntry } from '../../../../schemas/types.generated.ts';
import type { RecordedFiles } from '../../../core/settings/source/recorded-files.ts';
import { sentFiles, type FileRead } from '../../../core/settings/source/files.ts';
import { loadSettings, type Settings } from '../../../core/settings/read/load.ts';
import { foreignAddress, machineFileOf } from '../../../core/settings/read/stored-catalog.ts';
import { storedProviders } from '../../../core/settings/source/stored-objects.ts';
import type { Environment } from '../../../core/settings/values/references.ts';

const SLUG = 'tested';

interface EntrySetup {
  readonly folder: string;
  readonly env: Environment;
  readonly files: RecordedFiles;
  readonly settings: Settings;
}

export type EntrySettings =
  | { readonly settings: Settings; readonly problem?: never }
  | { readonly problem: string; readonly settings?: never };

/** The settings in force with this entry alone in the catalog, read as a file with it would be. */
export async function withEntry(entry: Readonly<Record<string, unknown>>, setup: EntrySetup): Promise<EntrySettings> {
  const { folder, env, files, settings } = setup;
  const foreign = foreignReference(entry, settings.catalog.providers);
  if (foreign !== undefined)
    return {
      problem: `${foreign} is not read: an entry that is not saved may use what a saved one of the same kind and address uses. Give the secret itself, or save the entry first`,
    };
  const path = join(folder, 'catalog.yaml');
  const shared = sharedCredentials(entry, files.contents.files.get(path));
  const stored = new Set(storedProviders(settings.stored).map(({ id }) => id));
  const ofFile = settings.catalog.providers.filter(({ slug }) => !stored.has(slug));
  const elsewhere = foreignAddress(entry, { providers: ofFile }) ?? machineFileOf(entry);
  if (elsewhere !== undefined) return { problem: elsewhere };
  const text = stringify({ ...(shared && { credentials: shared }), providers: [{ ...entry, slug: SLUG }] });
  const source = sentFiles(() => ({
    ...files.contents,
    files: new Map(files.contents.files).set(path, { text }),
  }));
  const loaded = await loadSettings(folder, { env, files: source });
  const wrong = loaded.diagnostics.find(({ file, severity }) => file === path && severity === 'error');
  if (wrong) return { problem: wrong.message };
  if (!loaded.settings) return { problem: 'the settings in force cannot be read with this entry' };
  return { settings: loaded.settings };
}

/** Those that the entry names, as catalog.yaml has them: references stay references. */
function sharedCredentials(
  { credentials: name }: Readonly<Record<string, unknown>>,
  file: FileRead | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const catalog: unknown = file && 'text' in file ? parse(file.text) : undefined;
  const shared = isObject(catalog) ? catalog['credentials'] : undefined;
  if (typeof name !== 'string' || !isObject(shared) || !Object.hasOwn(shared, name)) return undefined;
  return { [name]: shared[name] };
}

export function onlyEntry(slug: string, settings: Settings): EntrySettings {
  const providers = settings.catalog.providers.filter((one) => one.slug === slug);
  if (providers.length === 0) return { problem: `there is no entry "${slug}"` };
  return { settings: { ...settings, catalog: { ...settings.catalog, providers } } };
}

/** A reference of the entry whose secret no saved entry sends to the same place: a test must not send it elsewhere. */
function foreignReference(
  entry: Readonly<Record<string, unknown>>,
  saved: readonly CatalogEntry[],
): string | undefined {
  const references = [...JSON.stringify(entry).matchAll(/\$\{([^}]*)\}/g)].map(([, source = '']) => source);
  const alike = saved
    .filter(
      (one) =>
        one.provider === entry['provider'] && ('base_url' in one ? one.base_url : undefined) === entry['base_url'],
    )
    .map((one) => JSON.stringify(one));
  const foreign = references.find((source) => !alike.some((text) => text.includes(`[secret ${source}]`)));
  return foreign === undefined ? undefined : `\${${foreign}}`;
}
