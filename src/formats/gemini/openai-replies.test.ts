import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import { fold } from '../streams/fold.ts';
import { clientContext, replyContext, requestTarget, encodeWith, replyWith } from '../contexts.testkit.ts';
import { decodeAll } from '../laws.testkit.ts';
import { openaiChat } from '../openai-chat/index.ts';
import { gemini } from './index.ts';
import { toSse } from './stream.testkit.ts';
import { objectsOf } from './wire.ts';
import { isObject } from '../json/object.ts';

/**
 * Gemini's replies as an OpenAI client gets them, strict and not (docs/protocols/replies.md#reply-extensions), plain
 * and streamed, and the next request of such a client. Each row names only the fields that it tests.
 */
interface Row {
  readonly title: string;
  readonly parts: readonly JsonObject[];
  /** Beside the parts. */
  readonly candidate?: JsonObject;
  readonly lax: JsonObject;
  readonly strict: JsonObject;
  /** Parts of the model's turn when a client that is not strict sends the message back. */
  readonly back?: readonly JsonObject[];
}

const png = (data: string) => ({ mimeType: 'image/png', data });
const url = (data: string) => ({ url: `data:image/png;base64,${data}` });
const called = { name: 'f', arguments: '{}' };

const rows: readonly Row[] = [
  {
    title: 'a draft inside a thought is thinking with a picture, and no part of the answer',
    parts: [
      { text: 'hm', thought: true },
      { inlineData: png('ZHJhZnQ='), thought: true },
      { inlineData: png('cGlj'), thoughtSignature: 'c2ln' },
    ],
    lax: {
      content_blocks: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'thinking', thinking: '', image_url: url('ZHJhZnQ=') },
      ],
      content_parts: [{ type: 'image_url', image_url: url('cGlj'), signature: 'c2ln' }],
    },
    strict: { content: '' },
    back: [{ inlineData: png('cGlj'), thoughtSignature: 'c2ln' }],
  },
  {
    title: 'a picture between texts keeps its place',
    parts: [{ text: 'One:' }, { inlineData: png('MQ==') }, { text: 'Two:' }, { inlineData: png('Mg==') }],
    lax: {
      content: 'One:Two:',
      content_parts: [
        { type: 'text', text: 'One:' },
        { type: 'image_url', image_url: url('MQ==') },
        { type: 'text', text: 'Two:' },
        { type: 'image_url', image_url: url('Mg==') },
      ],
    },
    strict: { content: 'One:Two:' },
    back: [{ text: 'One:' }, { inlineData: png('MQ==') }, { text: 'Two:' }, { inlineData: png('Mg==') }],
  },
  {
    title: 'code that ran and its result are blocks',
    parts: [
      { executableCode: { language: 'PYTHON', code: 'print(1)' }, thoughtSignature: 'c2ln' },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
      { text: 'It is 1.' },
    ],
    lax: {
      content: 'It is 1.',
      content_blocks: [
        { type: 'code', language: 'PYTHON', code: 'print(1)', signature: 'c2ln' },
        { type: 'code_result', outcome: 'OUTCOME_OK', output: '1\n' },
        { type: 'text', text: 'It is 1.' },
      ],
    },
    strict: { content: 'It is 1.' },
    back: [
      { executableCode: { language: 'PYTHON', code: 'print(1)' }, thoughtSignature: 'c2ln' },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
      { text: 'It is 1.' },
    ],
  },
  {
    title: 'a signature behind the first call is that call’s',
    parts: [{ text: 'Wait.' }, { functionCall: { name: 'f', id: 'c' } }, { text: '', thoughtSignature: 'c2ln' }],
    lax: {
      content: 'Wait.',
      tool_calls: [{ id: 'c', type: 'function', function: { ...called, thought_signature: 'c2ln' } }],
    },
    strict: { content: 'Wait.', tool_calls: [{ id: 'c', type: 'function', function: called }] },
    back: [{ text: 'Wait.' }, { functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2ln' }],
  },
  {
    title: 'signed text keeps its signature',
    parts: [{ text: 'a' }, { text: 'b', thoughtSignature: 'c2ln' }, { text: 'c' }],
    lax: {
      content: 'abc',
      content_blocks: [
        { type: 'text', text: 'ab', signature: 'c2ln' },
        { type: 'text', text: 'c' },
      ],
    },
    strict: { content: 'abc' },
    back: [{ text: 'ab', thoughtSignature: 'c2ln' }, { text: 'c' }],
  },
  {
    title: 'a signature alone stays one',
    parts: [{ text: '', thoughtSignature: 'c2ln' }, { text: 'a' }],
    lax: {
      content: 'a',
      content_blocks: [
        { type: 'text', text: '', signature: 'c2ln' },
        { type: 'text', text: 'a' },
      ],
    },
    strict: { content: 'a' },
    back: [{ text: '', thoughtSignature: 'c2ln' }, { text: 'a' }],
  },
  {
    title: 'sound is the audio of the message, strict or not',
    parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data: 'AAAA' } }],
    lax: { audio: { data: 'AAAA' } },
    strict: { audio: { data: 'AAAA' } },
  },
  {
    title: 'grounding is cited at string indices',
    parts: [{ text: 'Grüße ' }, { text: '👋 aus Köln.' }],
    candidate: {
      groundingMetadata: {
        groundingChunks: [{ web: { uri: 'https://a', title: 'A' } }],
        groundingSupports: [{ segment: { startIndex: 8, endIndex: 12 }, groundingChunkIndices: [0] }],
      },
    },
    lax: {
      annotations: [
        { type: 'url_citation', url_citation: { start_index: 6, end_index: 8, url: 'https://a', title: 'A' } },
      ],
    },
    strict: {
      annotations: [
        { type: 'url_citation', url_citation: { start_index: 6, end_index: 8, url: 'https://a', title: 'A' } },
      ],
    },
    back: [{ text: 'Grüße 👋 aus Köln.' }],
  },
];

