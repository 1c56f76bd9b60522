import { PNG, TEXT, THOUGHT, type Feature } from './wires.ts';

/** A request that shows whether an operation has a feature, and what must be in the reply for a yes. */
export interface Probe {
  readonly body: (model: string) => object;
  /** @param told the reply's body, or the text of its stream */
  readonly shows: (reported: string) => boolean;
  /** The models made for it, by slug, where the operation's usual ones are not; elsewhere there is none. */
  readonly models?: Readonly<Record<string, string>>;
}

type Probes = Readonly<Partial<Record<Feature, Probe>>>;

const says = (feature: Feature): string => `feature: ${feature}`;
const holds =
  (...pieces: readonly string[]) =>
  (reported: string): boolean =>
    pieces.every((piece) => reported.includes(piece));

const parameters = { type: 'object', properties: { city: { type: 'string' } } };

const chat = (feature: Feature, more: object = {}) => ({
  body: (model: string) => ({ model, max_tokens: 8192, messages: [{ role: 'user', content: says(feature) }], ...more }),
});
const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };

const chatCompletions: Probes = {
  plain: { ...chat('plain'), shows: holds('"chat.completion"', TEXT) },
  stream: { ...chat('stream', { stream: true }), shows: holds('"chat.completion.chunk"', TEXT, 'data: [DONE]') },
  tools: {
    ...chat('tools', { tools: [{ type: 'function', function: { name: 'weather', parameters } }] }),
    shows: holds('"tool_calls"', '"weather"', 'Lisbon'),
  },
  thinking: { ...chat('thinking', { reasoning_effort: 'low' }), shows: holds(THOUGHT, TEXT) },
  media: {
    ...chat('media', { messages: [{ role: 'user', content: [{ type: 'text', text: says('media') }, picture] }] }),
    shows: holds(TEXT),
  },
  errors: { ...chat('errors'), shows: holds('"rate_limit_error"', 'Slow down.', '"rate_limit_exceeded"') },
};

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } };
const tools = [{ name: 'weather', input_schema: parameters }];

const messages: Probes = {
  plain: { ...chat('plain'), shows: holds('"type":"message"', TEXT) },
  stream: { ...chat('stream', { stream: true }), shows: holds('event: message_start', TEXT, 'event: message_stop') },
  tools: { ...chat('tools', { tools }), shows: holds('"tool_use"', '"weather"', 'Lisbon') },
  thinking: {
    ...chat('thinking', { thinking: { type: 'enabled', budget_tokens: 1024 } }),
    shows: holds('"thinking"', THOUGHT, TEXT),
  },
  media: {
    ...chat('media', { messages: [{ role: 'user', content: [{ type: 'text', text: says('media') }, image] }] }),
    shows: holds(TEXT),
  },
  errors: { ...chat('errors'), shows: holds('"type":"error"', '"rate_limit_error"', 'Slow down.') },
};

const asked = (feature: Feature, more: object = {}) => ({
  body: (model: string) => ({ model, max_output_tokens: 8192, input: says(feature), ...more }),
});
const shown = [
  { type: 'input_text', text: says('media') },
  { type: 'input_image', image_url: picture.image_url.url },
];
const responses: Probes = {
  plain: { ...asked('plain'), shows: holds('"object":"response"', '"completed"', TEXT) },
  stream: {
    ...asked('stream', { stream: true }),
    shows: holds('response.output_text.delta', TEXT, 'response.completed'),
  },
  tools: {
    ...asked('tools', { tools: [{ type: 'function', name: 'weather', parameters }] }),
    shows: holds('"function_call"', '"weather"', 'Lisbon'),
  },
  thinking: {
    ...asked('thinking', { reasoning: { effort: 'low', summary: 'auto' } }),
    shows: holds('"summary_text"', THOUGHT, TEXT),
  },
  media: { ...asked('media', { input: [{ role: 'user', content: shown }] }), shows: holds(TEXT) },
  errors: { ...asked('errors'), shows: chatCompletions.errors!.shows },
};

const counted = holds('"input_tokens":7');
const responsesInputTokens: Probes = {
  plain: { ...responses.plain!, shows: counted },
  tools: { ...responses.tools!, shows: counted },
  thinking: { ...responses.thinking!, shows: counted },
  media: { ...responses.media!, shows: counted },
  errors: responses.errors!,
};

