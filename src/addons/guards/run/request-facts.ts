import { Globs } from '../../../core/catalog/globs.ts';
import type { GatewayContext } from '../../../core/kernel/index.ts';
import { matchesAnywhere, metadataOf, modelsOf, type CompiledGuard } from '../guard.ts';

/** Whether the facts of a request break the rule of a guard. */
type Breaks = (ctx: GatewayContext) => boolean;

function models({
  allow,
  deny = [],
}: {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}): Breaks {
  const allowed = allow && new Globs(allow);
  const denied = new Globs(deny);
  const isBroken = (names: readonly string[]): boolean =>
    names.some((name) => matchesAnywhere(denied, name)) ||
    (allowed !== undefined && !names.some((name) => allowed.matches(name)));
  return (ctx) => modelsOf(ctx).some(isBroken);
}

function metadata({
  required = [],
  allowed = {},
}: {
  readonly required?: readonly string[];
  readonly allowed?: Readonly<Record<string, readonly string[]>>;
}): Breaks {
  const values = Object.entries(allowed).map(([key, list]) => [key, new Set(list)] as const);
  return (ctx) =>
    required.some((key) => metadataOf(ctx, key) === undefined) ||
    values.some(([key, list]) => {
      const value = metadataOf(ctx, key);
      return value !== undefined && !list.has(value);
    });
}

/** The rule of a check that reads no text. Undefined: the check is of another kind. */
export function factsFor({ check, options }: CompiledGuard): Breaks | undefined {
  if (check === 'models') return models(options);
  return check === 'metadata' ? metadata(options) : undefined;
}
