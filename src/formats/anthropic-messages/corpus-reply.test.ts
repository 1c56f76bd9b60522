import { describe, expect, it } from 'vitest';
import type { Part } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { fold } from '../streams/fold.ts';
import { clientContext, replyContext } from '../contexts.testkit.ts';
import { decodeAll, expectOneTerminal, expectRechunkingKeepsEvents, expectUsageOnce } from '../laws.testkit.ts';
import { hasCorpus, loadExpectations, recorded, type RecordedExchange } from './corpus.testkit.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeStream } from './decode-stream.ts';
import { MessagesUsageReader, toFinish } from './reply-fields.ts';
import { passThrough } from './pass-through.ts';

const GENERATION = new Set(['messages', 'rawPredict', 'streamRawPredict']);
const replies = recorded('anthropic', 'vertex-anthropic').filter(
  (record) => GENERATION.has(record.op) && record.response_status === 200 && !record.path.includes('/batches'),
);
const streams = replies.filter((record) => typeof record.response_body === 'string');

function decode(record: RecordedExchange): readonly GenerationEvent[] {
  const { response_body: body } = record;
  if (typeof body !== 'string') return decodeReply(body, replyContext());
  return decodeAll(decodeStream(replyContext()), [Buffer.from(body)]);
}

function partsOf<T extends Part['type']>(parts: readonly Part[], type: T): Extract<Part, { type: T }>[] {
  return parts.filter((part): part is Extract<Part, { type: T }> => part.type === type);
}

describe.skipIf(!hasCorpus)('recorded replies', () => {
  it('decode to what the corpus checker expects of text, calls, thinking, signatures, usage and stop', async () => {
    const derive = await loadExpectations();
    let compared = 0;
    for (const record of replies) {
      const expected = derive(record);
      const events = decode(record);
      expectOneTerminal(events);
      expectUsageOnce(events);
      const want = expected.choices?.[0];
      if (!expected.applicable || !want) continue;
      compared += 1;
      const generation = fold(events);
      const choice = generation.choices[0]!;
      const said = {
        id: record.id,
        text: partsOf(choice.parts, 'text')
          .map((part) => part.text)
          .join(''),
        thinking: partsOf(choice.parts, 'thinking').map(({ text, signature }) => ({ text, signature })),
        redacted: partsOf(choice.parts, 'redacted_thinking').map((part) => part.data),
        tools: partsOf(choice.parts, 'tool_call').map((call) => ({
          id: call.id,
          name: call.name,
          args: JSON.parse(call.arguments) as unknown,
        })),
        finish: choice.finish,
        native: choice.native,
        usage: generation.usage,
      };
      expect(said).toEqual({
        id: record.id,
        text: want.text.join(''),
        thinking: want.thinking.map(({ text, signature }) => ({ text, signature })),
        redacted: want.redacted,
        tools: want.tools.map(({ id, name, args }) => ({ id, name, args })),
        finish: toFinish(want.stop ?? undefined, { calls: want.tools.length, jsonAnswers: 0 }),
        native: want.stop ?? undefined,
        usage: want.usage && new MessagesUsageReader().read(want.usage),
      });
    }
    expect(compared).toBeGreaterThan(400);
  });

  it('give the same events however their bytes are split', () => {
    for (const [n, record] of streams.entries()) {
      if (typeof record.response_body !== 'string') continue;
      const bytes = Buffer.from(record.response_body);
      for (const seed of [n * 3 + 1, n * 3 + 2, n * 3 + 3]) {
        expectRechunkingKeepsEvents(() => decodeStream(replyContext()), bytes, seed);
      }
    }
    expect(streams.length).toBeGreaterThan(100);
  });

  it.each([
    ['before the `stop_reason` are interrupted', 'event: message_delta', 'error'],
    ['behind the `stop_reason` are complete', 'event: message_stop', 'end'],
  ])('cut %s', (_, mark, terminal) => {
    let compared = 0;
    for (const { response_body: body } of streams) {
      // Some recordings splice two messages.
      if (typeof body !== 'string' || body.split('event: message_start').length !== 2) continue;
      const end = body.indexOf(mark);
      if (end < 0) continue;
      const cut = Buffer.from(body.slice(0, end));
      const events = decodeAll(decodeStream(replyContext()), [cut]);
      expectOneTerminal(events);
      expect(events.at(-1)?.type).toBe(terminal);
      const reader = passThrough(clientContext(), true);
      reader.push(cut);
      expect(reader.end()?.toString().endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n') ?? false).toBe(
        terminal === 'end',
      );
      expect([reader.signals.ended, reader.signals.failure === undefined]).toEqual(Array(2).fill(terminal === 'end'));
      compared += 1;
    }
    expect(compared).toBeGreaterThan(50);
  });

  it('never count a server tool as a call of the client', () => {
    const withServerTools = replies.filter((record) =>
      JSON.stringify(record.response_body).includes('server_tool_use'),
    );
    for (const record of withServerTools) {
      const calls = decode(record).filter((event) => event.type === 'tool_call');
      expect(calls.map((event) => event.call)).toEqual(calls.map((_, at) => at));
      expect(calls.some((event) => event.id.startsWith('srvtoolu_'))).toBe(false);
    }
  });
});