const countTokens: Probes = {
  plain: { ...chat('plain'), shows: counted },
  tools: { ...chat('tools', { tools }), shows: counted },
  thinking: { ...chat('thinking', { thinking: { type: 'enabled', budget_tokens: 1024 } }), shows: counted },
  media: { body: messages.media!.body, shows: counted },
  errors: messages.errors!,
};

const chatCountTokens: Probes = {
  plain: { ...chatCompletions.plain!, shows: counted },
  tools: { ...chatCompletions.tools!, shows: counted },
  thinking: { ...chatCompletions.thinking!, shows: counted },
  media: { ...chatCompletions.media!, shows: counted },
  errors: chatCompletions.errors!,
};

const GEMINI_MEDIA = { inlineData: { mimeType: 'image/png', data: PNG } };
const contents = (feature: Feature, more: object = {}) => ({
  body: () => ({ contents: [{ role: 'user', parts: [{ text: says(feature) }] }], ...more }),
});
const generate = (feature: Feature, shows: Probe['shows'], more: object = {}): Probe => ({
  ...contents(feature, more),
  shows,
});
const declared = { tools: [{ functionDeclarations: [{ name: 'weather', parameters }] }] };
const generateContent: Probes = {
  plain: generate('plain', holds('"candidates"', TEXT)),
  tools: generate('tools', holds('"functionCall"', '"weather"', 'Lisbon'), declared),
  thinking: generate('thinking', holds(THOUGHT, TEXT), {
    generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 }, maxOutputTokens: 8192 },
  }),
  media: {
    body: () => ({ contents: [{ role: 'user', parts: [{ text: says('media') }, GEMINI_MEDIA] }] }),
    shows: holds(TEXT),
  },
  errors: generate('errors', holds('RESOURCE_EXHAUSTED', 'Slow down.')),
};
const streamGenerateContent: Probes = {
  stream: generate('stream', holds('data: {', TEXT, '"finishReason":"STOP"')),
  errors: generateContent.errors!,
};

const content = (feature: Feature) => ({ content: { parts: [{ text: says(feature) }] } });
const embedContent: Probes = {
  plain: { body: () => content('plain'), shows: holds('"embedding":{"values":[0.5,0.25]}') },
  errors: { body: () => content('errors'), shows: generateContent.errors!.shows },
};
const batchEmbedContents: Probes = {
  plain: { body: () => ({ requests: [content('plain')] }), shows: holds('"embeddings":[{"values":[0.5,0.25]}]') },
  errors: { body: () => ({ requests: [content('errors')] }), shows: generateContent.errors!.shows },
};
const predict: Probes = {
  plain: {
    body: () => ({ instances: [{ content: says('plain') }] }),
    shows: holds('"values":[0.5,0.25]', '"statistics"'),
  },
  media: {
    models: { vertex: 'multimodalembedding@001' },
    body: () => ({ instances: [{ text: says('media'), image: { bytesBase64Encoded: PNG } }] }),
    shows: holds('"imageEmbedding":[0.5,0.25]'),
  },
  errors: { body: () => ({ instances: [{ content: says('errors') }] }), shows: generateContent.errors!.shows },
};

const vertexCounted = holds('"totalTokens":7');
const vertexCountTokens: Probes = {
  plain: { ...contents('plain'), shows: vertexCounted },
  tools: {
    ...contents('tools', { tools: [{ functionDeclarations: [{ name: 'weather', parameters }] }] }),
    shows: vertexCounted,
  },
  media: {
    body: () => ({ contents: [{ role: 'user', parts: [{ text: says('media') }, GEMINI_MEDIA] }] }),
    shows: vertexCounted,
  },
  errors: { ...contents('errors'), shows: holds('RESOURCE_EXHAUSTED', 'Slow down.') },
};

const input = (feature: Feature) => ({ body: (model: string) => ({ model, input: says(feature) }) });
const embeddings: Probes = {
  plain: { ...input('plain'), shows: holds('"embedding":[0.5,0.25]') },
  media: {
    models: { vertex: 'multimodalembedding@001' },
    body: (model) => ({ model, input: [{ text: says('media'), image: { base64: PNG } }] }),
    shows: holds('[0.5,0.25]'),
  },
  errors: { ...input('errors'), shows: chatCompletions.errors!.shows },
};

