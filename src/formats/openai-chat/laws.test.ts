import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, Part } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { fold, type Generation } from '../streams/fold.ts';
import {
  argumentsOf,
  decodeAll,
  expectNoiseIgnored,
  expectOneTerminal,
  expectRechunkingKeepsEvents,
  expectSameArguments,
  expectSameFold,
  expectUsageOnce,
  joinedParts,
} from '../laws.testkit.ts';
import { generation, joinNeighbours, random, seed, toEvents, type Abilities } from '../generations.testkit.ts';
import { clientContext, deepFreeze, replyContext, replyWith } from '../contexts.testkit.ts';
import { openaiChat } from './index.ts';

/** Events that OpenAI's own fields can express, and those that need the extensions. */
const STANDARD: Abilities = { choices: 2, refusal: true, cacheUsage: true };
const EXTENDED: Abilities = {
  choices: 2,
  refusal: true,
  thinking: true,
  redacted: true,
  signatures: true,
  textSignatures: true,
  callSignatures: true,
  media: true,
  cacheUsage: true,
};

const strict = clientContext({ strict: true });
const lax = clientContext({ strict: false });

const open = () => openaiChat.decodeStream(replyContext());
const streamOf = (events: readonly GenerationEvent[], client = strict) => openaiChat.encodeStream(client).push(events);
const readBack = (text: string) => decodeAll(open(), [Buffer.from(text)]);
const plainOf = (events: readonly GenerationEvent[], client = strict) =>
  openaiChat.decodeReply(JSON.parse(JSON.stringify(replyWith(openaiChat, events, client))), replyContext());

/**
 * The conversation as a reader of this format gets it: all text comes before all calls, and a plain body has media and
 * thinking in two lists (docs/protocols/replies.md#reply-extensions), so that their order among each other is lost.
 */
function seen(generation: Generation): unknown {
  const parts = joinedParts(generation).map((list) => ({
    said: list.filter((part) => part.type !== 'tool_call' && part.type !== 'text' && part.type !== 'media'),
    media: list.filter((part) => part.type === 'media'),
    text: list.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    calls: list.filter((part) => part.type === 'tool_call'),
    signatures: list.flatMap((part) => ('signature' in part && part.signature ? [part.signature] : [])).sort(),
  }));
  const choices = generation.choices.map(({ index, refusal, finish, citations, logprobs }, at) => ({
    index,
    refusal: refusal || undefined,
    finish,
    citations,
    logprobs,
    ...parts[at],
  }));
  const { id, model, usage } = generation;
  const counted = usage && { ...usage, cacheRead: usage.cacheRead ?? 0, reasoning: usage.reasoning ?? 0 };
  return { id, model, choices, usage: counted };
}

interface Streamed {
  readonly index: number;
  readonly delta: { readonly content_parts?: readonly unknown[] };
}
interface Plain {
  readonly index: number;
  readonly message: { readonly content_parts?: readonly unknown[] };
}

