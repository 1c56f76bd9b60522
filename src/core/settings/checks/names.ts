import type { CatalogEntry } from '../../../../schemas/types.generated.ts';
import { nearest } from '../../kernel/index.ts';
import type { Report } from '../../kernel/report.ts';
import { packageSchemas } from '../schema/schemas.ts';
import type { CheckedSettings } from './check.ts';

/** The names by which the settings files refer to each other. */

export function withSuggestion(word: string, candidates: readonly string[]): { suggestion?: string } {
  const suggestion = nearest(word, candidates);
  return suggestion === undefined ? {} : { suggestion };
}

/** The provider kinds of the catalog's schema, such as `vertex-ai`. */
export function providerNames(): readonly string[] {
  const schemas = packageSchemas();
  const { tree } = schemas;
  const entry = tree.child(tree.child(schemas.root('catalog'), 'providers'), 0);
  const kinds = tree.child(entry, 'provider').map((schema) => schema['const']);
  return [...new Set(kinds.filter((kind) => typeof kind === 'string'))];
}

export const slugsOf = (entries: readonly CatalogEntry[]): readonly string[] => entries.map(({ slug }) => `@${slug}`);

/** Reports a `@slug` or provider name that is not in the catalog. */
export function checkProviderName(name: string, { catalog }: CheckedSettings, report: Report): void {
  if (!catalog) return;
  const slugs = slugsOf(catalog.providers);
  if (name.startsWith('@')) {
    if (!slugs.includes(name))
      report({ path: [], message: `there is no catalog entry ${name}`, ...withSuggestion(name, slugs) });
    return;
  }
  const kinds = providerNames();
  if (kinds.includes(name)) return;
  const asSlug = slugs.includes(`@${name}`) ? { suggestion: `@${name}` } : withSuggestion(name, [...kinds, ...slugs]);
  report({ path: [], message: `\`${name}\` is neither a provider nor the @slug of a catalog entry`, ...asSlug });
}

export function checkConfigId(id: string, { configIds }: CheckedSettings, report: Report): void {
  if (configIds.includes(id)) return;
  // The id of a config is its file name without the extension.
  const bare = id.replace(/^gateway\//, '').replace(/\.ya?ml$/, '');
  if (/\.test$/i.test(bare)) {
    report({ path: [], message: `there is no gateway config \`${id}\`: gateway/${bare}.yaml is a test file` });
    return;
  }
  const meant = configIds.includes(bare) ? { suggestion: bare } : withSuggestion(id, configIds);
  report({ path: [], message: `there is no gateway/${id}.yaml`, ...meant });
}

/** The `@slug` in the `model` of the parameters. */
export function slugOf(params: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const model = params?.['model'];
  return typeof model === 'string' ? /^(@[^/]*)\//.exec(model)?.[1] : undefined;
}
