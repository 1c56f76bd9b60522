import { describe, expect, it } from 'vitest';
import type { RequestTarget } from '../request-target.ts';
import { clean } from './clean.ts';
import { encodeReply } from './encode-reply.ts';

const server: RequestTarget = { model: 'm', host: 'direct', strict: true };

const view = (body: Record<string, unknown>) => ({
  has: (key: string) => key in body,
  value: (key: string) => body[key],
  contains: (text: string) => JSON.stringify(body).includes(text),
  mayMatch: (pattern: RegExp) => pattern.test(JSON.stringify(body)),
});

const cleaned = (message: object, target: Partial<RequestTarget> = {}) =>
  clean(view({ model: 'm', messages: [{ role: 'user', content: 'q' }, message] }), { ...server, ...target });

/** A message as the gateway itself writes it for a strict client. */
const context = { id: 'id', created: 1, strict: true, includeUsage: true, model: 'm' };
const [choice] = encodeReply([{ type: 'text', choice: 0, block: 0, text: 'hi' }, { type: 'end' }], context)
  .choices as readonly { message: Record<string, unknown> }[];
const ours = choice!.message;

describe('a message of the gateway that a chat client sends back', () => {
  it('has empty fields', () => {
    expect(ours).toEqual({ role: 'assistant', content: 'hi', refusal: null, annotations: [] });
  });

  it.each([
    ['a compatible server', {}],
    ['a server without extensions', { extensions: new Set<string>() }],
    ['an open model on Vertex AI', { host: 'vertex' as const, extensions: new Set(['top_k']) }],
  ])('goes to %s without them, and nothing is reported', (_name, target) => {
    expect(cleaned(ours, target)).toEqual({
      edits: [
        {
          path: ['messages'],
          value: [
            { role: 'user', content: 'q' },
            { role: 'assistant', content: 'hi' },
          ],
          source: 'gateway',
        },
      ],
      losses: [],
    });
  });

  it('goes to OpenAI and Azure as it came', () => {
    expect(cleaned(ours, { customTools: true, extensions: new Set<string>() })).toBeUndefined();
  });

  it.each([
    ['a refusal', { role: 'assistant', content: null, refusal: 'no', annotations: [] }, { refusal: 'no' }],
    [
      'citations',
      { role: 'assistant', content: 'x', refusal: null, annotations: [{ type: 'url_citation' }] },
      { annotations: [{ type: 'url_citation' }] },
    ],
  ])('keeps %s', (_name, message, kept) => {
    const [, sent] = cleaned(message)!.edits[0]!.value as readonly object[];
    expect(sent).toEqual({ role: 'assistant', content: message.content, ...kept });
  });

  it('is cleaned in one edit with the extensions that the server lacks', () => {
    const { edits, losses } = cleaned(
      { ...ours, reasoning_content: 'why' },
      { extensions: new Set(['content_blocks', 'content_parts']) },
    )!;
    expect(edits).toHaveLength(1);
    expect(edits[0]!.value).toContainEqual({ role: 'assistant', content: 'hi' });
    expect(losses.map(({ param }) => param)).toEqual(['messages[1].reasoning_content']);
  });

  it.each([
    ['a text with the names', { role: 'user', content: '"refusal": null, "annotations": []' }],
    ['another role', { role: 'user', content: 'x', refusal: null }],
  ])('leaves %s alone', (_name, message) => {
    expect(cleaned(message)).toBeUndefined();
  });
});
