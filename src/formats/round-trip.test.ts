import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, Part } from './conversation.ts';
import type { GenerationEvent } from './events.ts';
import { fold } from './streams/fold.ts';
import { formats } from './index.ts';
import { clientContext, replyContext, requestTarget, encodeWith, replyWith } from './contexts.testkit.ts';
import { generation, seed, toEvents, type Abilities, type Block } from './generations.testkit.ts';

/**
 * Content of a reply to a client that is not strict must come back unchanged (docs/protocols/replies.md#replayed-extensions): a
 * provider's reply → OpenAI's form → the message that a client keeps → the provider's request. The request must hold what the reply's own
 * parts hold as a request.
 */
const openai = formats['openai-chat'];
const lax = clientContext({ strict: false });

/** The order of this format (docs/protocols/replies.md#reply-extensions): thinking and text, then pictures, then calls. */
const RANK: Record<Block['type'], number> = {
  thinking: 0,
  redacted_thinking: 0,
  text: 0,
  mcp_call: 0,
  media: 1,
  tool_call: 2,
};

function replies(can: Abilities): fc.Arbitrary<readonly GenerationEvent[]> {
  return fc.tuple(generation(can), seed).map(([reply, cuts]) => {
    const choices = reply.choices.map((choice) => ({
      ...choice,
      blocks: choice.blocks.toSorted((a, b) => RANK[a.type] - RANK[b.type]),
    }));
    return toEvents({ ...reply, choices }, cuts);
  });
}

const plainMessage = (events: readonly GenerationEvent[]): JsonObject => {
  const body = JSON.parse(JSON.stringify(replyWith(openai, events, lax))) as { choices: { message: JsonObject }[] };
  return body.choices[0]!.message;
};

interface Delta {
  readonly content?: string;
  readonly content_blocks?: readonly JsonObject[];
  readonly content_parts?: readonly JsonObject[];
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly id?: string;
    readonly function: { readonly arguments: string };
  }[];
}

/** The parts of a stream that a simple client keeps: texts joined, lists concatenated, arguments joined by index. */
function collectedMessage(events: readonly GenerationEvent[]): JsonObject {
  const deltas = openai
    .encodeStream(lax)
    .push(events)
    .split('\n\n')
    .filter((record) => record.startsWith('data: {'))
    .map((record) => JSON.parse(record.slice(6)) as { choices: { delta: Delta }[] })
    .flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const calls: { function: { arguments: string } }[] = [];
  for (const call of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    const known = calls[call.index];
    if (known) known.function.arguments += call.function.arguments;
    else calls[call.index] = { ...call, function: { ...call.function } };
  }
  const content_blocks = deltas.flatMap((delta) => delta.content_blocks ?? []);
  const content_parts = deltas.flatMap((delta) => delta.content_parts ?? []);
  return {
    role: 'assistant',
    content: deltas.map((delta) => delta.content ?? '').join(''),
    ...(content_blocks.length > 0 && { content_blocks }),
    ...(content_parts.length > 0 && { content_parts }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** The message among others, as a tool loop sends it. */
function nextRequest(message: JsonObject, parts: readonly Part[]): JsonObject {
  const results = parts.flatMap((part) =>
    part.type === 'tool_call' ? [{ role: 'tool', tool_call_id: part.id, content: 'done' }] : [],
  );
  const messages = [{ role: 'user', content: 'Hi' }, message, ...results, { role: 'user', content: 'And?' }];
  return { model: 'm', max_tokens: 100, messages };
}

describe.each([
  [
    'Claude',
    formats['anthropic-messages'],
    'claude-sonnet-4-5',
    { thinking: true, redacted: true, signatures: true, mcp: true },
  ],
  ['Gemini', formats.gemini, 'gemini-3-pro-preview', { textSignatures: true, callSignatures: true, media: true }],
  [
    'Gemini with thoughts',
    formats.gemini,
    'gemini-2.5-pro',
    { thinking: true, signatures: true, thoughtsBy: 'gemini', callSignatures: true },
  ],
] as const)('a reply of %s that comes back from a lax client', (_name, upstream, model, can) => {
  const target = requestTarget({ model, strict: false });
  const encode = (body: JsonObject, parts?: readonly Part[]) => {
    const decoded = openai.decodeRequest(body);
    const turns = decoded.turns.map((turn) => (parts && turn.role === 'assistant' ? { ...turn, parts } : turn));
    return encodeWith(upstream, { ...decoded, turns }, target, replyContext()).body;
  };

  it.each([
    ['whole', plainMessage],
    ['as the pieces of a stream', collectedMessage],
  ])('says what it said (%s)', (_form, keep) => {
    fc.assert(
      fc.property(replies(can), (reported) => {
        const wire = JSON.parse(JSON.stringify(replyWith(upstream, reported, clientContext()))) as JsonObject;
        const events = upstream.decodeReply(wire, replyContext({ model }));
        const parts = fold(events).choices[0]?.parts ?? [];
        const body = nextRequest(keep(events), parts);
        expect(openai.decodeRequest(body).unread).toBeUndefined();
        expect(encode(body)).toEqual(encode(body, parts));
      }),
    );
  });
});
