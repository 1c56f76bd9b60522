import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asSent } from '../as-sent.testkit.ts';
import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { fold } from '../streams/fold.ts';
import { clientContext, deepFreeze, replyContext, requestTarget, encodeWith, replyWith } from '../contexts.testkit.ts';
import { decodeAll } from '../laws.testkit.ts';
import { openaiChat } from '../openai-chat/index.ts';
import { hasCorpus, recorded } from './corpus.testkit.ts';
import { anthropicMessages as format } from './index.ts';
import { isObject, objectOf, listOf } from '../json/object.ts';

/**
 * A conversation continues: a client gets Claude's answer and sends it back to Claude unchanged. No loss may be
 * reported then, and Claude must read its own blocks.
 */
const lax = clientContext({ strict: false });

interface Round {
  readonly content: readonly JsonObject[];
  readonly losses: readonly string[];
}

const idsOf = (content: readonly JsonObject[]): readonly unknown[] =>
  content.filter((block) => block.type === 'tool_use').map((block) => block.id);

/** The assistant message of Claude's second request. */
function secondRequest(body: JsonObject, decode: typeof format.decodeRequest): Round {
  const conversation = decode(deepFreeze({ model: 'm', max_tokens: 100, ...body }));
  const target = requestTarget({ model: 'claude-sonnet-4-5', strict: false });
  const encoded = encodeWith(format, conversation, target, replyContext());
  const message = objectOf(listOf(asSent(encoded.body).messages)?.[1]);
  return {
    content: (listOf(message?.content) ?? []).filter(isObject),
    losses: encoded.losses.map(({ action, param, reason }) => `${action} ${param}: ${reason}`),
  };
}

function throughOpenai(events: readonly GenerationEvent[], ids: readonly unknown[]): Round {
  const reply = JSON.parse(JSON.stringify(replyWith(openaiChat, events, lax))) as JsonObject;
  const message = objectOf(objectOf(listOf(reply.choices)?.[0])?.message) ?? {};
  const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'ok' }));
  const messages = [{ role: 'user', content: 'hi' }, message, ...results, { role: 'user', content: 'go on' }];
  return secondRequest({ messages }, openaiChat.decodeRequest);
}

function throughMessages(events: readonly GenerationEvent[], ids: readonly unknown[]): Round {
  const reply = JSON.parse(JSON.stringify(replyWith(format, events, lax))) as JsonObject;
  const results = ids.map((tool_use_id) => ({ type: 'tool_result', tool_use_id, content: 'ok' }));
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: reply.content },
    { role: 'user', content: [...results, { type: 'text', text: 'go on' }] },
  ];
  return secondRequest({ messages }, format.decodeRequest);
}

/**
 * The content of a reply that is sent back: no blank text (docs/protocols/anthropic-messages.md#content-blocks), and no field that has
 * its default (docs/protocols/anthropic-messages.md#reply).
 */
function sendable(content: readonly JsonObject[]): JsonObject[] {
  return content
    .filter((block) => block.type !== 'text' || String(block.text).trim() !== '')
    .map((block) => {
      const { citations, caller, ...others } = block;
      const cited = (listOf(citations) ?? []).length > 0;
      const direct = block.type === 'tool_use' && objectOf(caller)?.type === 'direct';
      return { ...others, ...(cited && { citations }), ...(caller !== undefined && !direct && { caller }) };
    });
}

/**
 * OpenAI's API places the calls after the text, and has no field for the caller of a tool (an OpenAI client cannot
 * request another).
 */
function saidByOpenai(content: readonly JsonObject[]): JsonObject[] {
  const blocks = content.map((block) => {
    const { caller: _, ...others } = block;
    return block.type === 'tool_use' ? others : block;
  });
  const isCall = (block: JsonObject): boolean => block.type === 'tool_use';
  return [...blocks.filter((block) => !isCall(block)), ...blocks.filter(isCall)];
}

