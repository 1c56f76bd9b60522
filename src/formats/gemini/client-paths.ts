import { toSnake } from '../json/field-names.ts';

/**
 * Fields of `generationConfig` (docs/protocols/gemini.md#generation-config). Losses name them as OpenAI's chat API
 * does.
 */
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

const OTHERS: readonly (readonly [RegExp, ...string[]])[] = [
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
];

export function clientPaths(place: string): readonly string[] {
  const [name = ''] = /^\w+/.exec(place) ?? [];
  const field = CONFIG.get(name);
  const known = OTHERS.find(([pattern]) => pattern.test(place));
  const spellings = field !== undefined ? [`generationConfig.${field}`] : known ? spelled(place, known) : [place];
  // Protobuf JSON accepts both forms of a name.
  return spellings.flatMap((spelling) => [spelling, toSnake(spelling)]);
}

function spelled(place: string, [pattern, ...spellings]: readonly [RegExp, ...string[]]): readonly string[] {
  return spellings.map((spelling) => place.replace(pattern, spelling));
}
