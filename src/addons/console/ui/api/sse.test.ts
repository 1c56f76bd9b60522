import { describe, expect, it } from 'vitest';
import { parseEvent, readEvents } from './sse.ts';

const TEXT = 'event: line\nid: 7\ndata: {"a":1}\n\n: still here\n\nevent: gap\ndata: {"missed":3}\n\n';

function bodyOf(pieces: readonly string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece));
      controller.close();
    },
  });
}

async function eventsOf(pieces: readonly string[]) {
  const found = [];
  for await (const event of readEvents(bodyOf(pieces))) found.push(event);
  return found;
}

describe('the events of a stream', () => {
  it('are the same, however the bytes arrive', async () => {
    const whole = await eventsOf([TEXT]);
    expect(whole).toEqual([
      { event: 'line', id: '7', data: '{"a":1}' },
      { event: '', data: '' },
      { event: 'gap', data: '{"missed":3}' },
    ]);
    expect(await eventsOf([...TEXT])).toEqual(whole);
  });

  it('may have several lines of data', () =>
    expect(parseEvent('data: one\ndata: two')).toEqual({ event: 'message', data: 'one\ntwo' }));
});
