import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import type { PassThrough } from '../format.ts';
import { formats } from '../index.ts';
import { clientContext, replyContext } from '../contexts.testkit.ts';
import { plainFromStream, streamFromPlain } from '../streams/replay.ts';
import { translatingReader } from '../streams/readers.ts';
import { openaiChat } from './index.ts';

const frame = { id: 'chatcmpl-9', object: 'chat.completion.chunk', created: 1, model: 'r1', x_own: 'field' };
const line = (chunk: JsonObject) => `data: ${JSON.stringify({ ...frame, ...chunk })}\n\n`;
const delta = (value: JsonObject, index = 0) => line({ choices: [{ index, delta: value, finish_reason: null }] });
const END = `${line({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`;
const streamOf = (...texts: string[]): string =>
  delta({ role: 'assistant', content: '' }) + texts.map((content) => delta({ content })).join('') + END;
const plainOf = (content: string): string =>
  JSON.stringify({ ...frame, choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] });

const reply = replyContext({ inlineThinking: true });
const [strict, lax] = [clientContext({ includeUsage: false }), clientContext({ includeUsage: false, strict: false })];
const ANSWER = '<think>\nTwo.\n</think>\n\nFour.';

function read(reader: PassThrough, pieces: readonly Buffer[]): string {
  const out = [...pieces.map((piece) => reader.push(piece)), reader.end()];
  return Buffer.concat(out.filter((piece) => piece !== undefined)).toString('utf8');
}

interface Message {
  readonly content: string;
  readonly content_blocks?: readonly JsonObject[];
}
const deltas = (stream: string): Message[] =>
  stream
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .flatMap((event) => (JSON.parse(event.slice(6)) as { choices: { delta: Message }[] }).choices)
    .map((choice) => choice.delta);
const contentOf = (stream: string): string =>
  deltas(stream)
    .map(({ content }) => content ?? '')
    .join('');
const blocksOf = (stream: string): unknown[] => deltas(stream).flatMap(({ content_blocks: blocks = [] }) => blocks);
const message = (body: string): Message =>
  (JSON.parse(body) as { choices: { message: Message }[] }).choices[0]!.message;

const stream = (text: string, client = strict): string =>
  read(openaiChat.passThrough.open(client, true, reply), [Buffer.from(text)]);
const plain = (text: string, client = strict): string =>
  read(openaiChat.passThrough.open(client, false, reply), [Buffer.from(text)]);

describe('a strict client gets the answer without the chain of thought', () => {
  it('at every border between two chunks', () => {
    for (let at = 0; at <= ANSWER.length; at += 1)
      expect(contentOf(stream(streamOf(ANSWER.slice(0, at), ANSWER.slice(at))))).toBe('Four.');
  });

  it('in small chunks, at every border of the bytes', () => {
    const bytes = Buffer.from(streamOf('<thi', 'nk>\nTwo.', '\n</thi', 'nk>\n', '\nFour.'));
    const whole = stream(bytes.toString());
    expect(contentOf(whole)).toBe('Four.');
    expect(whole).not.toContain('Two');
    for (let at = 1; at < bytes.length; at += 1) {
      const reader = openaiChat.passThrough.open(strict, true, reply);
      expect(read(reader, [bytes.subarray(0, at), bytes.subarray(at)])).toBe(whole);
      expect(reader.signals).toMatchObject({ ended: true, answered: true, failure: undefined });
    }
  });

  it('in a plain reply, and in one that came instead of a stream', () => {
    expect(message(plain(plainOf(ANSWER)))).toMatchObject({ content: 'Four.' });
    expect(plain(plainOf(ANSWER))).not.toContain('Two');
    expect(contentOf(stream(plainOf(ANSWER)))).toBe('Four.');
  });

  it('where the chain of thought was cut', () => {
    expect(contentOf(stream(streamOf('<think>Two', ' and')))).toBe('');
  });

  it('where a call follows', () => {
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const text = delta({ content: '<think>a</think>b' }) + delta({ tool_calls: [call] }) + END;
    expect(contentOf(stream(text))).toBe('b');
    expect(stream(text)).toContain('"name":"f"');
  });

  it('and the log probabilities of the answer alone', () => {
    const logprobs = { content: ['<think>', 'Two', '</think>', 'Four'].map((token) => ({ token, logprob: -1 })) };
    const choice = { index: 0, delta: { content: '<think>Two</think>Four' }, logprobs, finish_reason: null };
    const written = stream(line({ choices: [choice] }) + END);
    expect(written).toContain('"token":"Four"');
    expect(written).not.toContain('Two');
  });
});