describe.each([
  ['strict', STANDARD, strict],
  ['not strict', EXTENDED, lax],
] as const)('a reply in standard form (%s)', (_name, can, client) => {
  it('reads the same in any split of its bytes, and ends once', () => {
    fc.assert(
      fc.property(generation(can), seed, (reply, cuts) => {
        const bytes = Buffer.from(streamOf(toEvents(reply, cuts), client));
        const events = expectRechunkingKeepsEvents(open, bytes, cuts);
        expectOneTerminal(events);
        expectUsageOnce(events);
      }),
    );
  });

  it('has the same content as a stream and as a plain body', () => {
    fc.assert(
      fc.property(generation(can), seed, (reply, cuts) => {
        const stream = readBack(streamOf(toEvents(reply, cuts), client));
        const plain = plainOf(toEvents(reply), client);
        expectOneTerminal(plain);
        expectSameArguments(stream, plain);
        expectSameFold(stream, plain, seen);
      }),
    );
  });

  it('has the same list of texts and media as a stream and as a plain body', () => {
    fc.assert(
      fc.property(generation(can), seed, (reply, cuts) => {
        const streamed = new Map<number, unknown[]>();
        for (const event of streamOf(toEvents(reply, cuts), client).split('\n\n')) {
          if (!event.startsWith('data: {')) continue;
          for (const { index, delta } of (JSON.parse(event.slice(6)) as { choices: Streamed[] }).choices) {
            if (delta.content_parts) streamed.set(index, [...(streamed.get(index) ?? []), ...delta.content_parts]);
          }
        }
        const { choices } = replyWith(openaiChat, toEvents(reply), client) as { choices?: Plain[] };
        expect(choices?.map(({ index, message }) => [index, message.content_parts])).toEqual(
          choices?.map(({ index }) => [index, streamed.get(index)]),
        );
      }),
    );
  });

  it('loses nothing that the format can express', () => {
    fc.assert(
      fc.property(generation(can), seed, (reply, cuts) => {
        const events = toEvents(reply, cuts);
        expect(seen(fold(readBack(streamOf(events, client))))).toEqual(seen(fold(events)));
        expect(argumentsOf(readBack(streamOf(events, client)))).toEqual(argumentsOf(events));
      }),
    );
  });

  it('is not changed by records of unknown kinds', () => {
    const noise = [
      ': ping\n\n',
      'event: vertex_event\ndata: {"type":"vertex_event"}\n\n',
      'data: {"object":"other"}\n\n',
      'data:\n\n',
      'retry: 5\n\n',
      'data: 7\n\n',
      'data: null\n\n',
    ];
    fc.assert(
      fc.property(generation(can), seed, (reply, cuts) => {
        expectNoiseIgnored(open, streamOf(toEvents(reply, cuts), client), noise, cuts);
      }),
    );
  });

  it('does not change its events', () => {
    fc.assert(
      fc.property(generation(can), seed, (reply, cuts) => {
        const events = deepFreeze(toEvents(reply, cuts));
        streamOf(events, client);
        replyWith(openaiChat, events, client);
      }),
    );
  });

  it('does not depend on how the events are batched', () => {
    fc.assert(
      fc.property(generation(can), seed, (reply, cuts) => {
        const events = toEvents(reply, cuts);
        const encoder = openaiChat.encodeStream(client);
        expect(events.map((event) => encoder.push([event])).join('')).toBe(streamOf(events, client));
      }),
    );
  });
});

/** Interleaves the events of the choices, each choice in its own order, as servers stream several answers. */
function interleaved(events: readonly GenerationEvent[], cuts: number): GenerationEvent[] {
  const next = random(cuts);
  const hands = new Map<number, GenerationEvent[]>();
  const rest = events.filter((event) => {
    if (!('choice' in event) || event.type === 'finish') return true;
    hands.set(event.choice, [...(hands.get(event.choice) ?? []), event]);
    return false;
  });
  const dealt: GenerationEvent[] = [];
  for (let open = [...hands.values()]; open.length > 0; open = open.filter((hand) => hand.length > 0)) {
    dealt.push(open[Math.floor(next() * open.length)]!.shift()!);
  }
  return [rest[0]!, ...dealt, ...rest.slice(1)];
}

it('keeps several answers apart when their pieces are interleaved', () => {
  fc.assert(
    fc.property(generation({ ...EXTENDED, choices: 4 }), seed, fc.boolean(), (reply, cuts, strict) => {
      const client = clientContext({ strict });
      const events = toEvents(reply, cuts);
      const mixed = interleaved(events, cuts);
      expectProperStream(streamOf(mixed, client), true);
      expect(replyWith(openaiChat, mixed, client)).toEqual(replyWith(openaiChat, events, client));
      expect(seen(fold(readBack(streamOf(mixed, client))))).toEqual(seen(fold(readBack(streamOf(events, client)))));
    }),
  );
});