const prompt = (feature: Feature, more: object = {}) => ({
  body: (model: string) => ({ model, prompt: says(feature), ...more }),
});
const images: Probes = {
  plain: { ...prompt('plain'), shows: holds(`"b64_json":"${PNG}"`) },
  stream: { ...prompt('stream', { stream: true }), shows: holds('image_generation.completed', PNG) },
  errors: { ...prompt('errors'), shows: chatCompletions.errors!.shows },
};

const completions: Probes = {
  plain: { ...prompt('plain'), shows: holds('"text_completion"', TEXT) },
  stream: { ...prompt('stream', { stream: true }), shows: holds('"text_completion"', TEXT, 'data: [DONE]') },
  errors: { ...prompt('errors'), shows: chatCompletions.errors!.shows },
};

const moderations: Probes = {
  plain: { ...input('plain'), shows: holds('"flagged":false') },
  errors: { ...input('errors'), shows: chatCompletions.errors!.shows },
};

const spoken = (feature: Feature, more: object = {}) => ({
  body: (model: string) => ({ model, input: says(feature), voice: 'alloy', ...more }),
});
const speech: Probes = {
  plain: { ...spoken('plain'), shows: holds('"sound"', TEXT) },
  stream: { ...spoken('stream', { stream_format: 'sse' }), shows: holds('speech.audio.delta', 'speech.audio.done') },
  errors: { ...spoken('errors'), shows: chatCompletions.errors!.shows },
};

const form = (feature: Feature, more: object = {}) => ({
  body: (model: string) => ({ model, prompt: says(feature), ...more }),
});
const audioForms: Probes = {
  plain: { ...form('plain'), shows: holds(`"text":"${TEXT}"`) },
  stream: { ...form('stream', { stream: 'true' }), shows: holds('transcript.text.delta', 'transcript.text.done') },
  errors: { ...form('errors'), shows: chatCompletions.errors!.shows },
};
const { stream: _noStream, ...plainForms } = audioForms;
const imageForms: Probes = {
  plain: { ...form('plain'), shows: images.plain!.shows },
  errors: { ...form('errors'), shows: chatCompletions.errors!.shows },
};

/** The prompt of the probes: its picture is a media variable, everything else comes from the request. */
export const PROBE_PROMPT = {
  versions: {
    1: { text: '{{text}}', variables: { text: {} } },
    2: {
      messages: [{ role: 'user', content: ['{{text}}', '{{picture}}'] }],
      variables: { text: {}, picture: { media: 'image', default: `data:image/png;base64,${PNG}` } },
    },
  },
};

const compacted = holds('"response.compaction"', '"encrypted_content"');
const responsesCompact: Probes = {
  plain: { ...responses.plain!, shows: compacted },
  media: { ...responses.media!, shows: compacted },
  errors: responses.errors!,
};
/** The latest version has a picture in every request, which all kinds of upstreams take. */
const promptCompletions: Probes = Object.fromEntries(
  Object.entries(chatCompletions).map(([feature, { body, shows }]) => [
    feature,
    {
      body: (model: string) => {
        const { messages: _, ...more } = body(model) as { messages?: unknown };
        return { ...more, variables: { text: `feature: ${feature}` } };
      },
      shows,
    },
  ]),
);

/** By the operation's id. A feature that is not here is none of the operation's. */
export const PROBES: Readonly<Record<string, Probes>> = {
  'chat.completions': chatCompletions,
  'prompts.completions': promptCompletions,
  'chat.completions.count_tokens': chatCountTokens,
  responses,
  'responses.input_tokens': responsesInputTokens,
  'responses.compact': responsesCompact,
  messages,
  'messages.count_tokens': countTokens,
  'gemini.generate_content': generateContent,
  'gemini.stream_generate_content': streamGenerateContent,
  'gemini.count_tokens': vertexCountTokens,
  'gemini.embed_content': embedContent,
  'gemini.batch_embed_contents': batchEmbedContents,
  'vertex.count_tokens': vertexCountTokens,
  'vertex.predict': predict,
  embeddings,
  'images.generations': images,
  completions,
  moderations,
  'audio.speech': speech,
  'audio.transcriptions': audioForms,
  'audio.translations': plainForms,
  'images.edits': imageForms,
  'images.variations': imageForms,
};
