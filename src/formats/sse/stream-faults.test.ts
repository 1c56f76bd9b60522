import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PassThrough } from '../format.ts';
import { rechunk } from '../laws.testkit.ts';
import { seed } from '../generations.testkit.ts';
import { readSse } from './event-stream.ts';
import { READERS, type Dialect } from './stream-faults.testkit.ts';

function read(reader: PassThrough, pieces: readonly Buffer[]): string {
  const out = [...pieces.map((piece) => reader.push(piece)), reader.end()];
  return Buffer.concat(out.filter((piece) => piece !== undefined)).toString();
}

const TEXTS = ['Hé', 'llo 🙂', '.'];
const reported = ({ text }: Dialect): string[] => TEXTS.map(text);
const whole = (wire: Dialect): string => [...wire.opening, ...reported(wire), ...wire.closing].join('');

/** Faults of an upstream in a stream that has shown text, each with the code of its failure. */
const FAULTS: Readonly<Record<string, (wire: Dialect, at: number) => Buffer>> = {
  // The cut is within the text, before its end or a complete finish.
  'is cut anywhere': (wire, at) => {
    const before = Buffer.byteLength(wire.opening.join('') + wire.text(TEXTS[0]!));
    const bytes = Buffer.from(wire.opening.join('') + reported(wire).join(''));
    return bytes.subarray(0, before + (at % (bytes.length - before)));
  },
  'is cut inside a character': (wire) => {
    const bytes = Buffer.from(wire.opening.join('') + reported(wire).join(''));
    return bytes.subarray(0, bytes.indexOf(Buffer.from('🙂')) + 2);
  },
  'closes without a terminal event': (wire) => Buffer.from(wire.opening.join('') + reported(wire).join('')),
  'sends an invalid event': (wire, at) =>
    Buffer.from(
      wire.opening.join('') + reported(wire).join('') + wire.malformed[at % wire.malformed.length]! + whole(wire),
    ),
  'tells of an error': (wire) =>
    Buffer.from(wire.opening.join('') + reported(wire).join('') + wire.error + wire.closing.join('')),
};

/** Failure codes of a broken stream, whatever its API: cut, or unreadable. */
const KINDS: Readonly<Record<string, string>> = {
  'is cut anywhere': 'stream_interrupted',
  'is cut inside a character': 'stream_interrupted',
  'closes without a terminal event': 'stream_interrupted',
  'sends an invalid event': 'unreadable_reply',
};

describe.each(READERS)('a stream from %s', (_, wire, open) => {
  it.each(Object.keys(FAULTS))('that %s fails once, and only whole events of the answer have left', (fault) => {
    fc.assert(
      fc.property(seed, fc.nat(), (cuts, at) => {
        const reader = open(true);
        const left = read(reader, rechunk(FAULTS[fault]!(wire, at), cuts));
        expect(reader.signals).toMatchObject({ ended: false });
        const kind = KINDS[fault];
        expect(reader.signals.failure?.kind).toEqual(kind ?? expect.any(String));
        const healthy = open(true);
        const expected = read(healthy, [Buffer.from(whole(wire))]);
        expect(healthy.signals).toMatchObject({ ended: true, failure: undefined, answered: true, blocked: false });
        const events = readSse(Buffer.from(left));
        expect(readSse(Buffer.from(expected)).slice(0, events.length)).toEqual(events);
        expect(left === '' || left.endsWith('\n')).toBe(true);
        // The writer emits the error: a reader that emitted it too would make two.
        for (const { event, data } of events) {
          expect(event).not.toBe('error');
          expect(data).not.toBe('[DONE]');
          expect(JSON.parse(data)).not.toHaveProperty('error');
        }
      }),
      { numRuns: 30 },
    );
  });

  it.each(wire.pings)('makes no progress with %j, before its content or after', (ping) => {
    const reader = open(true);
    reader.push(Buffer.from(wire.opening.join('')));
    const opened = reader.signals.progress;
    for (let n = 0; n < 3; n += 1) reader.push(Buffer.from(ping));
    expect(reader.signals).toMatchObject({ progress: opened, content: false });
    reader.push(Buffer.from(wire.text('Hi')));
    const shown = reader.signals.progress;
    expect(shown).toBeGreaterThan(opened);
    for (let n = 0; n < 3; n += 1) reader.push(Buffer.from(ping));
    expect(reader.signals.progress).toBe(shown);
  });

  it.each(wire.silentSteps)('makes progress with %j, although nothing is shown', (step) => {
    const reader = open(true);
    reader.push(Buffer.from(wire.opening.join('') + wire.text('Hi')));
    const before = reader.signals.progress;
    reader.push(Buffer.from(step));
    expect(reader.signals.progress).toBeGreaterThan(before);
  });

  it.each(wire.blocked)(
    'that is nothing but a filter’s stop is blocked, streamed and plain: %j',
    ({ stream, plain }) => {
      fc.assert(
        fc.property(seed, (cuts) => {
          const reader = open(true);
          read(reader, rechunk(Buffer.from(stream), cuts));
          expect(reader.signals).toMatchObject({
            blocked: true,
            answered: false,
            ended: true,
            finish: 'content_filter',
          });
        }),
        { numRuns: 20 },
      );
      const reader = open(false);
      read(reader, [Buffer.from(JSON.stringify(plain))]);
      expect(reader.signals).toMatchObject({ blocked: true, answered: false, ended: true, failure: undefined });
    },
  );

  it('that a filter stops after part of the answer is not blocked', () => {
    const reader = open(true);
    const { stream } = wire.blocked[0]!;
    // Openings of both: the second message of Claude's would be one too many.
    const stop = stream.replace(/^event: message_start\n.*\n\n/, '');
    read(reader, [Buffer.from(wire.opening.join('') + wire.text('Hi') + stop)]);
    expect(reader.signals).toMatchObject({ blocked: false, answered: true, ended: true, finish: 'content_filter' });
  });
});
