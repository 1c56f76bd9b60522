import { UNKNOWN_MOST, type MostUsage } from '../../../formats/counts.ts';
import type { ModelLimits } from '../../../formats/request-target.ts';
import { withoutVersion } from '../../kernel/model-ids.ts';
import { ROWS, type Capability } from './table.generated.ts';

/** Limits in tokens, and capabilities; undefined: unknown. */
export interface KnownModel {
  readonly context: number | undefined;
  readonly maxInput: number | undefined;
  readonly maxOutput: number | undefined;
  readonly capabilities: readonly Capability[];
  readonly retires: Retirement | undefined;
}

/** When the provider ends a model. */
export interface Retirement {
  /** `2027-01-22`, UTC. */
  readonly day: string;
  /** The model that the provider recommends instead. */
  readonly successor: string | undefined;
}

const MODELS: ReadonlyMap<string, KnownModel> = new Map(
  ROWS.flatMap(([providers, names, context, input, maxOutput, capabilities, ...ends]) => {
    const limits = { context, maxInput: input ?? context, maxOutput, capabilities };
    return providers.split(' ').flatMap((provider) => {
      const model: KnownModel = { ...limits, retires: retirementAt(provider, ends) };
      return names.split(' ').map((name): [string, KnownModel] => [`${provider}/${name}`, model]);
    });
  }),
);

function retirementAt(provider: string, ends: readonly string[]): Retirement | undefined {
  const [day, successor] = ends.map((text) => text.split(' ')).find((words) => words.includes(provider)) ?? [];
  return day === undefined ? undefined : { day, successor: successor === '-' ? undefined : successor };
}

/** Undefined for a model that the table does not have under this name, or without its version. */
export const knownModel = (provider: string, model: string): KnownModel | undefined =>
  MODELS.get(`${provider}/${model}`) ?? MODELS.get(`${provider}/${withoutVersion(model)}`);

/** Undefined unless both limits are known. */
export function modelLimits(provider: string, model: string): ModelLimits | undefined {
  const { context, maxOutput: output } = knownModel(provider, model) ?? {};
  return context !== undefined && output !== undefined ? { context, output } : undefined;
}

/** Output is twice the longest answer in the table: some vendors count thinking besides, which is no longer than the answer. */
export function mostUsage(provider: string, model: string): MostUsage | undefined {
  const known = knownModel(provider, model);
  return (
    known && {
      input: known.context ?? UNKNOWN_MOST.input,
      output: known.maxOutput === undefined ? UNKNOWN_MOST.output : 2 * known.maxOutput,
    }
  );
}
