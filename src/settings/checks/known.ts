import type { CatalogEntry, ServerFile } from '../../../schemas/types.generated.ts';
import { nearest, type Report } from '../../plugin/index.ts';
import type { JsonPath } from '../read/pointer.ts';
import { packageSchemas } from '../read/schemas.ts';

/** The names by which the settings files refer to each other. */
export interface KnownNames {
  /** Undefined when the catalog could not be read: names of entries are not checked then. */
  readonly entries: readonly CatalogEntry[] | undefined;
  readonly configIds: readonly string[];
  /** Undefined when it could not be read. */
  readonly server: ServerFile | undefined;
  readonly now: number;
  /** The config was sent with a request. Default: false, it is a file. */
  readonly fromCaller?: boolean;
  /** Headers that hold a credential, each with its owner. Default: the `secret_headers` of `entries`. */
  readonly credentials?: ReadonlyMap<string, string>;
}

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

/** Reports a `@slug` or provider name that is not in the catalog. */
export function checkProviderName(
  name: string,
  known: KnownNames,
  { path, report }: { path: JsonPath; report: Report },
): void {
  if (!known.entries) return;
  const slugs = known.entries.map(({ slug }) => `@${slug}`);
  if (name.startsWith('@')) {
    if (!slugs.includes(name))
      report({ path, message: `there is no catalog entry ${name}`, ...withSuggestion(name, slugs) });
    return;
  }
  const kinds = providerNames();
  if (kinds.includes(name)) return;
  const asSlug = slugs.includes(`@${name}`) ? { suggestion: `@${name}` } : withSuggestion(name, [...kinds, ...slugs]);
  report({ path, message: `\`${name}\` is neither a provider nor the @slug of a catalog entry`, ...asSlug });
}

export function checkConfigId(
  id: string,
  known: KnownNames,
  { path, report }: { path: JsonPath; report: Report },
): void {
  if (known.configIds.includes(id)) return;
  // The id of a config is its file name without the extension.
  const bare = id.replace(/^gateway\//, '').replace(/\.ya?ml$/, '');
  if (/\.test$/i.test(bare)) {
    report({ path, message: `there is no gateway config \`${id}\`: gateway/${bare}.yaml is a test file` });
    return;
  }
  const meant = known.configIds.includes(bare) ? { suggestion: bare } : withSuggestion(id, known.configIds);
  report({ path, message: `there is no gateway/${id}.yaml`, ...meant });
}

/** The `@slug` in the `model` of the parameters. */
export function slugOf(params: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const model = params?.['model'];
  return typeof model === 'string' ? /^(@[^/]*)\//.exec(model)?.[1] : undefined;
}
