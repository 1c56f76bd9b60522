import type { CatalogFile } from '../../../schemas/types.generated.ts';
import { AliasNames } from './alias-names.ts';

/** The target or the config of an alias, one of the two, and the facts that lists of models give of it. */
export interface Alias {
  /** A wildcard ends with `*`. */
  readonly name: string;
  /** `@slug/model`; of a wildcard with `*` at its end. */
  readonly target: string | undefined;
  /** Id of a gateway config. */
  readonly config: string | undefined;
  /** Of a wildcard undefined without one: each of its names shows itself. */
  readonly displayName: string | undefined;
  readonly context: number | undefined;
  readonly maxOutput: number | undefined;
  readonly efforts: readonly string[] | undefined;
  readonly hidden: boolean;
}

/** The aliases of catalog.yaml. No alias stands for another one. */
export class Aliases extends AliasNames<Alias> {
  readonly all: readonly Alias[];

  constructor(all: readonly Alias[]) {
    super(all.map((alias) => [alias.name, alias]));
    this.all = all;
  }
}

export const compileAliases = ({ aliases = {} }: CatalogFile): Aliases =>
  new Aliases(
    Object.entries(aliases).map(
      ([name, { target, config, display_name: displayName, max_output: maxOutput, ...more }]): Alias => ({
        name,
        target,
        config,
        displayName,
        context: more.context,
        maxOutput,
        efforts: more.efforts,
        hidden: more.hidden ?? false,
      }),
    ),
  );
