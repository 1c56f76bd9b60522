import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '../events.ts';
import { fold, type Generation } from '../streams/fold.ts';
import { clientContext, deepFreeze, replyContext, replyWith } from '../contexts.testkit.ts';
import {
  decodeAll,
  expectNoiseIgnored,
  expectOneTerminal,
  expectRechunkingKeepsEvents,
  expectSameArguments,
  expectSameFold,
  expectUsageOnce,
} from '../laws.testkit.ts';
import { generation, random, seed, toEvents } from '../generations.testkit.ts';
import { anthropicMessages as format } from './index.ts';

const replies = generation({ thinking: true, signatures: true, redacted: true, mcp: true, cacheUsage: true });

const NOISE = [
  'event: vertex_event\ndata: {"type":"vertex_event","x":1}\n\n',
  'event: vertex_event\ndata: not json\n\n',
  'event: tomorrow\ndata: {"type":"tomorrow","delta":{"type":"text_delta","text":"no"}}\n\n',
  'event: ping\ndata: {"type": "ping"}\n\n',
  ': comment\n\n',
  'data: [DONE]\n\n',
];

const open = () => format.decodeStream(replyContext());

/** The part of a generation that the wire carries. Finish reasons become Anthropic's, which come back as `native`. */
function said({ choices, usage, id, model }: Generation) {
  return { id, model, usage, choices: choices.map(({ parts, finish }) => ({ parts, finish })) };
}

/** A stream encoder gets its events in batches, one per read from the upstream. */
function encodeInBatches(events: readonly GenerationEvent[], size: number): string {
  const encoder = format.encodeStream(clientContext());
  let text = '';
  for (let at = 0; at < events.length; at += size) text += encoder.push(events.slice(at, at + size));
  return text;
}

describe('laws of the reply', () => {
  it('reads back its own stream, however it was batched and split', () => {
    fc.assert(
      fc.property(replies, seed, fc.integer({ min: 1, max: 9 }), (reply, cuts, size) => {
        const events = deepFreeze(toEvents(reply, cuts));
        const again = expectRechunkingKeepsEvents(open, Buffer.from(encodeInBatches(events, size)), cuts);
        expectOneTerminal(again);
        expectUsageOnce(again);
        expectSameFold(again, events, said);
        expectSameArguments(again, toEvents(reply));
      }),
    );
  });

  it('writes a plain reply equal to its stream', () => {
    fc.assert(
      fc.property(replies, seed, (reply, cuts) => {
        const stream = decodeAll(open(), [Buffer.from(encodeInBatches(toEvents(reply, cuts), 3))]);
        const plain = format.decodeReply(
          replyWith(format, deepFreeze(toEvents(reply)), clientContext()),
          replyContext(),
        );
        expectOneTerminal(plain);
        expectSameFold(stream, plain, said);
      }),
    );
  });

  it('ignores events it does not know', () => {
    fc.assert(
      fc.property(replies, seed, (reply, cuts) => {
        expectNoiseIgnored(open, encodeInBatches(toEvents(reply, cuts), 5), NOISE, cuts);
      }),
    );
  });

  it('never reads a cut stream as a complete one', () => {
    fc.assert(
      fc.property(replies, seed, fc.double({ min: 0, max: 0.999, noNaN: true }), (reply, cuts, share) => {
        const bytes = Buffer.from(encodeInBatches(toEvents(reply, cuts), 4));
        // With the `stop_reason` the reply is complete, whether `message_stop` follows or not.
        const end = bytes.lastIndexOf('event: message_delta');
        const events = decodeAll(open(), [bytes.subarray(0, Math.floor(end * share))]);
        expectOneTerminal(events);
        expect(events.at(-1)).toMatchObject({ type: 'error', failure: { status: 502, kind: 'stream_interrupted' } });
      }),
    );
  });

  it('gives interleaved parallel calls a block each, with all of their arguments', () => {
    const calls = fc.array(fc.dictionary(fc.string({ maxLength: 6 }), fc.string({ maxLength: 12 })), {
      minLength: 2,
      maxLength: 4,
    });
    fc.assert(
      fc.property(calls, seed, (inputs, cuts) => {
        const events = interleaved(
          inputs.map((input) => JSON.stringify(input)),
          cuts,
        );
        const again = decodeAll(open(), [Buffer.from(encodeInBatches(events, 2))]);
        const parts = fold(again).choices[0]?.parts.map((part) =>
          part.type === 'tool_call' ? JSON.parse(part.arguments) : part,
        );
        expect(parts).toEqual(inputs);
      }),
    );
  });
});

function interleaved(texts: readonly string[], cuts: number): GenerationEvent[] {
  const events: GenerationEvent[] = [{ type: 'start' }];
  texts.forEach((_, call) =>
    events.push({ type: 'tool_call', choice: 0, block: call, call, id: `call_${call}`, name: 'f' }),
  );
  const next = random(cuts);
  const waiting = texts.map((text, call) => ({ call, letters: [...text] }));
  while (waiting.length > 0) {
    const at = Math.floor(next() * waiting.length);
    const { call, letters } = waiting[at]!;
    events.push({
      type: 'tool_arguments',
      choice: 0,
      call,
      text: letters.splice(0, 1 + Math.floor(next() * 5)).join(''),
    });
    if (letters.length === 0) waiting.splice(at, 1);
  }
  return [...events, { type: 'finish', choice: 0, reason: 'tool_calls' }, { type: 'end' }];
}
