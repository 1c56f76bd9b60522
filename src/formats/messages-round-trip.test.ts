import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asSent } from './as-sent.testkit.ts';
import type { Conversation, JsonObject } from './conversation.ts';
import type { Format } from './format.ts';
import { formats } from './index.ts';
import { deepFreeze, replyContext, requestTarget, encodeWith } from './contexts.testkit.ts';
import { messagesBody } from './messages-bodies.testkit.ts';

const messages = formats['anthropic-messages'];
const target = requestTarget({ model: 'claude-sonnet-4-5' });

const toClaude = (conversation: Conversation) => {
  const encoded = encodeWith(messages, conversation, target, replyContext());
  return { ...encoded, body: asSent(encoded.body) };
};

/** The part of a request that other APIs can express. */
function portable(body: JsonObject): Conversation {
  const conversation = messages.decodeRequest(deepFreeze(body));
  return messages.toPortable(conversation).conversation;
}

/** Messages → another API's body → Messages. */
function through(format: Format, model: string, body: JsonObject): JsonObject {
  const there = asSent(encodeWith(format, portable(body), requestTarget({ model }), replyContext()).body);
  const back = format.decodeRequest(JSON.parse(JSON.stringify(there)) as JsonObject);
  return toClaude(back).body;
}

interface Block extends JsonObject {
  readonly type: string;
}

/** Texts, calls and results in order; consecutive texts are joined, since other APIs have no blocks. */
function said({ system, messages: turns }: JsonObject): readonly unknown[] {
  const blocksOf = (value: unknown): readonly Block[] => (Array.isArray(value) ? (value as Block[]) : []);
  const all = [
    { role: 'system', content: system },
    ...(turns as readonly { readonly role: string; readonly content: unknown }[]),
  ].flatMap(({ role, content }) => blocksOf(content).flatMap((block) => sayingsOf(role, block)));
  return all.reduce<Saying[]>((joined, saying) => {
    const last = joined.at(-1);
    if (!('text' in saying) || !last || !('text' in last) || last.role !== saying.role) return [...joined, saying];
    return [...joined.slice(0, -1), { role: last.role, text: last.text + saying.text }];
  }, []);
}

type Saying = { readonly role: string; readonly text: string } | { readonly role: string; readonly value: unknown };

function sayingsOf(role: string, block: Block): Saying[] {
  switch (block.type) {
    case 'text':
      return [{ role, text: String(block['text']) }];
    case 'tool_use':
      return [{ role, value: [block['id'], block['name'], block['input']] }];
    case 'tool_result': {
      const texts = (Array.isArray(block['content']) ? (block['content'] as Block[]) : []).map(({ text }) => text);
      return [{ role, value: [block['tool_use_id'], texts.join('\n')] }];
    }
    case 'image':
      return [{ role, value: block['source'] }];
    // Thoughts go only to the provider that made them (docs/protocols/messages-route.md#thoughts).
    default:
      return [];
  }
}

describe('a request of the Messages API', () => {
  it('survives decoding and encoding, including all fields and blocks of this API', () => {
    fc.assert(
      fc.property(messagesBody({ own: true }), (body) => {
        const { body: again, losses } = toClaude(messages.decodeRequest(deepFreeze(body)));
        expect(again).toEqual(body);
        expect(losses).toEqual([]);
      }),
    );
  });

  it.each([
    ['OpenAI chat', formats['openai-chat'], 'gpt-5'],
    ['Gemini 2.5', formats.gemini, 'gemini-2.5-flash'],
    ['Gemini 3', formats.gemini, 'gemini-3-pro-preview'],
  ])('keeps texts, pictures, calls, results and ids on its way through %s', (_, format, model) => {
    fc.assert(
      fc.property(messagesBody({ own: false }), (body) => {
        expect(said(through(format, model, body))).toEqual(said(body));
      }),
    );
  });

  it.each([
    ['OpenAI chat', formats['openai-chat'], 'gpt-5'],
    ['Gemini', formats.gemini, 'gemini-2.5-flash'],
  ])('keeps its limit, sampling, stop texts and tools on its way through %s', (_, format, model) => {
    fc.assert(
      fc.property(messagesBody({ own: false }), (body) => {
        const back = through(format, model, body);
        for (const field of ['max_tokens', 'temperature', 'top_p', 'stop_sequences'])
          expect([field, back[field]]).toEqual([field, body[field]]);
        const names = ({ tools }: JsonObject) => (tools as readonly JsonObject[] | undefined)?.map(({ name }) => name);
        expect(names(back)).toEqual(names(body));
      }),
    );
  });
});