describe('a client that is not strict', () => {
  const joined = 'Two.\r\n\r\nFour.';

  it('gets both as one text and apart in content_blocks, in a stream', () => {
    for (let at = 0; at <= ANSWER.length; at += 1) {
      const written = stream(streamOf(ANSWER.slice(0, at), ANSWER.slice(at)), lax);
      expect(contentOf(written)).toBe(joined);
      const blocks = blocksOf(written) as { delta: { thinking?: string; text?: string } }[];
      expect(blocks.map((block) => block.delta.thinking ?? '').join('')).toBe('Two.');
      expect(blocks.map((block) => block.delta.text ?? '').join('')).toBe('Four.');
    }
  });

  it('gets both as one text and apart in content_blocks, in a plain reply', () => {
    expect(message(plain(plainOf(ANSWER), lax))).toMatchObject({
      content: joined,
      content_blocks: [
        { type: 'thinking', thinking: 'Two.' },
        { type: 'text', text: 'Four.' },
      ],
    });
  });

  it('gets the same from a cached reply in the other form', () => {
    const streamed = stream(streamOf(...ANSWER), lax);
    const body = plain(plainOf(ANSWER), lax);
    const fromStream = plainFromStream(openaiChat, Buffer.from(streamed), undefined, lax);
    expect(message(fromStream.toString())).toEqual(message(body));
    const fromPlain = streamFromPlain(openaiChat, JSON.parse(body), lax).toString();
    expect(contentOf(fromPlain)).toBe(joined);
    const again = plainFromStream(openaiChat, Buffer.from(fromPlain), undefined, lax);
    expect(message(again.toString())).toEqual(message(body));
  });
});

describe('an answer without a chain of thought', () => {
  it.each([
    ['text', streamOf('Four', '.')],
    ['a later tag', streamOf('The tag <think>x</think>.')],
    ['another tag', streamOf('<', 'thin', 'g>')],
    ['thoughts of the server', delta({ reasoning_content: 'x' }) + streamOf('<think>')],
    ['no text', streamOf()],
    ['an error', `data: {"error":{"message":"busy"}}\n\n`],
    ['a cut', delta({ content: '<thin' })],
  ])('keeps its bytes at every border: %s', (_, text) => {
    const bytes = Buffer.from(text);
    const expected = read(openaiChat.passThrough.open(strict, true), [bytes]);
    for (let at = 0; at < bytes.length; at += 1) {
      const reader = openaiChat.passThrough.open(strict, true, reply);
      expect(read(reader, [bytes.subarray(0, at), bytes.subarray(at)])).toBe(expected);
    }
  });

  it('keeps the bytes of a plain reply', () => {
    expect(plain(plainOf('Four.'))).toBe(plainOf('Four.'));
  });
});

it('the start of an endless silent stream is held up to a limit', () => {
  const reader = openaiChat.passThrough.open(strict, true, reply);
  const silent = Buffer.from(delta({ content: '' }));
  for (let at = 0; at < 10_000; at += 1) reader.push(silent);
  expect(contentOf(read(reader, [Buffer.from(streamOf('<think>a</think>b'))]))).toBe('b');
});

it('a client of the Messages API gets a thinking block', () => {
  const client = formats['anthropic-messages'];
  const context = clientContext();
  const translation = { upstream: openaiChat, client, reply, context };
  const body = read(translatingReader(translation, false, 'application/json'), [Buffer.from(plainOf(ANSWER))]);
  expect((JSON.parse(body) as JsonObject).content).toMatchObject([
    { type: 'thinking', thinking: 'Two.' },
    { type: 'text', text: 'Four.' },
  ]);
  const events = read(translatingReader(translation, true, 'text/event-stream'), [Buffer.from(streamOf(...ANSWER))]);
  expect(events).toContain('"content_block":{"type":"thinking"');
  expect(events).not.toContain('think>');
});
