import { pathsBy } from '../losses/places.ts';
import type { BodyView } from '../body-view.ts';
import type { ClientOptions, ClientSettings } from '../format.ts';
import { objectOf } from '../json/object.ts';
import { toSnake } from '../json/field-names.ts';
import { pick } from './wire.ts';

/**
 * The compliance header concerns OpenAI's fields, which a reply of this API does not have. Whether thoughts are
 * requested and shown is a field of the body here (docs/protocols/gemini.md#thinking-config). Ids have no prefix in this API. Every
 * chunk has usage, requested or not.
 */
export function readClient(body: BodyView, { id }: ClientSettings): ClientOptions {
  const strict = !asksForThoughts(body);
  return { id, strict, hideThoughts: strict, includeUsage: true };
}

function asksForThoughts(body: BodyView): boolean {
  const config = fieldOf(body, 'generationConfig');
  const thinking = config && objectOf(pick(config, 'thinkingConfig'));
  return thinking !== undefined && pick(thinking, 'includeThoughts') === true;
}

/** An object at the top level, in either spelling. */
function fieldOf(body: BodyView, name: string): Readonly<Record<string, unknown>> | undefined {
  const key = [name, toSnake(name)].find((spelling) => body.has(spelling));
  return key === undefined ? undefined : objectOf(body.value(key));
}

/** Fields of `generationConfig` (docs/protocols/gemini.md#generation-config), by their names in losses. */
const CONFIG = new Map([
  ['max_tokens', 'maxOutputTokens'],
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
  ['frequency_penalty', 'frequencyPenalty'],
  ['presence_penalty', 'presencePenalty'],
  ['seed', 'seed'],
  ['stop', 'stopSequences'],
  ['n', 'candidateCount'],
  ['logprobs', 'responseLogprobs'],
  ['top_logprobs', 'logprobs'],
  ['modalities', 'responseModalities'],
  ['audio', 'speechConfig'],
  ['image_config', 'imageConfig'],
]);

const otherPaths = pathsBy([
  [
    /^response_format(?:\.json_schema(?:\.schema)?)?/,
    'generationConfig.responseJsonSchema',
    'generationConfig.responseSchema',
    'generationConfig.responseMimeType',
  ],
  [/^reasoning_effort$/, 'generationConfig.thinkingConfig.thinkingLevel'],
  [/^thinking\.budget_tokens$/, 'generationConfig.thinkingConfig.thinkingBudget'],
  [/^thinking\b.*/, 'generationConfig.thinkingConfig'],
  [/^service_tier$/, 'serviceTier'],
  [/^safety_settings$/, 'safetySettings'],
  [/^tool_choice$/, 'toolConfig.functionCallingConfig'],
  [/^(tools\[.*)\.function\.parameters/, '$1.parametersJsonSchema', '$1.parameters'],
  [/^(tools\[.*)\.function\./, '$1.'],
  [/^(contents\[.*)\.function\.arguments$/, '$1.functionCall.args'],
  [/^(contents\[.*?)\.(?:function\.thought_)?signature$/, '$1.thoughtSignature'],
  [/^(contents\[.*?)\.(?:file\.)?filename$/, '$1.inlineData.displayName', '$1.fileData.displayName'],
  [/^(contents\[.*?)\.(?:image_url\.)?detail$/, '$1.mediaResolution'],
  [/^(contents\[.*)\.mime_type$/, '$1.inlineData.mimeType', '$1.fileData.mimeType'],
]);

export function clientPaths(place: string): readonly string[] {
  const [name = ''] = /^\w+/.exec(place) ?? [];
  const field = CONFIG.get(name);
  const others = field === undefined ? otherPaths(place) : [`generationConfig.${field}`];
  // Protobuf JSON accepts both forms of a name.
  return (others.length > 0 ? others : [place]).flatMap((spelling) => [spelling, toSnake(spelling)]);
}