/** Checks the rules of a stream (docs/protocols/openai-chat.md#stream) from the client's side. */
function expectProperStream(text: string, includeUsage: boolean): void {
  const records = text.split('\n\n').slice(0, -1);
  expect(records.at(-1)).toBe('data: [DONE]');
  const chunks = records
    .slice(0, -1)
    .map((record) => JSON.parse(record.slice(6)) as JsonObject & { choices: JsonObject[] });
  expect(new Set(chunks.map((chunk) => JSON.stringify([chunk.id, chunk.created, chunk.model]))).size).toBe(1);
  const finished = new Set<unknown>();
  const tools = new Map<unknown, number>();
  chunks.forEach((chunk, at) => {
    const usageChunk = includeUsage && at === chunks.length - 1;
    expect(chunk.usage === null, JSON.stringify(chunk)).toBe(includeUsage && !usageChunk);
    expect('usage' in chunk).toBe(includeUsage);
    expect(chunk.choices).toHaveLength(usageChunk ? 0 : 1);
    for (const choice of chunk.choices) {
      expect(finished.has(choice.index)).toBe(false);
      const delta = choice.delta as { role?: string; tool_calls?: { index: number; id?: string }[] };
      const first = !tools.has(choice.index);
      expect(delta.role).toBe(first ? 'assistant' : undefined);
      if (first) tools.set(choice.index, 0);
      for (const call of delta.tool_calls ?? []) {
        const known = tools.get(choice.index) ?? 0;
        expect(call.index).toBe(call.id === undefined ? call.index : known);
        expect(call.index).toBeLessThanOrEqual(known);
        if (call.id !== undefined) tools.set(choice.index, known + 1);
      }
      if (choice.finish_reason !== null) finished.add(choice.index);
    }
  });
  expect(finished.size).toBe(tools.size);
}

it('keeps the order of chunks that clients rely on, with and without usage', () => {
  fc.assert(
    fc.property(generation(EXTENDED), seed, fc.boolean(), fc.boolean(), (reply, cuts, strict, includeUsage) => {
      expectProperStream(streamOf(toEvents(reply, cuts), clientContext({ strict, includeUsage })), includeUsage);
    }),
  );
});

it('shows a strict client no trace of thinking, signatures or generated images', () => {
  fc.assert(
    fc.property(generation(EXTENDED), seed, (reply, cuts) => {
      // The mark makes a trace recognizable in any field.
      const marked = reply.choices.map((choice) => ({
        ...choice,
        blocks: choice.blocks.map((block) => {
          const signed = 'signature' in block && block.signature ? { ...block, signature: 'TRACE' } : block;
          if (signed.type === 'thinking') return { ...signed, text: 'TRACE' };
          return signed.type === 'redacted_thinking' || signed.type === 'media' ? { ...signed, data: 'TRACE' } : signed;
        }),
      }));
      const events = toEvents({ ...reply, choices: marked }, undefined);
      for (const text of [
        streamOf(events),
        streamOf(toEvents({ ...reply, choices: marked }, cuts)),
        JSON.stringify(replyWith(openaiChat, events, strict)),
      ]) {
        expect(text).not.toMatch(
          /TRACE|content_blocks|content_parts|thought_signature|native_finish_reason|cache_read_input_tokens/,
        );
      }
    }),
  );
});

it('gives a client that is not strict every block back that it sends as a message', () => {
  fc.assert(
    fc.property(generation({ ...EXTENDED, choices: 1 }), (reply) => {
      const events = toEvents(reply);
      const body = replyWith(openaiChat, events, lax) as { choices: { message: JsonObject }[] };
      const message = JSON.parse(JSON.stringify(body.choices[0]!.message)) as JsonObject;
      const [turn] = openaiChat.decodeRequest({ model: 'm', messages: [message] }).turns;
      const parts = turn!.parts.filter(
        (part) => part.type !== 'refusal' && part.type !== 'tool_call' && part.type !== 'media',
      );
      const wanted = fold(events).choices[0]!.parts.filter(
        (part) => part.type !== 'tool_call' && part.type !== 'media',
      );
      const special = wanted.some((part) => part.type !== 'text' || part.signature);
      const text = (list: readonly Part[]) => list.map((part) => (part.type === 'text' ? part.text : '')).join('');
      if (special) expect(parts).toEqual(wanted);
      else expect(text(parts)).toBe(text(wanted));
      const calls = turn!.parts.filter((part) => part.type === 'tool_call');
      expect(calls).toEqual(fold(events).choices[0]!.parts.filter((part) => part.type === 'tool_call'));
      const media = turn!.parts.filter((part) => part.type === 'media');
      expect(media).toEqual(fold(events).choices[0]!.parts.filter((part) => part.type === 'media'));
    }),
  );
});

it('joins adjacent parts in the test kit only when nothing separates them', () => {
  expect(
    joinNeighbours([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', signature: 's' },
      { type: 'text', text: 'c' },
    ]),
  ).toEqual([
    { type: 'text', text: 'ab', signature: 's' },
    { type: 'text', text: 'c' },
  ]);
});
