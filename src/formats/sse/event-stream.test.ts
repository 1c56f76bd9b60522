import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_EVENT_BYTES } from './held-bytes.ts';
import { eventEnds, readSse, SseCutter, type SseEvent } from './event-stream.ts';

/** Cuts `bytes` at the given lengths and reads the complete events. */
function readInPieces(bytes: Buffer, lengths: readonly number[]): { events: SseEvent[]; rest: string } {
  const cutter = new SseCutter();
  const events: SseEvent[] = [];
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const length = Math.max(1, lengths[turn % lengths.length] ?? 1);
    const whole = cutter.push(bytes.subarray(at, at + length));
    if (whole) events.push(...readSse(whole));
    at += length;
  }
  return { events, rest: cutter.rest().toString() };
}

describe('server-sent events', () => {
  it.each([
    ['one event', 'data: a\n\n', [{ event: undefined, data: 'a' }]],
    [
      'CRLF, as Google sends',
      'data: a\r\n\r\ndata: b\r\n\r\n',
      [
        { event: undefined, data: 'a' },
        { event: undefined, data: 'b' },
      ],
    ],
    [
      'CR alone, which ends a line too',
      'event: x\rdata: a\r\rdata: b\r\r',
      [
        { event: 'x', data: 'a' },
        { event: undefined, data: 'b' },
      ],
    ],
    [
      'all three line ends in one stream',
      'data: a\r\ndata: b\r\r\ndata: c\n\rdata: d\n\n',
      [
        { event: undefined, data: 'a\nb' },
        { event: undefined, data: 'c' },
        { event: undefined, data: 'd' },
      ],
    ],
    ['named events', 'event: ping\ndata: {}\n\n', [{ event: 'ping', data: '{}' }]],
    ['several data lines, joined', 'data: a\ndata: b\n\n', [{ event: undefined, data: 'a\nb' }]],
    ['comments and blank runs', ': hello\n\n\n\ndata: a\n\n', [{ event: undefined, data: 'a' }]],
    ['no space after the colon', 'data:a\n\n', [{ event: undefined, data: 'a' }]],
    ['only the first space taken', 'data:  a\n\n', [{ event: undefined, data: ' a' }]],
    ['a byte order mark', '\ufeffdata: a\n\n', [{ event: undefined, data: 'a' }]],
    ['an empty data line', 'data:\n\n', [{ event: undefined, data: '' }]],
    ['an unknown field', 'id: 7\nretry: 3\ndata: a\n\n', [{ event: undefined, data: 'a' }]],
  ])('are read with %s', (_, text, expected) => {
    expect(readSse(Buffer.from(text))).toEqual(expected);
  });

  it('are the same however the bytes are split', () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, ''));
    const event = fc.record({
      name: fc.option(fc.constantFrom('ping', 'delta')),
      data: fc.array(line, { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(
        fc.array(event),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (list, eol, lengths) => {
          const text = list
            .map(({ name, data }) =>
              [...(name ? [`event: ${name}`] : []), ...data.map((part) => `data: ${part}`), '', ''].join(eol),
            )
            .join('');
          const { events, rest } = readInPieces(Buffer.from(text), lengths);
          expect(events).toEqual(list.map(({ name, data }) => ({ event: name ?? undefined, data: data.join('\n') })));
          expect(rest).toBe('');
        },
      ),
    );
  });

  it('are emitted at once when a read ends with the blank line of a CR-only stream', () => {
    const cutter = new SseCutter();
    expect(cutter.push(Buffer.from('data: a\r\r'))?.toString()).toBe('data: a\r\r');
    expect(cutter.push(Buffer.from('data: b\r'))).toBeUndefined();
    expect(cutter.push(Buffer.from('\r'))?.toString()).toBe('data: b\r\r');
  });

  it('are not cut between the CR and the LF of a blank line', () => {
    const cutter = new SseCutter();
    expect(cutter.push(Buffer.from('data: a\r\n\r'))).toBeUndefined();
    expect(cutter.push(Buffer.from('\ndata: b'))?.toString()).toBe('data: a\r\n\r\n');
  });

  it.each(['\n', '\r\n', '\r'])('are found one by one in complete bytes with the line end %j', (eol) => {
    const events = [': c', 'data: a', 'event: x'].map((line) => `${line}${eol}${eol}`);
    const ends = [...eventEnds(Buffer.from(events.join('')))];
    expect(ends).toEqual(events.map((_, at) => events.slice(0, at + 1).join('').length));
  });

  it('hold back the start of an incomplete event', () => {
    expect(readInPieces(Buffer.from('data: a\n\ndata: b\n'), [4])).toEqual({
      events: [{ event: undefined, data: 'a' }],
      rest: 'data: b\n',
    });
  });

  it('are refused when one exceeds the size limit', () => {
    const cutter = new SseCutter();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    for (let size = 0; size < MAX_EVENT_BYTES; size += piece.length) cutter.push(piece);
    expect(cutter.failure).toBeUndefined();
    expect(cutter.push(piece)).toBeUndefined();
    expect(cutter.failure).toMatchObject({ status: 502, kind: 'reply_too_large' });
  });
});
