import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import { writeEnvelope } from '../envelope.ts';
import type { GenerationEvent } from '../events.ts';
import type { SearchableBody } from '../body-view.ts';
import { clientContext, deepFreeze, requestTarget, replyWith } from '../contexts.testkit.ts';
import { anthropicMessages as format } from './index.ts';
import { listOf } from '../json/object.ts';

function searchable(json: JsonObject, indent?: string): SearchableBody {
  const text = JSON.stringify(json).replaceAll('":', indent === undefined ? '":' : `":${indent}`);
  return {
    has: (key) => key in json,
    value: (key) => json[key],
    contains: (part) => text.includes(part),
    mayMatch: (pattern) => pattern.test(text),
  };
}

const UNREADABLE = 'a signature that the gateway cannot read';

const hi = { role: 'user', content: 'hi' };
const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
const result = (id: string) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }] });
const thought = (signature: string) => ({ type: 'thinking', thinking: 'hm', signature });
const said = (...content: JsonObject[]) => ({ role: 'assistant', content });

const cleaned = (messages: readonly JsonObject[], more: JsonObject = {}) =>
  format.passThrough.clean(searchable(deepFreeze({ messages, ...more })), requestTarget());

describe('a body that is passed through to Claude', () => {
  it('has the registered type of a picture, in a message and in a result', () => {
    const picture = (media_type: string) => ({ type: 'image', source: { type: 'base64', media_type, data: 'AA==' } });
    const turns = (type: string) => [
      { role: 'user', content: [picture(type)] },
      said(use('toolu_1')),
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [picture(type)] }] },
    ];
    expect(cleaned(turns('image/jpg'))).toMatchObject({ edits: [{ value: turns('image/jpeg') }], losses: [] });
  });

  it.each<[string, JsonObject[]]>([
    ['words alone', [hi]],
    ['thoughts of Claude', [hi, said(thought('c2ln'), { type: 'redacted_thinking', data: 'x' }), hi]],
    ['its calls', [hi, said(use('toolu_1')), result('toolu_1')]],
    ['the marks as words', [{ role: 'user', content: 'What is "signature":"" and __thought__ and "gh1." about?' }]],
  ])('stays unchanged with %s', (_, messages) => {
    expect(cleaned(messages)).toBeUndefined();
  });

  it.each([
    ['', 'the thinking of another provider'],
    [writeEnvelope({ kind: 'thinking', maker: 'gemini', signature: 'c2ln' }), 'the thinking of another provider'],
    [
      writeEnvelope({ kind: 'signature', maker: 'gemini', of: 'text', signature: 'c2ln' }),
      'the signature of another provider',
    ],
    ['gh1.openai-1f.t.eyJzaWduYXR1cmUiOiJ4In0', 'the thinking of another provider'],
    ['gh1.claude.t.bm90IGpzb24', UNREADABLE],
    ['gh1.claude.r.eyJkYXRhIjoieCJ9', UNREADABLE],
    ['gh1.', UNREADABLE],
    ['foreign.thought.abc', UNREADABLE],
  ])('loses thoughts signed "%s", which is reported', (signature, reason) => {
    expect(cleaned([hi, said(thought(signature), { type: 'text', text: 'a' }), hi])).toEqual({
      edits: [{ path: ['messages'], value: [hi, said({ type: 'text', text: 'a' }), hi], source: 'gateway' }],
      losses: [{ param: 'messages[1].content[0]', action: 'dropped', reason }],
    });
  });

  it('gets thoughts of Claude out of their envelopes', () => {
    const signature = writeEnvelope({ kind: 'thinking', maker: 'claude', signature: 'c2ln', text: 'hm' });
    const data = writeEnvelope({ kind: 'redacted', maker: 'claude', data: 'x' });
    const enveloped = said({ ...thought(signature), thinking: '' }, { type: 'redacted_thinking', data });
    expect(cleaned([hi, enveloped, hi])).toEqual({
      edits: [
        {
          path: ['messages'],
          value: [hi, said(thought('c2ln'), { type: 'redacted_thinking', data: 'x' }), hi],
          source: 'gateway',
        },
      ],
      losses: [],
    });
  });

  it('loses redacted thoughts of other makers', () => {
    const data = writeEnvelope({ kind: 'redacted', maker: 'other', data: 'x' });
    expect(cleaned([hi, said({ type: 'redacted_thinking', data }), hi])?.edits[0]?.value).toEqual([hi, hi]);
  });

  it.each([
    ['in an envelope', writeEnvelope({ kind: 'signature', maker: 'gemini', of: 'picture', signature: 'c2ln' })],
    ['unreadably', 'foreign.text.abc'],
  ])('loses images that another provider generated and signed %s, and keeps the user’s', (_, signature) => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } };
    const shown = { role: 'user', content: [image] };
    const drawn = said({ type: 'text', text: 'Here.' }, image, { ...thought(signature), thinking: '' });
    const { edits, losses } = cleaned([shown, drawn, hi])!;
    expect(edits[0]!.value).toEqual([shown, said({ type: 'text', text: 'Here.' }), hi]);
    expect(losses.map(({ param }) => param)).toEqual(['messages[1].content[1]', 'messages[1].content[2]']);
  });

  it('is also recognised as Python writes it', () => {
    const body = { messages: [hi, said(thought(''), { type: 'text', text: 'a' })] };
    expect(format.passThrough.clean(searchable(body, ' '), requestTarget())?.edits).toHaveLength(1);
  });

  it('gets plain ids in calls and results, and the signatures in them are reported', () => {
    const id = 'call_1__thought__abc';
    expect(cleaned([hi, said(use(id)), result(id)])).toEqual({
      edits: [{ path: ['messages'], value: [hi, said(use('call_1')), result('call_1')], source: 'gateway' }],
      losses: [{ param: 'messages[1].content[0].id', action: 'dropped', reason: 'the signature of another provider' }],
    });
  });

  it('has no message that became empty', () => {
    expect(cleaned([hi, said(thought('')), hi])?.edits[0]?.value).toEqual([hi, hi]);
  });

  it('loses manual thinking when its tool loop began at another provider, and no other thinking', () => {
    const loop = [hi, said(thought(''), use('call_1')), result('call_1')];
    const paths = (more: JsonObject) => cleaned(loop, more)?.edits.map(({ path }) => path.join('.'));
    expect(paths({ thinking: { type: 'enabled', budget_tokens: 1024 } })).toEqual(['messages', 'thinking']);
    expect(paths({ thinking: { type: 'adaptive' } })).toEqual(['messages']);
    expect(paths({})).toEqual(['messages']);
  });

  it('holds no block of another provider afterwards, whatever this gateway had written', () => {
    const google = 'EqoBCkgIARABGAI=';
    const place = { choice: 0 } as const;
    const piece = fc.constantFrom<(block: number) => GenerationEvent[]>(
      (block) => [{ type: 'text', ...place, block, text: 'a' }],
      (block) => [
        { type: 'text', ...place, block, text: 'b' },
        { type: 'signature', ...place, block, signature: google },
      ],
      (block) => [{ type: 'thinking', ...place, block, text: 'c' }],
      (block) => [
        { type: 'thinking', ...place, block, text: 'd' },
        { type: 'signature', ...place, block, signature: google, maker: 'gemini' },
      ],
      (block) => [
        { type: 'tool_call', ...place, block, call: block, id: `call_${block}`, name: 'f', signature: google },
        { type: 'tool_arguments', ...place, call: block, text: '{}' },
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), (pieces) => {
        const events: GenerationEvent[] = [
          { type: 'start' },
          ...pieces.flatMap((make, block) => make(block)),
          // The signature of a last text is not written.
          { type: 'text', ...place, block: pieces.length, text: 'a' },
          { type: 'finish', choice: 0, reason: 'stop' },
          { type: 'end' },
        ];
        const { content } = replyWith(format, events, clientContext({ strict: false }));
        const messages = [hi, { role: 'assistant', content }, hi];
        const left = listOf(cleaned(messages)?.edits[0]?.value) ?? messages;
        expect(JSON.stringify(left)).not.toMatch(/gh1\.|__thought__|"signature":""/);
        // No block of Claude's is removed.
        const words = JSON.stringify(left).match(/"text":"[ab]"|"type":"tool_use"/g)?.length ?? 0;
        expect(words).toBe(JSON.stringify(content).match(/"text":"[ab]"|"type":"tool_use"/g)?.length ?? 0);

        // Sent back to its maker, every text and call has its original signature.
        const { turns } = format.decodeRequest({ model: 'm', max_tokens: 1, messages });
        const signed = turns[1]!.parts.flatMap((part) =>
          'signature' in part && part.signature ? [part.signature] : [],
        );
        expect(signed).toEqual(
          events.flatMap((event) => ('signature' in event && event.signature ? [event.signature] : [])),
        );
      }),
    );
  });
});