function expectUnchanged(content: readonly JsonObject[], stop_reason = 'end_turn'): void {
  const events = deepFreeze(
    format.decodeReply({ id: 'm', model: 'x', content, stop_reason, usage: {} }, replyContext()),
  );
  const streamed = decodeAll(format.decodeStream(replyContext()), [Buffer.from(format.encodeStream(lax).push(events))]);
  expect(fold(streamed).choices).toEqual(fold(events).choices);
  const ids = idsOf(content);
  expect(throughMessages(events, ids)).toEqual({ content: sendable(content), losses: [] });
  expect(throughOpenai(events, ids)).toEqual({ content: saidByOpenai(sendable(content)), losses: [] });
}

const web = {
  type: 'web_search_result_location',
  url: 'https://a.example/',
  title: 'A',
  cited_text: 'rain',
  encrypted_index: 'e',
};

describe('content of Claude goes back to Claude unchanged and without a loss', () => {
  it.each<[string, JsonObject[], string?]>([
    [
      'thinking, empty but signed thinking, redacted thinking and calls',
      [
        { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
        { type: 'thinking', thinking: '', signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'abc' },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: [1] } },
        { type: 'tool_use', id: 'toolu_2', name: 'f', input: {} },
      ],
      'tool_use',
    ],
    [
      'a web search with its citations, in several texts',
      [
        { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'rain' } },
        { type: 'web_search_tool_result', tool_use_id: 's', content: [{ type: 'web_search_result', url: 'u' }] },
        { type: 'text', text: 'It is said that ' },
        { type: 'text', text: 'it rains', citations: [web] },
        { type: 'text', text: '.', citations: [] },
      ],
    ],
    [
      'citations of a document, which are no web addresses',
      [{ type: 'text', text: 'Yes.', citations: [{ type: 'char_location', cited_text: 'y', document_index: 0 }] }],
    ],
    [
      'a blank text between blocks',
      [
        { type: 'text', text: '\n\n' },
        { type: 'text', text: 'Yes.' },
      ],
    ],
    ['a turn that pauses', [{ type: 'server_tool_use', id: 's', name: 'web_fetch', input: {} }], 'pause_turn'],
    [
      'a turn a fallback model answered',
      [
        { type: 'fallback', from: {}, to: {} },
        { type: 'text', text: 'Yes.' },
      ],
    ],
    [
      'a block of tomorrow',
      [
        { type: 'tomorrow', deep: [{ x: null }] },
        { type: 'text', text: 'Yes.' },
      ],
    ],
  ])('%s', (_, content, stop) => {
    expectUnchanged(content, stop);
  });

  it('any blocks, with further fields or without', () => {
    const word = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
    const citation = fc.constantFrom<JsonObject>(web, { type: 'char_location', cited_text: 'y' });
    const text = fc
      .record<JsonObject>(
        { type: fc.constant('text'), text: word, citations: fc.array(citation, { maxLength: 2 }) },
        { requiredKeys: ['type', 'text'] },
      )
      // Claude refuses a blank text, so its citations are a loss.
      .filter((block) => String(block.text).trim() !== '' || !('citations' in block));
    const opaque = fc.constantFrom<JsonObject>(
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {}, caller: { type: 'direct' } },
      { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
    );
    const thinking = fc.record<JsonObject>({
      type: fc.constant('thinking'),
      thinking: fc.oneof(word, fc.constant('')),
      signature: fc.base64String({ minLength: 4 }),
    });
    const redacted = fc.record<JsonObject>({ type: fc.constant('redacted_thinking'), data: word });
    const caller = fc.constantFrom({ type: 'direct' }, { type: 'code_execution_20260120', tool_id: 's' });
    const call = fc.record<JsonObject>(
      { type: fc.constant('tool_use'), name: fc.constant('f'), input: fc.dictionary(word, word), caller },
      { requiredKeys: ['type', 'name', 'input'] },
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(thinking, redacted), { maxLength: 2 }),
        fc.array(fc.oneof(text, opaque), { maxLength: 5 }),
        fc.array(call, { maxLength: 3 }),
        (thoughts, spoken, calls) => {
          const named = calls.map((block, at) => ({ ...block, id: `toolu_${at}` }));
          expectUnchanged([...thoughts, ...spoken, ...named]);
        },
      ),
    );
  });

  it('a refusal, whose explanation the client may send as text', () => {
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'No.' };
    const events = format.decodeReply(
      { id: 'm', model: 'x', content: [], stop_reason: 'refusal', stop_details, usage: {} },
      replyContext(),
    );
    expect(throughOpenai(events, [])).toEqual({ content: [{ type: 'text', text: 'No.' }], losses: [] });
  });

  it('the call of a free-text tool, and the schema answer that came as a tool call', () => {
    const custom = replyContext({ customTools: new Set(['sql']) });
    const call = { type: 'tool_use', id: 'toolu_1', name: 'sql', input: { input: 'SELECT 1' } };
    const called = format.decodeReply({ content: [call], stop_reason: 'tool_use' }, custom);
    expect(throughOpenai(called, ['toolu_1'])).toEqual({ content: [call], losses: [] });
    const answer = { type: 'tool_use', id: 'toolu_2', name: 'json', input: { n: 1 } };
    const answered = format.decodeReply(
      { content: [answer], stop_reason: 'tool_use' },
      replyContext({ jsonTool: 'json' }),
    );
    expect(throughOpenai(answered, [])).toEqual({ content: [{ type: 'text', text: '{"n":1}' }], losses: [] });
  });
});

