import { describe, expect, it } from 'vitest';
import { heldReply, replyForm } from './reply.ts';
import type { Reply } from '../../plugin/reply.ts';

describe('the form of a reply', () => {
  it.each([
    ['application/json', false, 'json'],
    ['application/json; charset=UTF-8', true, 'json-array'],
    ['Application/Problem+JSON ;charset=utf-8', false, 'json'],
    ['text/event-stream; charset=utf-8', true, 'sse'],
    ['TEXT/EVENT-STREAM', false, 'sse'],
    ['audio/mpeg', true, 'bytes'],
    ['text/plain', false, 'bytes'],
    ['application/jsonl', false, 'bytes'],
    ['text/plain; note=/json', false, 'bytes'],
    ['', false, 'bytes'],
  ])('of the content type %j, stream %s, is %s', (type, stream, form) => {
    expect(replyForm({ headers: { 'content-type': type }, stream })).toBe(form);
  });

  const reply = { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.alloc(0), stream: false };

  it('is filled in at the reply of a plugin, and kept where the plugin has named it', () => {
    const own: Reply = { ...reply };
    expect([heldReply(own), own.form]).toEqual([own, 'json']);
    expect(heldReply({ ...reply, form: 'bytes' }).form).toBe('bytes');
  });

  it('makes no fault of a reply without headers or of a frozen one', () => {
    const { headers: _, ...bare } = reply;
    // As a plugin in JavaScript may make it; the chain reports it.
    expect(heldReply(bare as Reply).form).toBe('bytes');
    expect(() => heldReply(Object.freeze({ ...reply }))).not.toThrow();
  });
});
