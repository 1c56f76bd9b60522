import { knownModel, type KnownModel } from '../../../../core/catalog/model-table/model-table.ts';
import { retirementOf } from '../../../../core/catalog/model-table/retirements.ts';
import type { Capability } from '../../../../core/catalog/model-table/table.generated.ts';
import { isObject, type RequestBody } from '../../../../core/kernel/index.ts';
import type { Conversation, MediaPart } from '../../../../formats/conversation.ts';
import { formats } from '../../../../formats/index.ts';
import type { RetirementExplanation } from '../../explanation/explanation.ts';
import type { Observation, SeenAttempt } from '../observation.ts';
import { listedSlug } from './places.ts';

/** The day of the target's model, and what its successor would lose. Undefined where no day is known. */
export function describeRetirement(
  { exchange: { operation }, settings }: Pick<Observation, 'exchange' | 'settings'>,
  { resolved, body }: Pick<SeenAttempt, 'resolved' | 'body'>,
): RetirementExplanation | undefined {
  const slug = listedSlug(resolved);
  const entry = settings.catalog.providers.find((one) => one.slug === slug);
  const found = resolved && entry && retirementOf(entry, resolved.model);
  if (!found) return undefined;
  const model = knownModel(resolved.provider, resolved.model);
  const next = found.successor === undefined ? undefined : knownModel(resolved.provider, found.successor);
  const used = operation?.task === 'generate' ? usedBy(operation.format.name, body) : [];
  return { ...found, loses: model && next ? lostBy(model, next, used) : [] };
}

/** @param used the capabilities that the request uses */
export const lostBy = (model: KnownModel, next: KnownModel, used: readonly Capability[]): readonly string[] => [
  ...smaller('context window', model.context, next.context),
  ...smaller('longest answer', model.maxOutput, next.maxOutput),
  ...used
    .filter((one) => model.capabilities.includes(one) && !next.capabilities.includes(one))
    .map((one) => `${one}, which this request uses`),
];

const smaller = (what: string, was: number | undefined, then: number | undefined): readonly string[] =>
  was === undefined || then === undefined || then >= was ? [] : [`${was - then} of ${was} tokens of the ${what}`];

const OF_MEDIA: Readonly<Record<MediaPart['media'], Capability>> = {
  image: 'vision',
  audio: 'audio_in',
  video: 'video_in',
  document: 'pdf',
};
const OF_TOOLS: Readonly<Record<string, Capability>> = {
  function: 'tools',
  custom: 'tools',
  web_search: 'search',
  web_search_retrieval: 'search',
  enterprise_web_search: 'search',
  computer_use: 'computer',
  url_context: 'url_context',
  image_generation: 'image_out',
};

/** The capabilities in the words of data/models.schema.json that a request cannot do without. */
function usedBy(format: keyof typeof formats, body: RequestBody): readonly Capability[] {
  const json = body.json();
  if (!isObject(json)) return [];
  let conversation: Conversation;
  try {
    conversation = formats[format].decodeRequest(json);
  } catch {
    // The target refuses it, and explain says so elsewhere.
    return [];
  }
  const { turns, tools = [], responseFormat, reasoning, webSearch, modalities = [] } = conversation;
  const parts = turns.flatMap((turn) => turn.parts);
  const effort = reasoning?.thinking?.type ?? reasoning?.effort ?? 'none';
  return [
    ...new Set([
      ...parts.flatMap((part) => (part.type === 'media' ? [OF_MEDIA[part.media]] : [])),
      ...tools.flatMap((tool) => OF_TOOLS[tool.type === 'builtin' ? tool.kind : tool.type] ?? []),
      ...(responseFormat?.type === 'json_schema' ? (['schema'] as const) : []),
      ...(['none', 'disabled'].includes(effort) ? [] : (['reasoning'] as const)),
      ...(webSearch ? (['search'] as const) : []),
      ...(modalities.includes('audio') ? (['audio_out'] as const) : []),
      ...(modalities.includes('image') ? (['image_out'] as const) : []),
      ...(turns.at(-1)?.role === 'assistant' ? (['prefill'] as const) : []),
    ]),
  ];
}
