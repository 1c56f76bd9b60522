import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAll, rechunk } from '../laws.testkit.ts';
import { seed } from '../generations.testkit.ts';
import { replyContext } from '../contexts.testkit.ts';
import { mutatedStream } from '../sse/mutated-events.testkit.ts';
import { MessagesStreamDecoder } from './decode-stream.ts';
import { PlainDelta, type DeltaSource } from './plain-delta.ts';
import { runs } from '../../../test/support/effort.ts';

const named = (type: string, data: string): string => `event: ${type}\ndata: ${data}\n\n`;
const delta = (fields: string, index = 0, padding = ''): string =>
  named('content_block_delta', `{"type":"content_block_delta","index":${index},"delta":{${fields}}${padding}}`);
const start = (index: number, block: string): string =>
  named('content_block_start', `{"type":"content_block_start","index":${index},"content_block":${block}}`);
const opening = [
  named(
    'message_start',
    '{"type":"message_start","message":{"id":"msg_1","model":"claude-ran","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}',
  ),
  start(0, '{"type":"text","text":""}'),
  start(1, '{"type":"tool_use","id":"toolu_1","name":"f","input":{}}'),
  start(2, '{"type":"thinking","thinking":""}'),
].join('');
const others = [
  named('ping', '{"type":"ping"}'),
  named('content_block_stop', '{"type":"content_block_stop","index":0}'),
  named('message_delta', '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}'),
  named('message_stop', '{"type":"message_stop"}'),
  named('error', '{"type":"error","error":{"type":"overloaded_error","message":"busy"}}'),
  named('vertex_event', '{}'),
  ': comment\n\n',
  '\n',
  '\ufeff',
  'data: [DONE]\n\n',
  delta('"type":"signature_delta","signature":"c2ln"', 2),
];

/** Deltas by their one text, and whether they are read without a parser. */
const KINDS: readonly [string, (text: string) => string, boolean][] = [
  ['texts', (text) => delta(`"type":"text_delta","text":"${text}"`), true],
  ['padded texts', (text) => delta(`"type":"text_delta","text":"${text}"`, 0, ' '.repeat(text.length % 16)), true],
  ['arguments', (text) => delta(`"type":"input_json_delta","partial_json":"${text}"`, 1), true],
  ['thoughts', (text) => delta(`"type":"thinking_delta","thinking":"${text}"`, 2), true],
  ['texts of a block that is not open', (text) => delta(`"type":"text_delta","text":"${text}"`, 7), true],
  ['texts of a block with a long index', (text) => delta(`"type":"text_delta","text":"${text}"`, 12), false],
  ['texts with another field', (text) => delta(`"type":"text_delta","text":"${text}","more":{"text":"x"}`), false],
  ['texts with a repeated field', (text) => delta(`"type":"text_delta","text":"${text}","text":"x"`), false],
  ['spaced texts', (text) => delta(`"type": "text_delta", "text": "${text}"`), false],
];

const none: DeltaSource = { read: () => -1, index: 0, delta: {} };

class CountingDelta extends PlainDelta {
  reads = 0;

  override read(text: string, from: number, isBytes?: boolean): number {
    const end = super.read(text, from, isBytes);
    if (end > 0) this.reads += 1;
    return end;
  }
}

describe('a stream whose deltas are read without a parser has the events that the parser finds', () => {
  it.each(KINDS)('%s', (_, event, fast) => {
    let reads = 0;
    fc.assert(
      fc.property(mutatedStream(event, others), seed, (stream, cuts) => {
        const pieces = [Buffer.from(opening), ...rechunk(stream, cuts)];
        const decode = (source: DeltaSource) => {
          const decoder = new MessagesStreamDecoder(replyContext(), source, false);
          return { events: decodeAll(decoder, pieces), progress: decoder.progress };
        };
        const counting = new CountingDelta();
        expect(decode(counting)).toEqual(decode(none));
        reads += counting.reads;
      }),
      { numRuns: runs(400) },
    );
    expect(reads > 0).toBe(fast);
  });
});
