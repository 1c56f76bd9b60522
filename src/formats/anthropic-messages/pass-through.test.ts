import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PassThrough } from '../format.ts';
import { createSignals } from '../events.ts';
import { clientContext, replyContext, requestTarget } from '../contexts.testkit.ts';
import { decodeAll, rechunk } from '../laws.testkit.ts';
import { seed } from '../generations.testkit.ts';
import { observe } from '../streams/signals.ts';
import { hasCorpus, recorded } from './corpus.testkit.ts';
import { anthropicMessages as format } from './index.ts';
import type { JsonObject } from '../conversation.ts';

function pass(reader: PassThrough, chunks: readonly Buffer[]): string {
  const pieces = [...chunks.map((chunk) => reader.push(chunk)), reader.end()];
  return Buffer.concat(pieces.filter((piece) => piece !== undefined)).toString();
}

const start =
  'event: message_start\ndata: {"type":"message_start","message":{"id":"m","model":"claude-x","usage":{"input_tokens":9,"output_tokens":1}}}\n\n';
const block =
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n';
const delta = (text: string) =>
  `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })}\n\n`;
const stop =
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n';
const vertexEvent = 'event: vertex_event\ndata: {"type":"vertex_event"}\n\n';

describe('passThrough of a stream', () => {
  it('changes no byte and sees the model, the content, the usage and the end', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), seed, (texts, cuts) => {
        const wire = start + block + texts.map(delta).join('') + stop;
        const reader = format.passThrough.open(clientContext(), true);
        expect(pass(reader, rechunk(Buffer.from(wire), cuts))).toBe(wire);
        expect(reader.signals).toMatchObject({
          model: 'claude-x',
          content: true,
          finish: 'stop',
          usage: { input: 9, output: 3, total: 12 },
          failure: undefined,
          ended: true,
        });
      }),
    );
  });

  it('sees content only when there is some', () => {
    const reader = format.passThrough.open(clientContext(), true);
    reader.push(Buffer.from(start + block));
    expect(reader.signals.content).toBe(false);
    reader.push(Buffer.from(delta('Hi')));
    expect(reader.signals.content).toBe(true);
  });

  it('counts deltas but not pings as progress', () => {
    const reader = format.passThrough.open(clientContext(), true);
    reader.push(Buffer.from(start + block + delta('Hi')));
    const before = reader.signals.progress;
    reader.push(Buffer.from('event: ping\ndata: {"type": "ping"}\n\n'));
    expect(reader.signals.progress).toBe(before);
    reader.push(Buffer.from(delta('!')));
    expect(reader.signals.progress).toBe(before + 1);
  });

  it('removes Vertex’s own events', () => {
    const reader = format.passThrough.open(clientContext(), true);
    const wire = start + vertexEvent + block + delta('Hi') + vertexEvent + stop;
    expect(pass(reader, [Buffer.from(wire)])).toBe(start + block + delta('Hi') + stop);
  });

  it('withholds an error and all that follows it', () => {
    const reader = format.passThrough.open(clientContext(), true);
    const error = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n';
    expect(pass(reader, [Buffer.from(start + block + delta('Hi') + error + stop)])).toBe(start + block + delta('Hi'));
    expect(reader.signals.failure).toEqual({ status: 529, message: 'busy', kind: 'overloaded_error' });
    expect(reader.signals.ended).toBe(false);
  });

  it('holds an incomplete event back and reports the cut', () => {
    const reader = format.passThrough.open(clientContext(), true);
    expect(pass(reader, [Buffer.from(start + block + delta('Hi').slice(0, -20))])).toBe(start + block);
    expect(reader.signals.failure).toMatchObject({ status: 502, kind: 'stream_interrupted' });
  });

  it('passes events after a complete message unchanged', () => {
    const reader = format.passThrough.open(clientContext(), true);
    const wire = start + block + delta('Hi') + stop + start + block + delta('again');
    expect(pass(reader, rechunk(Buffer.from(wire), 5))).toBe(wire);
    expect(reader.signals).toMatchObject({ ended: true, failure: undefined });
  });

  it('completes a last event that only lacks its blank line', () => {
    const reader = format.passThrough.open(clientContext(), true);
    const wire = start + block + delta('Hi') + stop;
    expect(pass(reader, [Buffer.from(wire.trimEnd())])).toBe(wire);
    expect(reader.signals.ended).toBe(true);
  });
});