const body = ({ parts, candidate }: Row): JsonObject => ({
  responseId: 'r',
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', ...candidate }],
});

/** Each part in its own chunk, the rest of the candidate on the last. */
const chunks = ({ parts, candidate }: Row): JsonObject[] => [
  ...parts.map((part) => ({ responseId: 'r', candidates: [{ content: { role: 'model', parts: [part] } }] })),
  { responseId: 'r', candidates: [{ content: { role: 'model' }, finishReason: 'STOP', ...candidate }] },
];

function plain(row: Row, strict: boolean): JsonObject {
  const reply = replyWith(openaiChat, gemini.decodeReply(body(row), replyContext()), clientContext({ strict }));
  const [choice] = objectsOf(reply['choices']);
  return isObject(choice?.['message']) ? choice['message'] : {};
}

describe.each(rows.map((row) => [row.title, row] as const))('%s', (_, row) => {
  it('for a client that is not strict', () => {
    expect(plain(row, false)).toMatchObject(row.lax);
  });

  it('for a strict client', () => {
    const message = plain(row, true);
    expect(message).toMatchObject(row.strict);
    expect(JSON.stringify(message)).not.toMatch(/content_blocks|content_parts|thought_signature|c2ln/);
  });

  it('in a stream as in a plain reply', () => {
    const events = decodeAll(gemini.decodeStream(replyContext()), [Buffer.from(toSse(chunks(row)))]);
    expect(fold(events)).toEqual(fold(gemini.decodeReply(body(row), replyContext())));
    const strict = openaiChat.encodeStream(clientContext({ strict: true })).push(events);
    expect(strict).not.toMatch(/content_blocks|content_parts|thought_signature|c2ln/);
    const lax = openaiChat.encodeStream(clientContext({ strict: false })).push(events);
    for (const media of JSON.stringify(row.lax).match(/base64,[^"]+/g) ?? []) expect(lax).toContain(media);
  });

  it.skipIf(!row.back)('and survives a round trip', () => {
    const messages = [{ role: 'user', content: 'hi' }, plain(row, false)];
    const target = requestTarget({ model: 'gemini-3-pro-image-preview', host: 'vertex', strict: false });
    const request = openaiChat.decodeRequest({ model: 'm', messages });
    const { contents } = encodeWith(gemini, request, target, replyContext()).body;
    expect(objectsOf(contents)[1]).toEqual({ role: 'model', parts: row.back });
  });
});

it('several answers are several choices, each with its own probabilities and finish', () => {
  const answer = (text: string, finishReason: string) => ({
    content: { parts: [{ text }] },
    finishReason,
    logprobsResult: {
      chosenCandidates: [{ token: text, logProbability: -1 }],
      topCandidates: [{ candidates: [{ token: 'é', logProbability: -2 }] }],
    },
  });
  const candidates = [
    { ...answer('a', 'STOP'), index: 0 },
    { ...answer('b', 'MAX_TOKENS'), index: 1 },
  ];
  const events = gemini.decodeReply({ candidates }, replyContext());
  const top_logprobs = [{ token: 'é', logprob: -2, bytes: [0xc3, 0xa9] }];
  const choice = (index: number, content: string, finish_reason: string) => ({
    index,
    finish_reason,
    message: { content },
    logprobs: { content: [{ token: content, logprob: -1, top_logprobs }] },
  });
  expect(replyWith(openaiChat, events, clientContext())).toMatchObject({
    choices: [choice(0, 'a', 'stop'), choice(1, 'b', 'length')],
  });
});

it('a blocked prompt is an answer without content that the filter ended', () => {
  const promptFeedback = { blockReason: 'SAFETY', safetyRatings: [{ category: 'c', blocked: true }] };
  const events = gemini.decodeReply({ promptFeedback }, replyContext());
  const answer = { index: 0, finish_reason: 'content_filter', message: { content: null } };
  expect(replyWith(openaiChat, events, clientContext())).toMatchObject({ choices: [answer] });
  expect(replyWith(openaiChat, events, clientContext({ strict: false }))).toMatchObject({
    choices: [{ ...answer, native_finish_reason: 'SAFETY', safetyRatings: promptFeedback.safetyRatings }],
  });
});
