import type { CatalogFile } from '../../schemas/types.generated.ts';

/** What an alias stands for (one of the two), and what lists of models say about it. */
export interface Alias {
  readonly name: string;
  /** `@slug/model` */
  readonly target: string | undefined;
  /** Id of a gateway config. */
  readonly config: string | undefined;
  readonly displayName: string;
  readonly context: number | undefined;
  readonly maxOutput: number | undefined;
  readonly efforts: readonly string[] | undefined;
  readonly hidden: boolean;
}

export type AliasNames = Pick<ReadonlyMap<string, unknown>, 'has'>;

/** The aliases of catalog.yaml by name. Names are exact, and no alias stands for another one. */
export function compileAliases({ aliases = {} }: CatalogFile): ReadonlyMap<string, Alias> {
  const compiled = Object.entries(aliases).map(
    ([name, { target, config, display_name: displayName = name, max_output: maxOutput, ...more }]): Alias => ({
      name,
      target,
      config,
      displayName,
      context: more.context,
      maxOutput,
      efforts: more.efforts,
      hidden: more.hidden ?? false,
    }),
  );
  return new Map(compiled.map((alias) => [alias.name, alias]));
}
