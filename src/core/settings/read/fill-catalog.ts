import type { CatalogEntry, CatalogFile } from '../../../../schemas/types.generated.ts';

/** catalog.yaml as it was validated, in which entries may lack their slug. */
interface WrittenCatalog {
  readonly providers: readonly (Omit<CatalogEntry, 'slug'> & { readonly slug?: string })[];
}

/** Names each entry without a slug after its provider. The catalog reports a slug that two entries have. */
export function fillCatalog(file: WrittenCatalog): CatalogFile {
  // The schema marks `slug` as filled in, so the types have it.
  const providers = file.providers.map((entry) => ({ slug: entry.provider, ...entry }) as CatalogEntry);
  return { ...file, providers };
}
