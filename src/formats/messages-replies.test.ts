import Anthropic from '@anthropic-ai/sdk';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from './conversation.ts';
import type { GenerationEvent } from './events.ts';
import type { Format } from './format.ts';
import { formats } from './index.ts';
import { clientContext, replyContext, replyWith } from './contexts.testkit.ts';
import { decodeAll, rechunk } from './laws.testkit.ts';
import { generation, seed, toEvents, type Abilities, type Block, type GeneratedReply } from './generations.testkit.ts';

const messages = formats['anthropic-messages'];
/** An upstream holds nothing back. */
const all = clientContext({ strict: false });

/** A whole reply of an upstream of this format, and its stream cut into arbitrary pieces. */
function replies(upstream: Format, reply: GeneratedReply, cuts: number) {
  const body = JSON.parse(JSON.stringify(replyWith(upstream, toEvents(reply), all))) as JsonObject;
  const bytes = Buffer.from(upstream.encodeStream(all).push(toEvents(reply, cuts)));
  return {
    plain: upstream.decodeReply(body, replyContext()),
    stream: decodeAll(upstream.decodeStream(replyContext()), rechunk(bytes, cuts)),
  };
}

/**
 * The message that Anthropic's own client assembles from our stream: its accumulator, an injected transport, no socket.
 */
async function accumulated(events: readonly GenerationEvent[]): Promise<JsonObject> {
  const encoder = messages.encodeStream(clientContext());
  const sse = events.map((event) => encoder.push([event])).join('');
  const client = new Anthropic({
    apiKey: 'test',
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(sse, { headers: { 'content-type': 'text/event-stream' } })),
  });
  const asked = { model: 'm', max_tokens: 1, messages: [{ role: 'user' as const, content: 'hi' }] };
  // The accumulator adds `parsed_output`, for callers that gave it a schema.
  const { parsed_output: _, ...message } = await client.messages.stream(asked).finalMessage();
  return JSON.parse(JSON.stringify(message)) as JsonObject;
}

/**
 * OpenAI's messages have no order of thoughts, text and calls; this is the order that they get
 * (docs/protocols/messages-route.md#reply-order).
 */
const RANK: Readonly<Record<Block['type'], number>> = {
  thinking: 0,
  redacted_thinking: 0,
  text: 1,
  mcp_call: 1,
  media: 2,
  tool_call: 3,
};

const ordered = (can: Abilities): fc.Arbitrary<GeneratedReply> =>
  generation(can).map((reply) => ({
    ...reply,
    choices: reply.choices.map((choice) => ({
      ...choice,
      blocks: choice.blocks.toSorted((a, b) => RANK[a.type] - RANK[b.type]),
    })),
  }));

const GEMINI: Abilities = {
  thinking: true,
  signatures: true,
  thoughtsBy: 'gemini',
  callSignatures: true,
  cacheUsage: true,
};

const UPSTREAMS: readonly (readonly [string, Format, fc.Arbitrary<GeneratedReply>])[] = [
  ['Gemini', formats.gemini, generation(GEMINI)],
  ['Gemini without signatures', formats.gemini, generation({ thinking: true })],
  ['Gemini with pictures', formats.gemini, generation({ media: true, signatures: true })],
  ['OpenAI chat', formats['openai-chat'], ordered({ cacheUsage: true, refusal: true })],
  ['OpenAI chat with thoughts', formats['openai-chat'], ordered({ thinking: true })],
  ['Claude', messages, generation({ thinking: true, signatures: true, redacted: true, cacheUsage: true })],
];

describe.each(UPSTREAMS)('a reply of %s, written for a client of the Messages API,', (_, upstream, arbitrary) => {
  it('is assembled from its stream by the client’s own accumulator to the plain body', async () => {
    await fc.assert(
      fc.asyncProperty(arbitrary, seed, async (reply, cuts) => {
        const { stream } = replies(upstream, reply, cuts);
        const body = JSON.parse(JSON.stringify(replyWith(messages, stream, clientContext()))) as JsonObject;
        expect(await accumulated(stream)).toEqual(body);
      }),
    );
  });

  it('is the same whether it arrives whole or in pieces', () => {
    fc.assert(
      fc.property(arbitrary, seed, (reply, cuts) => {
        const { plain, stream } = replies(upstream, reply, cuts);
        const [whole, pieces] = [plain, stream].map((events) => replyWith(messages, events, clientContext()));
        expect(joinedBlocks(pieces!)).toEqual(joinedBlocks(whole!));
        expect(pieces!['stop_reason']).toEqual(whole!['stop_reason']);
        expect(pieces!['usage']).toEqual(whole!['usage']);
      }),
    );
  });
});

/** Joins consecutive blocks of one kind: where a stream splits them is up to the upstream. */
function joinedBlocks({ content }: JsonObject): readonly JsonObject[] {
  const joined: JsonObject[] = [];
  for (const block of content as readonly JsonObject[]) {
    const last = joined.at(-1);
    const key = block['type'] === 'text' ? 'text' : 'thinking';
    const joins =
      last !== undefined && last['type'] === block['type'] && typeof block[key] === 'string' && !last['signature'];
    if (joins) joined[joined.length - 1] = { ...last, ...block, [key]: `${String(last[key])}${block[key]}` };
    else joined.push(block);
  }
  return joined;
}
