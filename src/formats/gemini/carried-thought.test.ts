import { describe, expect, it } from 'vitest';
import type { JsonObject, Part } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { clientContext, deepFreeze, requestTarget } from '../contexts.testkit.ts';
import { clean } from './clean.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeStream } from './encode-stream.ts';
import { SKIP_SIGNATURE } from './thought-signature.ts';

const think = (block: number, text: string): GenerationEvent => ({ type: 'thinking', choice: 0, block, text });
const sign = (block: number, signature: string, maker?: 'gemini'): GenerationEvent => ({
  type: 'signature',
  choice: 0,
  block,
  signature,
  ...(maker && { maker }),
});
const say = (block: number, text: string): GenerationEvent => ({ type: 'text', choice: 0, block, text });
const call = (number: number, block: number): GenerationEvent => ({
  type: 'tool_call',
  choice: 0,
  block,
  call: number,
  id: `c${number}`,
  name: 'f',
});
const redacted: GenerationEvent = { type: 'redacted_thinking', choice: 0, block: 1, data: 'x' };
const finish: GenerationEvent = { type: 'finish', choice: 0, reason: 'tool_calls' };

type Parts = readonly JsonObject[];
const partsIn = (reply: unknown): Parts =>
  (reply as { candidates: [{ content: { parts: Parts } }] }).candidates[0].content.parts;

const plain = (events: readonly GenerationEvent[]): Parts =>
  partsIn(encodeReply(deepFreeze([...events, finish, { type: 'end' as const }]), clientContext()));

function streamed(events: readonly GenerationEvent[]): Parts {
  const encoder = encodeStream(clientContext());
  const sent = [...events, finish, { type: 'end' as const }].map((event) => encoder.push([event])).join('');
  return sent
    .split('\r\n\r\n')
    .filter(Boolean)
    .flatMap((record) => partsIn(JSON.parse(record.replace(/^data: /, ''))));
}

/** A client that keeps calls and texts, and no thoughts. */
const withoutThoughts = (parts: Parts): Parts =>
  parts.filter((part) => part['thought'] !== true && part['text'] !== '');

function returned(parts: Parts): readonly Part[] {
  const { turns } = decodeRequest(deepFreeze({ contents: [{ role: 'model', parts: [...parts] }] }));
  return turns[0]!.parts;
}

const THOUGHT = { type: 'thinking', text: 'Hm, so.', signature: 's1' };
const THINKS = [think(0, 'Hm, '), think(0, 'so.'), sign(0, 's1'), say(1, 'I look.'), call(0, 2), call(1, 3)];

describe.each([
  ['plain', plain],
  ['streamed', streamed],
])('a call in a %s answer of another maker', (_, answer) => {
  it('carries the thought in front of it, for a client that keeps no thoughts', () => {
    const parts = returned(withoutThoughts(answer(THINKS)));
    expect(parts[0]).toEqual(THOUGHT);
    expect(parts.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_call', 'tool_call']);
    expect(parts.slice(2)).not.toContainEqual(expect.objectContaining({ signature: expect.anything() }));
  });

  it('gives no second thought to a client that keeps thoughts', () => {
    const parts = returned(answer(THINKS));
    expect(parts.filter(({ type, ...part }) => type === 'thinking' && 'text' in part && part.text !== '')).toEqual([
      THOUGHT,
    ]);
  });

  it('leaves the text of a thought whole, for a client that returns the pieces of a stream', () => {
    const parts = returned(answer([think(0, 'Hm, '), think(0, 'so.'), sign(0, 's1'), say(1, 'I look.')]));
    expect(parts.filter(({ type }) => type === 'thinking')).toEqual([THOUGHT]);
  });

  it('gives a thought that lost its signature the signature back', () => {
    const unsigned = [{ text: 'Hm, so.', thought: true }, ...withoutThoughts(answer(THINKS))];
    expect(returned(unsigned).filter(({ type }) => type === 'thinking')).toEqual([THOUGHT]);
  });

  it('carries the thought behind the call before', () => {
    const events = [...THINKS, think(4, 'Now.'), sign(4, 's2'), call(2, 5)];
    const parts = returned(withoutThoughts(answer(events)));
    expect(parts.map(({ type }) => type)).toEqual([
      'thinking',
      'text',
      'tool_call',
      'tool_call',
      'thinking',
      'tool_call',
    ]);
    expect(parts[4]).toEqual({ type: 'thinking', text: 'Now.', signature: 's2' });
  });

  it.each<[string, readonly GenerationEvent[]]>([
    ['of Gemini', [think(0, 'Hm'), sign(0, 's1', 'gemini'), call(0, 1)]],
    ['without a signature', [think(0, 'Hm'), call(0, 1)]],
    ['beside a redacted one, as Claude wants all of them', [think(0, 'Hm'), sign(0, 's1'), redacted, call(0, 2)]],
    ['beside another one', [think(0, 'Hm'), sign(0, 's1'), think(1, 'So'), sign(1, 's2'), call(0, 2)]],
  ])('carries no thought %s', (__, events) => {
    expect(answer(events).filter((part) => 'functionCall' in part && 'thoughtSignature' in part)).toEqual([]);
  });
});

it('a call that carries a thought of another maker goes to Gemini with the escape value', () => {
  const calls = plain(THINKS).filter((part) => 'functionCall' in part);
  const body = { contents: [{ role: 'model', parts: calls }] };
  const view = {
    has: (key: string) => key === 'contents',
    value: () => body.contents,
    contains: (text: string) => JSON.stringify(body).includes(text),
    mayMatch: () => true,
  };
  const { edits = [], losses } = clean(view, requestTarget({ model: 'gemini-3-flash-preview' })) ?? {};
  const [edit] = edits as readonly { readonly value: readonly [{ readonly parts: Parts }] }[];
  expect(edit?.value[0].parts.map((part) => part['thoughtSignature'])).toEqual([SKIP_SIGNATURE, undefined]);
  expect(losses?.map(({ param }) => param)).toEqual(['contents[0].parts[0].thoughtSignature']);
});
