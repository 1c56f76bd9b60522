import { modelFacts } from '../../formats/anthropic-messages/models.ts';
import { effortsOf as geminiEfforts } from '../../formats/gemini/models.ts';
import { effortsOf as openAiEfforts } from '../../formats/openai-chat/efforts.ts';
import type { ListedModel } from '../kernel/index.ts';
import type { Location, ProviderEntry } from '../providers/provider.ts';
import { unlessRefused } from '../kernel/errors.ts';
import { knownModel } from './model-table/model-table.ts';

export type ListedFacts = Pick<
  ListedModel,
  'context' | 'maxInput' | 'maxOutput' | 'efforts' | 'thinking' | 'capabilities'
>;

/** The facts that the gateway knows of a model of an entry. Efforts are those that requests may name (docs/protocols/requests.md#reasoning). */
export function factsOf(provider: ProviderEntry, model: string): ListedFacts {
  const place = unlessRefused(() => provider.locate(model, { task: 'generate', stream: false }));
  if (!place) return {};
  const known = knownModel(provider.provider, place.model);
  const claude = place.format === 'anthropic-messages' ? claudeFacts(place.model) : undefined;
  return {
    ...known,
    ...(known?.capabilities.includes('reasoning') && reasoningFacts(place)),
    ...claude,
    // Every Claude model of the API has them: https://platform.claude.com/docs/en/build-with-claude/citations
    ...(known && claude && { capabilities: [...known.capabilities, 'citations'] }),
  };
}

function reasoningFacts({ format, model }: Pick<Location, 'format' | 'model'>): ListedFacts {
  const efforts = (format === 'gemini' ? geminiEfforts : openAiEfforts)(model);
  return { ...(efforts && { efforts }), thinking: MAPPED_THINKING };
}

/** The types that become an effort or a budget (docs/protocols/requests.md#reasoning). Not every model can stop thinking. */
const MAPPED_THINKING: readonly string[] = ['adaptive', 'enabled'];

/** `high` is the default of the API (docs/protocols/anthropic-messages.md#thinking). */
function claudeFacts(model: string): ListedFacts {
  const { effort, xhighEffort, thinking, turnOff } = modelFacts(model);
  return {
    ...(effort && { efforts: ['high', 'low', 'medium', ...(xhighEffort ? ['xhigh'] : []), 'max'] }),
    thinking: [
      ...(thinking === 'both' || thinking === 'adaptive' ? ['adaptive'] : []),
      ...(thinking === 'both' || thinking === 'manual' ? ['enabled'] : []),
      ...(thinking === 'none' || turnOff === 'never' ? [] : [turnOff]),
    ],
  };
}

/** Facts that hold for every one of several models: the smallest limits, and what all of them have. */
export const commonFacts = ([first, ...others]: readonly ListedFacts[]): ListedFacts =>
  others.reduce(inBoth, first ?? {});

const inBoth = (one: ListedFacts, other: ListedFacts): ListedFacts => ({
  context: smaller(one.context, other.context),
  maxInput: smaller(one.maxInput, other.maxInput),
  maxOutput: smaller(one.maxOutput, other.maxOutput),
  efforts: shared(one.efforts, other.efforts),
  thinking: shared(one.thinking, other.thinking),
  capabilities: shared(one.capabilities, other.capabilities),
});

const smaller = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? undefined : Math.min(one, other);

const shared = (one?: readonly string[], other?: readonly string[]): readonly string[] | undefined =>
  one && other && one.filter((each) => other.includes(each));
