/**
 * Minimal replies of real upstreams for each feature, by format (docs/protocols/openai-chat.md#reply,
 * docs/protocols/openai-chat.md#stream, docs/protocols/anthropic-messages.md#reply, docs/protocols/anthropic-messages.md#stream,
 * docs/protocols/gemini.md#reply, docs/protocols/embeddings.md#google-predict, docs/protocols/images.md#filtered-images).
 */
import type { ServerResponse } from 'node:http';
import type { SeenRequest } from '../support/upstream.ts';

export const FEATURES = ['plain', 'stream', 'tools', 'thinking', 'media', 'errors'] as const;
export type Feature = (typeof FEATURES)[number];

export const TEXT = 'Lisbon is sunny.';
export const THOUGHT = 'They ask about Lisbon.';
/** A picture of one pixel; a request that contains these bytes proves that it arrived. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const CALL = { name: 'weather', arguments: { city: 'Lisbon' } };

interface Wire {
  readonly plain: (feature: Feature) => object;
  /** Undefined: it has no streams. */
  readonly stream?: (feature: Feature) => string;
  readonly refusal: object;
}

const sse = (...chunks: readonly object[]): string =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');

const OPENAI_ERROR = {
  error: { message: 'Slow down.', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' },
};
const GOOGLE_ERROR = { error: { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED' } };
const ANTHROPIC_ERROR = {
  type: 'error',
  error: { type: 'rate_limit_error', message: 'Slow down.' },
  request_id: 'req_1',
};

const openAiCall = {
  id: 'call_1',
  type: 'function',
  function: { name: CALL.name, arguments: JSON.stringify(CALL.arguments) },
};
const openAiUsage = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 };

const openai: Wire = {
  plain: (feature) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_795_132_800,
    model: 'm',
    choices: [
      {
        index: 0,
        finish_reason: feature === 'tools' ? 'tool_calls' : 'stop',
        message: {
          role: 'assistant',
          content: feature === 'tools' ? null : TEXT,
          ...(feature === 'tools' && { tool_calls: [openAiCall] }),
          ...(feature === 'thinking' && { reasoning_content: THOUGHT }),
        },
      },
    ],
    usage: openAiUsage,
  }),
  stream: () => {
    const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_795_132_800, model: 'm' };
    const choice = (delta: object, finish_reason: string | null = null) => ({
      ...chunk,
      choices: [{ index: 0, delta, finish_reason }],
    });
    const chunks = [choice({ role: 'assistant', content: '' }), choice({ content: TEXT }), choice({}, 'stop')];
    return `${sse(...chunks, { ...chunk, choices: [], usage: openAiUsage })}data: [DONE]\n\n`;
  },
  refusal: OPENAI_ERROR,
};

const geminiReply = (parts: readonly object[], finish: object = { finishReason: 'STOP' }): object => ({
  responseId: 'r',
  modelVersion: 'm',
  candidates: [{ index: 0, ...finish, content: { role: 'model', parts } }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 4, totalTokenCount: 9 },
});

const gemini: Wire = {
  plain: (feature) =>
    geminiReply([
      ...(feature === 'thinking' ? [{ text: THOUGHT, thought: true }] : []),
      feature === 'tools' ? { functionCall: { name: CALL.name, args: CALL.arguments } } : { text: TEXT },
    ]),
  stream: () => sse(geminiReply([{ text: TEXT }], {}), geminiReply([{ text: '' }])).replaceAll('\n', '\r\n'),
  refusal: GOOGLE_ERROR,
};

const message = (content: readonly object[], stop_reason: string | null) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 4 },
});

const anthropic: Wire = {
  plain: (feature) => {
    if (feature === 'tools')
      return message([{ type: 'tool_use', id: 'toolu_1', name: CALL.name, input: CALL.arguments }], 'tool_use');
    const thinking = { type: 'thinking', thinking: THOUGHT, signature: 'c2ln' };
    return message([...(feature === 'thinking' ? [thinking] : []), { type: 'text', text: TEXT }], 'end_turn');
  },
  stream: () =>
    [
      { type: 'message_start', message: message([], null) },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 4 } },
      { type: 'message_stop' },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  refusal: ANTHROPIC_ERROR,
};

