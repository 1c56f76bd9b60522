import { join } from 'node:path';
import { stringify } from 'yaml';
import type { CatalogEntry } from '../../../../schemas/types.generated.ts';
import type { RecordedFiles } from '../../../core/settings/source/recorded-files.ts';
import { sentFiles } from '../../../core/settings/source/files.ts';
import { loadSettings, type Settings } from '../../../core/settings/read/load.ts';
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
  const text = stringify({ providers: [{ ...entry, slug: SLUG }] });
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

/** The settings in force with this saved entry alone. */
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
