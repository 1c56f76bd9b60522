/** As field-probes.ts, for every field of a request of Gemini's API (docs/protocols/gemini.md#request-body). */
import { MODEL_OF_PROBE, type Probe } from './field-probes.ts';
import type { Json } from './outbound.ts';

const hi = { role: 'user', parts: [{ text: 'hi' }] } as const;
const ho = { role: 'model', parts: [{ text: 'ho' }] } as const;
const schema = { type: 'object', properties: { city: { type: 'string' } } } as const;
const tools = { tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: schema }] }] } as const;
const json = { responseMimeType: 'application/json' } as const;

const gemini = (probe: Omit<Probe, 'client'>): Probe => ({ ...probe, client: 'gemini' });

/** `beside` is what the field needs around it, and is there with and without it. */
const one = (field: string, content: unknown, beside: Json = {}): Probe =>
  gemini({ field, path: [field], request: { ...beside, [field]: content } });

const config = (field: string, content: unknown, beside: Json = {}): Probe =>
  gemini({
    field: `generationConfig.${field}`,
    path: ['generationConfig', field],
    request: { generationConfig: { ...beside, [field]: content } },
  });

const configs = (field: string, all: Readonly<Record<string, unknown>>): readonly Probe[] =>
  Object.entries(all).map(([value, content]) => ({ ...config(field, content), value }));

/** In the order of the schema, each in one of its two spellings; a test compares. */
export const GEMINI_TOP_LEVEL: readonly Probe[] = [
  gemini({ field: 'model', path: ['model'], request: {}, instead: MODEL_OF_PROBE }),
  gemini({ field: 'contents', path: ['contents'], request: { contents: [hi, ho, hi] }, instead: [hi] }),
  one('systemInstruction', { parts: [{ text: 'Be brief.' }] }),
  one('tools', tools.tools),
  ...['AUTO', 'NONE', 'ANY'].map((mode) => ({
    ...one('toolConfig', { functionCallingConfig: { mode } }, tools),
    value: mode,
  })),
  one('safetySettings', [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }]),
  config('maxOutputTokens', 90),
  config('temperature', 0.7),
  config('topP', 0.9),
  config('topK', 40),
  config('candidateCount', 2),
  config('stopSequences', ['END']),
  config('presencePenalty', 0.5),
  config('frequencyPenalty', 0.5),
  config('seed', 7),
  config('responseMimeType', 'application/json'),
  config('responseSchema', { type: 'OBJECT', properties: { city: { type: 'STRING' } } }, json),
  config('responseJsonSchema', schema, json),
  config('responseModalities', ['TEXT', 'IMAGE']),
  config('responseLogprobs', true),
  config('logprobs', 3, { responseLogprobs: true }),
  ...configs('thinkingConfig', {
    thinkingBudget: { thinkingBudget: 2048 },
    thinkingLevel: { thinkingLevel: 'LOW' },
    includeThoughts: { includeThoughts: true },
  }),
  config('speechConfig', { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } }),
  config('mediaResolution', 'MEDIA_RESOLUTION_LOW'),
  one('labels', { team: 'search' }),
  one('cachedContent', 'cachedContents/1'),
  ...['standard', 'flex', 'priority'].map((tier) => ({ ...one('serviceTier', tier), value: tier })),
];

const part = (field: string, value: Json): Probe =>
  gemini({
    field,
    path: ['contents', 0, 'parts', 1],
    request: { contents: [{ role: 'user', parts: [{ text: 'hi' }, value] }] },
  });

const tool = (field: string, value: Json): Probe =>
  gemini({ field, path: ['tools', 1], request: { tools: [tools.tools[0], value] } });

export const GEMINI_NESTED: readonly Probe[] = [
  part('parts[] inlineData', { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }),
  part('parts[] fileData', { fileData: { mimeType: 'image/png', fileUri: 'https://files.example/a.png' } }),
  gemini({
    field: 'parts[] functionCall, functionResponse',
    path: ['contents'],
    request: {
      ...tools,
      contents: [
        hi,
        { role: 'model', parts: [{ functionCall: { name: 'get_weather', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'get_weather', response: { output: 'warm' } } }] },
      ],
    },
    instead: [hi],
  }),
  gemini({
    field: 'parts[] thought',
    path: ['contents', 1, 'parts', 0],
    request: { contents: [hi, { role: 'model', parts: [{ text: 'so', thought: true }, { text: 'ho' }] }, hi] },
  }),
  gemini({
    field: 'parts[].thoughtSignature',
    path: ['contents', 1, 'parts', 0, 'thoughtSignature'],
    request: { contents: [hi, { role: 'model', parts: [{ text: 'ho', thoughtSignature: 'c2lnbmVk' }] }, hi] },
  }),
  tool('tools[] googleSearch', { googleSearch: {} }),
  tool('tools[] urlContext', { urlContext: {} }),
  tool('tools[] codeExecution', { codeExecution: {} }),
];