/** docs/protocols/openai-responses.md#response */
const response = (output: readonly object[], status: string) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_795_132_800,
  status,
  error: null,
  incomplete_details: null,
  model: 'm',
  output,
  usage: {
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 4,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 9,
  },
});
const outputText = { type: 'output_text', text: TEXT, annotations: [], logprobs: [] };
const outputMessage = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [outputText] };
const outputCall = {
  id: 'fc_1',
  type: 'function_call',
  status: 'completed',
  call_id: 'call_1',
  name: CALL.name,
  arguments: JSON.stringify(CALL.arguments),
};
const outputThought = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: THOUGHT }] };

const openAiResponses: Wire = {
  plain: (feature) => {
    if (feature === 'tools') return response([outputCall], 'completed');
    return response([...(feature === 'thinking' ? [outputThought] : []), outputMessage], 'completed');
  },
  stream: () =>
    [
      { type: 'response.created', response: response([], 'in_progress') },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...outputMessage, status: 'in_progress', content: [] },
      },
      {
        type: 'response.content_part.added',
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        part: { ...outputText, text: '' },
      },
      {
        type: 'response.output_text.delta',
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta: TEXT,
        logprobs: [],
      },
      {
        type: 'response.output_text.done',
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        text: TEXT,
        logprobs: [],
      },
      { type: 'response.content_part.done', item_id: 'msg_1', output_index: 0, content_index: 0, part: outputText },
      { type: 'response.output_item.done', output_index: 0, item: outputMessage },
      { type: 'response.completed', response: response([outputMessage], 'completed') },
    ]
      .map((event, at) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`)
      .join(''),
  refusal: OPENAI_ERROR,
};

const imageUsage = { input_tokens: 3, output_tokens: 9, total_tokens: 12 };
const openAiImages: Wire = {
  plain: () => ({ created: 1_795_132_800, data: [{ b64_json: PNG }], usage: imageUsage }),
  stream: () => {
    const event = { type: 'image_generation.completed', b64_json: PNG, usage: imageUsage };
    return `event: ${event.type}\n${sse(event)}`;
  },
  refusal: OPENAI_ERROR,
};

const completion = (choices: readonly object[]) => ({
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1,
  model: 'm',
  choices,
});
const openAiCompletions: Wire = {
  plain: () => ({ ...completion([{ index: 0, text: TEXT, finish_reason: 'stop' }]), usage: openAiUsage }),
  stream: () => {
    const pieces = [
      { index: 0, text: TEXT, finish_reason: null },
      { index: 0, text: '', finish_reason: 'stop' },
    ];
    return `${sse(...pieces.map((piece) => completion([piece])))}data: [DONE]\n\n`;
  },
  refusal: OPENAI_ERROR,
};

/** The plain reply stands for the sound. */
const openAiSpeech: Wire = {
  plain: () => ({ sound: TEXT }),
  stream: () => sse({ type: 'speech.audio.delta', audio: 'AAAA' }, { type: 'speech.audio.done', usage: imageUsage }),
  refusal: OPENAI_ERROR,
};

const openAiTranscriptions: Wire = {
  plain: () => ({ text: TEXT }),
  stream: () => sse({ type: 'transcript.text.delta', delta: TEXT }, { type: 'transcript.text.done', text: TEXT }),
  refusal: OPENAI_ERROR,
};

const whole = (body: object, refusal: object): Wire => ({ plain: () => body, refusal });

/** The wire spoken at a path, the most telling paths first. */
const WIRES: readonly (readonly [RegExp, Wire])[] = [
  [/count-tokens:rawPredict$|\/count_tokens$/, whole({ input_tokens: 7 }, ANTHROPIC_ERROR)],
  [/:countTokens$/, whole({ totalTokens: 7 }, GOOGLE_ERROR)],
  [
    /text-embedding.*:predict$/,
    whole({ predictions: [{ embeddings: { values: [0.5, 0.25], statistics: { token_count: 3 } } }] }, GOOGLE_ERROR),
  ],
  [/v1beta\/models\/[^/]*:embedContent$/, whole({ embedding: { values: [0.5, 0.25] } }, GOOGLE_ERROR)],
  [/:batchEmbedContents$/, whole({ embeddings: [{ values: [0.5, 0.25] }] }, GOOGLE_ERROR)],
  [
    /multimodalembedding.*:predict$/,
    whole({ predictions: [{ textEmbedding: [0.125], imageEmbedding: [0.5, 0.25] }] }, GOOGLE_ERROR),
  ],
  [/imagen.*:predict$/, whole({ predictions: [{ bytesBase64Encoded: PNG, mimeType: 'image/png' }] }, GOOGLE_ERROR)],
  [
    /\/embeddings(?:\?|$)/,
    whole(
      {
        object: 'list',
        model: 'm',
        data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
        usage: { prompt_tokens: 3, total_tokens: 3 },
      },
      OPENAI_ERROR,
    ),
  ],
  [/\/images\/generations(?:\?|$)/, openAiImages],
  [/\/(?<!chat\/)completions(?:\?|$)/, openAiCompletions],
  [
    /\/responses\/compact(?:\?|$)/,
    whole(
      {
        id: 'resp_1',
        object: 'response.compaction',
        created_at: 1_795_132_800,
        output: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAA' }],
        usage: response([], '').usage,
      },
      OPENAI_ERROR,
    ),
  ],
  [/\/responses\/input_tokens(?:\?|$)/, whole({ object: 'response.input_tokens', input_tokens: 7 }, OPENAI_ERROR)],
  [/\/responses(?:\?|$)/, openAiResponses],
  [/\/moderations(?:\?|$)/, whole({ id: 'modr-1', model: 'm', results: [{ flagged: false }] }, OPENAI_ERROR)],
  [/\/audio\/speech(?:\?|$)/, openAiSpeech],
  [/\/audio\/trans(?:criptions|lations)(?:\?|$)/, openAiTranscriptions],
  [/\/images\/(?:edits|variations)(?:\?|$)/, openAiImages],
  [/enerateContent/, gemini],
  [/publishers\/anthropic\/|\/v1\/messages$/, anthropic],
  [/\/chat\/completions(?:\?|$)|publishers\/mistralai\//, openai],
];

const wireAt = (url: string): Wire | undefined => WIRES.find(([path]) => path.test(url))?.[1];

const BEGINNINGS = [TEXT, 'AAAA'];
const BLANK_LINE = /\r?\n\r?\n/;

/** The stream of a path up to its first piece of an answer. Throws where there is none, or nothing behind it. */
export function streamBegun(url: string): string {
  const stream = wireAt(url)?.stream?.('stream') ?? '';
  const content = BEGINNINGS.map((one) => stream.indexOf(one)).find((at) => at >= 0) ?? stream.length;
  const rest = BLANK_LINE.exec(stream.slice(content));
  const end = content + (rest ? rest.index + rest[0].length : 0);
  if (end >= stream.length || end === content) throw new Error(`nothing of a stream is scripted for ${url}`);
  return stream.slice(0, end);
}

/** Answers with the feature the request says it is about. */
export function answer(request: SeenRequest, res: ServerResponse): void {
  const wire = wireAt(request.url);
  const feature = FEATURES.find((one) => request.text.includes(`feature: ${one}`));
  if (!wire || !feature) return void res.writeHead(418).end(`nothing is scripted for ${request.url}`);
  if (feature === 'media' && !request.text.includes(PNG)) return void res.writeHead(418).end('the picture is missing');
  if (feature === 'tools' && !request.text.includes(`"${CALL.name}"`))
    return void res.writeHead(418).end('the tool is missing');
  if (feature === 'thinking' && !/"thinkingConfig"|"thinking"|"reasoning_effort"|"reasoning":\{/.test(request.text))
    return void res.writeHead(418).end('no thinking is asked for');
  if (feature === 'errors') return json(res, 429, wire.refusal);
  // A place without streams is asked for the whole.
  if (feature !== 'stream' || !wire.stream) return json(res, 200, wire.plain(feature));
  res.writeHead(200, { 'content-type': 'text/event-stream' }).end(wire.stream(feature));
}

const json = (res: ServerResponse, status: number, body: object): void =>
  void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