describe('passThrough of a plain reply', () => {
  const body =
    '{"id":"m","type":"message","model":"claude-x","content":[{"type":"text","text":"Hi"}],"stop_reason":"max_tokens","usage":{"input_tokens":1,"output_tokens":2}}';

  it('returns the received bytes once the message is complete', () => {
    const reader = format.passThrough.open(clientContext(), false);
    expect(pass(reader, rechunk(Buffer.from(body), 7))).toBe(body);
    expect(reader.signals).toMatchObject({ model: 'claude-x', finish: 'length', usage: { total: 3 }, ended: true });
  });

  it('sends no byte of a cut or foreign body', () => {
    for (const bad of [
      body.slice(0, -5),
      '',
      '<html>',
      '{"type":"error","error":{"type":"api_error","message":"x"}}',
    ]) {
      const reader = format.passThrough.open(clientContext(), false);
      expect(pass(reader, [Buffer.from(bad)])).toBe('');
      expect(reader.signals.failure).toBeDefined();
    }
  });
});

describe.skipIf(!hasCorpus)('passThrough of recorded replies', () => {
  it('changes no byte and sees what decoding sees', () => {
    let seen = 0;
    for (const [n, { response_body: body, response_status: status }] of recorded(
      'anthropic',
      'vertex-anthropic',
    ).entries()) {
      if (typeof body !== 'string' || status !== 200 || body.split('event: message_start').length !== 2) continue;
      seen += 1;
      const awaitsOutput = n % 2 === 0;
      const reader = format.passThrough.open({ ...clientContext(), awaitsOutput }, true);
      expect(pass(reader, rechunk(Buffer.from(body), n + 1))).toBe(body);
      const signals = createSignals();
      observe(signals, decodeAll(format.decodeStream(replyContext()), [Buffer.from(body)]));
      // Events that need no parser are counted otherwise.
      const { progress: _, text: __, output, ...reported } = reader.signals;
      expect({ ...reported, output: awaitsOutput ? output : signals.output }).toEqual({
        ...signals,
        progress: undefined,
        text: undefined,
      });
    }
    expect(seen).toBeGreaterThan(90);
  });
});

const view = (body: JsonObject) => ({ has: (key: string) => key in body, value: (key: string) => body[key] });

describe('passThroughEdits', () => {
  it('puts the target’s model into a body for the direct API, if it is another', () => {
    const target = requestTarget({ model: 'claude-x' });
    expect(format.passThrough.edits(view({ model: 'claude-x' }), target)).toEqual([]);
    expect(format.passThrough.edits(view({ model: '@a/claude-x' }), target)).toEqual([
      { path: ['model'], value: 'claude-x', source: 'gateway' },
    ]);
  });

  it('takes the model out of a body for Vertex and puts the version in, unless the caller has', () => {
    const target = requestTarget({ model: 'claude-x', host: 'vertex' });
    const model = { path: ['model'], value: undefined, source: 'gateway' };
    expect(format.passThrough.edits(view({ model: 'm' }), target)).toEqual([
      model,
      { path: ['anthropic_version'], value: 'vertex-2023-10-16', source: 'gateway' },
    ]);
    expect(format.passThrough.edits(view({ model: 'm', anthropic_version: 'v' }), target)).toEqual([model]);
  });

  it('leaves the model in a body for Vertex whose path has no place for it', () => {
    const target = requestTarget({ model: 'claude-x', host: 'vertex', modelInBody: true });
    expect(format.passThrough.edits(view({ model: 'anthropic.claude-x', anthropic_version: 'v' }), target)).toEqual([
      { path: ['model'], value: 'claude-x', source: 'gateway' },
    ]);
    expect(format.passThrough.edits(view({ model: 'claude-x', anthropic_version: 'v' }), target)).toEqual([]);
  });
});