describe('a client of the OpenAI API', () => {
  const events = format.decodeReply(
    {
      content: [
        { type: 'text', text: 'It rains', citations: [web] },
        { type: 'tool_use', id: 't', name: 'f', input: {}, caller: { type: 'code_execution_20260120', tool_id: 's' } },
      ],
      stop_reason: 'tool_use',
    },
    replyContext(),
  );

  it('gets the block as Claude wrote it when it is not strict, and no other block', () => {
    const { choices } = replyWith(openaiChat, events, lax);
    expect(choices).toMatchObject([
      { message: { content: 'It rains', content_blocks: [{ type: 'text', text: 'It rains', citations: [web] }] } },
    ]);
    expect(JSON.stringify(choices)).not.toContain('code_execution_20260120');
  });

  it('gets the fields of a streamed block under the number of that block, and can read them back', () => {
    const wire = openaiChat.encodeStream(lax).push(events);
    expect(wire).toContain(
      `"content_blocks":[{"index":0,"delta":{"text":"It rains"}},{"index":0,"delta":{"citations":[`,
    );
    const again = decodeAll(openaiChat.decodeStream(replyContext()), [Buffer.from(wire)]);
    expect(fold(again).choices[0]?.parts.slice(0, 2)).toEqual(fold(events).choices[0]?.parts.slice(0, 2));
  });

  it('gets none of it when it is strict, in a stream and in a plain reply', () => {
    const strict = clientContext();
    for (const text of [
      openaiChat.encodeStream(strict).push(events),
      JSON.stringify(replyWith(openaiChat, events, strict)),
    ]) {
      expect(text).not.toMatch(/content_blocks|citations|encrypted_index|caller/);
      expect(text).toContain('"url_citation":{"start_index":0,"end_index":8');
    }
  });
});

describe.skipIf(!hasCorpus)('recorded replies', () => {
  const replies = recorded('anthropic', 'vertex-anthropic').flatMap(({ id, response_body: body, response_status }) =>
    response_status === 200 && isObject(body) && Array.isArray(body.content) && body.content.every(isObject)
      ? [{ id, content: body.content }]
      : [],
  );

  it('go back to Claude unchanged and without a loss, through clients of both APIs', () => {
    for (const { id, content } of replies) {
      const events = format.decodeReply({ content, stop_reason: 'end_turn' }, replyContext());
      const ids = idsOf(content);
      const sent = { id, content: sendable(content), losses: [] };
      expect({ id, ...throughMessages(events, ids) }).toEqual(sent);
      expect({ id, ...throughOpenai(events, ids) }).toEqual({ ...sent, content: saidByOpenai(sent.content) });
    }
    expect(replies.length).toBeGreaterThan(250);
  });
});
