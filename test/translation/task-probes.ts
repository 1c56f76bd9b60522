/** As field-probes.ts, for the operations that are no conversation: embeddings, images, and what passes through to OpenAI-compatible servers. */
import { MODEL_OF_PROBE, type Probe } from './field-probes.ts';
import type { Client, Json } from './outbound.ts';

const text = { parts: [{ text: 'hi' }] } as const;
const other = { parts: [{ text: 'ho' }] } as const;

const of = (client: Client, values: Json, beside: Json = {}): readonly Probe[] => [
  { client, field: 'model', path: ['model'], request: {}, instead: MODEL_OF_PROBE },
  ...Object.entries(values).map(([field, value]): Probe => {
    const [outer = '', inner] = field.split('.');
    const request = inner === undefined ? { [outer]: value } : { ...beside, [outer]: { [inner]: value } };
    return { client, field, path: inner === undefined ? [outer] : [outer, inner], request };
  }),
];

const instead = (probes: readonly Probe[], values: Json): readonly Probe[] =>
  probes.map((probe) => (probe.field in values ? { ...probe, instead: values[probe.field] } : probe));

/** A field of the one content of a request, or of the one instance. */
const inside = (client: Client, list: string, base: Json, values: Json): readonly Probe[] =>
  Object.entries(values).map(([name, value]) => ({
    client,
    field: `${list}[].${name}`,
    path: [list, 0, name],
    request: { [list]: [{ ...base, [name]: value }] },
  }));

export const EMBEDDING_PROBES: readonly Probe[] = [
  ...instead(
    of('embeddings', {
      input: 'hi',
      dimensions: 256,
      encoding_format: 'base64',
      user: 'u-1',
      title: 'A title',
      task_type: 'RETRIEVAL_DOCUMENT',
      input_type: 'RETRIEVAL_DOCUMENT',
      auto_truncate: false,
    }),
    { input: 'ho' },
  ),
  ...instead(
    of('embedContent', {
      content: text,
      taskType: 'RETRIEVAL_DOCUMENT',
      title: 'A title',
      outputDimensionality: 256,
      'embedContentConfig.outputDimensionality': 256,
    }),
    { content: other },
  ),
  ...instead(of('batchEmbedContents', { requests: [{ content: text }] }), { requests: [{ content: other }] }),
  ...inside(
    'batchEmbedContents',
    'requests',
    { content: text },
    {
      taskType: 'RETRIEVAL_DOCUMENT',
      title: 'A title',
      outputDimensionality: 256,
    },
  ),
  ...instead(
    of('predict', {
      instances: [{ content: 'hi' }],
      'parameters.outputDimensionality': 256,
      'parameters.autoTruncate': false,
    }),
    {
      instances: [{ content: 'ho' }],
    },
  ),
  ...inside('predict', 'instances', { content: 'hi' }, { task_type: 'RETRIEVAL_DOCUMENT', title: 'A title' }),
];

export const IMAGE_PROBES: readonly Probe[] = instead(
  of('images', {
    prompt: 'hi',
    n: 2,
    size: '1024x1024',
    quality: 'high',
    style: 'vivid',
    response_format: 'b64_json',
    output_format: 'jpeg',
    output_compression: 80,
    background: 'transparent',
    moderation: 'low',
    stream: true,
    partial_images: 2,
    user: 'u-1',
    labels: { team: 'a' },
    seed: 7,
    language: 'en',
    aspect_ratio: '16:9',
    image_size: '2K',
    sample_image_size: '2K',
    person_generation: 'allow_adult',
    negative_prompt: 'rain',
    safety_setting: 'block_only_high',
    add_watermark: false,
    enhance_prompt: false,
    guidance_scale: 5,
    include_safety_attributes: true,
    image_config: { aspect_ratio: '16:9' },
    safety_settings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
  }),
  { prompt: 'ho' },
);

const form = { prompt: 'hi', response_format: 'text', user: 'u-1', n: '2', size: '1024x1024' } as const;
const transcription: Json = {
  language: 'en',
  prompt: 'hi',
  response_format: 'text',
  temperature: '0.2',
  stream: 'true',
  chunking_strategy: 'auto',
  'include[]': ['logprobs'],
  'timestamp_granularities[]': ['word'],
  'known_speaker_names[]': ['Ada'],
  'known_speaker_references[]': ['data:audio/wav;base64,AA=='],
};

export const PASSED_PROBES: readonly Probe[] = [
  ...instead(
    of(
      'completions',
      {
        prompt: 'hi',
        suffix: '.',
        max_tokens: 9,
        temperature: 0.7,
        top_p: 0.9,
        n: 2,
        stream: true,
        'stream_options.include_usage': true,
        logprobs: 2,
        echo: true,
        stop: ['END'],
        presence_penalty: 0.5,
        frequency_penalty: 0.5,
        best_of: 2,
        logit_bias: { 50256: -100 },
        seed: 7,
        user: 'u-1',
      },
      { stream: true },
    ),
    { prompt: 'ho' },
  ),
  ...instead(of('moderations', { input: 'hi' }), { input: 'ho' }),
  ...instead(
    of('speech', {
      input: 'hi',
      voice: 'alloy',
      instructions: 'Be brief.',
      response_format: 'wav',
      speed: 2,
      stream_format: 'sse',
    }),
    { input: 'ho', voice: 'ash' },
  ),
  ...of('transcriptions', transcription),
  ...of('translations', transcription),
  ...of('imageEdits', {
    ...form,
    quality: 'high',
    output_format: 'jpeg',
    output_compression: '80',
    background: 'transparent',
    input_fidelity: 'high',
    stream: 'true',
    partial_images: '2',
  }),
  ...of('imageVariations', { n: '2', size: '1024x1024', response_format: 'b64_json', user: 'u-1' }),
];
