import { modelFacts } from '../formats/anthropic-messages/models.ts';
import type { ListedModel } from '../plugin/index.ts';
import type { ProviderEntry } from '../providers/provider.ts';
import { unlessRefused } from '../plugin/errors.ts';
import { modelLimits } from './model-limits/model-limits.ts';

export type ListedFacts = Pick<ListedModel, 'context' | 'maxOutput' | 'efforts'>;

/** What the gateway knows of a model of an entry: its limits, and the efforts of Claude models. */
export function factsOf(provider: ProviderEntry, model: string): ListedFacts {
  const place = unlessRefused(() => provider.locate(model, { task: 'generate', stream: false }));
  if (!place) return {};
  const limits = modelLimits(provider.provider, place.model);
  const efforts = place.format === 'anthropic-messages' ? effortsOf(place.model) : undefined;
  return {
    ...(limits && { context: limits.context, maxOutput: limits.output }),
    ...(efforts && { efforts }),
  };
}

/** `high` is the default of the API (docs/protocols/anthropic-messages.md#thinking). */
function effortsOf(model: string): readonly string[] | undefined {
  const { effort, xhighEffort } = modelFacts(model);
  return effort ? ['high', 'low', 'medium', ...(xhighEffort ? ['xhigh'] : []), 'max'] : undefined;
}

/** Facts that hold for every one of several models: the smallest limits, the efforts that all have. */
export function commonFacts([first, ...others]: readonly ListedFacts[]): ListedFacts {
  return others.reduce(inBoth, first ?? {});
}

const inBoth = (one: ListedFacts, other: ListedFacts): ListedFacts => ({
  context: smaller(one.context, other.context),
  maxOutput: smaller(one.maxOutput, other.maxOutput),
  efforts: one.efforts && other.efforts && one.efforts.filter((effort) => other.efforts?.includes(effort)),
});

const smaller = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? undefined : Math.min(one, other);
