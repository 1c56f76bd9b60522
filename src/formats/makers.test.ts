import * as fc from 'fast-check';
import { writeEnvelope } from './envelope.ts';
import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject, Loss } from './conversation.ts';
import type { GenerationEvent } from './events.ts';
import type { Format } from './format.ts';
import type { SearchableBody } from './body-view.ts';
import { formats } from './index.ts';
import { listOf, parseJson, isObject } from './json/object.ts';
import { clientContext, replyContext, requestTarget, replyWith } from './contexts.testkit.ts';
import type { Maker } from './maker.ts';
import { finish } from './steps.ts';
import { translateRequest } from './translate.ts';

/**
 * A signature goes back to its maker and to no other (docs/protocols/replies.md#foreign-signatures): the reply of a
 * maker → what each client keeps of it → the request to each target.
 */

/** The models of each maker, and their format. */
const TARGETS: readonly (readonly [Maker | 'none', FormatName, string])[] = [
  ['claude', 'anthropic-messages', 'claude-sonnet-4-5'],
  ['gemini', 'gemini', 'gemini-2.5-pro'],
  ['none', 'openai-chat', 'gpt-5'],
];
const CLIENTS = ['openai-chat', 'openai-chat, streamed', 'anthropic-messages', 'gemini'] as const;
type Client = (typeof CLIENTS)[number];

const formatOf = (client: Client): Format => formats[client === 'openai-chat, streamed' ? 'openai-chat' : client];

/** Base64, as all real signatures. */
const signatureBy = (maker: Maker, number = 0): string => Buffer.from(`${maker} made ${number}`).toString('base64');

const AT = { choice: 0 } as const;
const END: readonly GenerationEvent[] = [{ type: 'finish', choice: 0, reason: 'stop' }, { type: 'end' }];

/** The message that a client keeps. */
function kept(client: Client, events: readonly GenerationEvent[]): JsonObject {
  const format = formatOf(client);
  const context = clientContext({ strict: false });
  if (client === 'anthropic-messages')
    return { role: 'assistant', content: replyWith(format, events, context)['content'] };
  if (client === 'gemini') return firstOf(replyWith(format, events, context), 'candidates', 'content');
  if (client === 'openai-chat') return firstOf(replyWith(format, events, context), 'choices', 'message');
  const text = format.encodeStream(context).push(events);
  const deltas = [...text.matchAll(/^data: (\{.*\})$/gm)].flatMap(([, data]) => {
    const chunk = parseJson(data!);
    return isObject(chunk) ? (listOf(chunk['choices']) ?? []).filter(isObject).map(({ delta }) => delta) : [];
  });
  const all = (field: string) => deltas.filter(isObject).flatMap((delta) => listOf(delta[field]) ?? []);
  const calls = all('tool_calls').filter((call) => isObject(call) && call['id'] !== undefined);
  return {
    role: 'assistant',
    content: 'x',
    content_blocks: all('content_blocks'),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function firstOf(body: JsonObject, list: string, field: string): JsonObject {
  const [first] = listOf(JSON.parse(JSON.stringify(body[list]))) ?? [];
  const value = isObject(first) ? first[field] : undefined;
  if (!isObject(value)) throw new Error(`no ${field}`);
  return value;
}

/** The message in a conversation, with the results of its calls. */
function bodyOf(client: Client, message: JsonObject): JsonObject {
  if (client === 'gemini') {
    const answer = { role: 'user', parts: [{ text: 'go on' }] };
    return { contents: [answer, message, answer], generationConfig: { maxOutputTokens: 100 } };
  }
  const ask = { role: 'user', content: 'go on' };
  const head = { model: 'm', max_tokens: 100 };
  if (client === 'anthropic-messages') return { ...head, messages: [ask, message, ask] };
  const results = (listOf(message['tool_calls']) ?? [])
    .filter(isObject)
    .map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'ok' }));
  return { ...head, messages: [ask, message, ...results, ask] };
}

const searchable = (body: JsonObject): SearchableBody => ({
  has: (key) => key in body,
  value: (key) => body[key],
  contains: (text) => JSON.stringify(body).includes(text),
  mayMatch: (pattern) => pattern.test(JSON.stringify(body)),
});

interface Sent {
  readonly wire: string;
  readonly losses: readonly Loss[];
}

function sent(client: Client, body: JsonObject, format: FormatName, model: string): Sent {
  const target = requestTarget({ model, strict: false });
  const [own, upstream] = [formatOf(client), formats[format]];
  if (own.name !== format) {
    const { body: wire, losses } = finish(
      translateRequest(body, { client: own, upstream, target, reply: replyContext() }),
    );
    return { wire: JSON.stringify(wire), losses };
  }
  const cleaning = upstream.passThrough?.clean(searchable(body), target);
  const edits = Object.fromEntries((cleaning?.edits ?? []).map(({ path, value }) => [path[0], value]));
  return { wire: JSON.stringify({ ...body, ...edits }), losses: cleaning?.losses ?? [] };
}

/** The signed parts of each maker's answers. */
const ANSWERS: Readonly<Record<'claude' | 'gemini', readonly GenerationEvent[]>> = {
  claude: [
    { type: 'thinking', ...AT, block: 0, text: 'Hm' },
    { type: 'signature', ...AT, block: 0, signature: signatureBy('claude', 1) },
    { type: 'redacted_thinking', ...AT, block: 1, data: signatureBy('claude', 2) },
    { type: 'text', ...AT, block: 2, text: 'x' },
  ],
  gemini: [
    { type: 'thinking', ...AT, block: 0, text: 'Hm' },
    { type: 'signature', ...AT, block: 0, signature: signatureBy('gemini', 1), maker: 'gemini' },
    { type: 'text', ...AT, block: 1, text: 'x' },
    { type: 'signature', ...AT, block: 1, signature: signatureBy('gemini', 2) },
    { type: 'tool_call', ...AT, block: 2, call: 0, id: 'c', name: 'f', signature: signatureBy('gemini', 3) },
    { type: 'tool_arguments', ...AT, call: 0, text: '{}' },
  ],
};

/** Signatures that a client’s API has no place for. */
const WITHOUT_PLACE: Readonly<Partial<Record<Client, readonly string[]>>> = { gemini: [signatureBy('claude', 2)] };

/** Pairs whose body is passed through and has no envelopes. */
const isUnread = (client: Client, format: FormatName): boolean =>
  formatOf(client).name === format && format !== 'anthropic-messages';

const PAIRS = CLIENTS.flatMap((client) =>
  (['claude', 'gemini'] as const).flatMap((maker) =>
    TARGETS.filter(([, format]) => !isUnread(client, format)).map(
      ([target, format, model]) => [client, maker, target, format, model] as const,
    ),
  ),
);

describe('a signature in the conversation of a client', () => {
  it.each(PAIRS)('of %s, made by %s, for a target of %s', (client, maker, target, format, model) => {
    const events = [{ type: 'start' } as const, ...ANSWERS[maker], ...END];
    const body = bodyOf(client, kept(client, events));
    const { wire, losses } = sent(client, body, format, model);
    const signatures = ANSWERS[maker].flatMap((event) =>
      event.type === 'redacted_thinking' ? event.data : 'signature' in event ? (event.signature ?? []) : [],
    );
    const left = signatures.filter((signature) => !WITHOUT_PLACE[client]?.includes(signature));
    const own = maker === target;
    expect(left.filter((signature) => wire.includes(signature))).toEqual(own ? left : []);
    expect(wire).not.toMatch(/gh1\.|__thought__/);
    expect(losses.filter(({ action }) => action === 'dropped').length > 0).toBe(!own);
  });

  it.each([
    ['thinking', (envelope: string) => ({ type: 'thinking', thinking: 'Hm', signature: envelope })],
    ['redacted thinking', (envelope: string) => ({ type: 'redacted_thinking', data: envelope })],
  ])('never reaches Claude in an envelope of the Messages API that a chat client sends as %s', (_, blockOf) => {
    const envelope = writeEnvelope({ kind: 'thinking', maker: 'gemini', signature: 'X' });
    const messages = [
      { role: 'user', content: 'go on' },
      { role: 'assistant', content: 'x', content_blocks: [blockOf(envelope), { type: 'text', text: 'x' }] },
      { role: 'user', content: 'go on' },
    ];
    const body = { model: 'm', max_tokens: 100, messages };
    const { wire, losses } = sent('openai-chat', body, 'anthropic-messages', 'claude-sonnet-4-5');
    expect(wire).not.toContain('gh1.');
    expect(losses.map(({ param }) => param)).toEqual(['messages[1].content_blocks[0]']);
  });

  it('never reaches another maker, whatever its part and its tag', () => {
    const maker = fc.constantFrom<Maker>('claude', 'gemini', 'other');
    const piece = fc.constantFrom<(block: number, by: Maker) => GenerationEvent[]>(
      (block, by) => [
        { type: 'thinking', ...AT, block, text: 'Hm' },
        { type: 'signature', ...AT, block, signature: signatureBy(by, block), maker: by },
      ],
      (block, by) => [
        { type: 'text', ...AT, block, text: 'x' },
        { type: 'signature', ...AT, block, signature: signatureBy(by, block), maker: by },
      ],
      (block, by) => [{ type: 'redacted_thinking', ...AT, block, data: signatureBy(by, block), maker: by }],
      (block, by) => [
        { type: 'media', ...AT, block, mime: 'image/png', data: 'AAAA', signature: signatureBy(by, block), maker: by },
      ],
      (block, by) => [
        { type: 'code', ...AT, block, language: 'PYTHON', code: '1', signature: signatureBy(by, block), maker: by },
      ],
      (block, by) => [
        {
          type: 'tool_call',
          ...AT,
          block,
          call: block,
          id: `c${block}`,
          name: 'f',
          signature: signatureBy(by, block),
          maker: by,
        },
        { type: 'tool_arguments', ...AT, call: block, text: '{}' },
      ],
    );
    const pieces = fc.array(fc.tuple(piece, maker), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(pieces, fc.constantFrom(...CLIENTS), fc.constantFrom(...TARGETS), (made, client, [target, ...to]) => {
        if (isUnread(client, to[0])) return;
        const events: GenerationEvent[] = [
          { type: 'start' },
          ...made.flatMap(([make, by], block) => make(block, by)),
          { type: 'text', ...AT, block: 9, text: 'x' },
          ...END,
        ];
        const { wire } = sent(client, bodyOf(client, kept(client, events)), ...to);
        for (const [block, [, by]] of made.entries()) {
          if (by === target) continue;
          const signature = signatureBy(by, block);
          for (const form of [signature, signature.replaceAll('=', ''), Buffer.from(signature).toString('base64url')])
            expect(wire).not.toContain(form);
        }
        expect(wire).not.toMatch(/gh1\.|Z2gxL|__thought__/);
      }),
    );
  });
});
