import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Sink } from '../../src/plugin/index.ts';
import { withModelName } from './model-name.ts';

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"model":"m-1"', String.raw`\"model\":\"`));
const named = (body: string): string => String(withModelName(Buffer.from(body), 'fast'));

/** What a client gets of a stream whose pieces are these. */
function streamed(pieces: readonly string[]): string {
  const got: Buffer[] = [];
  const sink: Sink = { push: (bytes) => void got.push(bytes), end() {}, fail() {} };
  const source = {
    open: (to: Sink) => pieces.forEach((piece) => to.push(Buffer.from(piece))),
    pause() {},
    resume() {},
    cancel() {},
  };
  const body = withModelName(source, 'fast');
  if (!Buffer.isBuffer(body)) body.open(sink);
  return Buffer.concat(got).toString();
}

describe('the name of the model', () => {
  it('of a document is replaced in its first level alone', () => {
    fc.assert(
      fc.property(fc.constantFrom('model', 'modelVersion'), text, text, fc.json(), (key, model, answer, json) => {
        const inner: unknown = JSON.parse(json);
        const body = { id: 1, [key]: model, content: [{ answer, input: { model }, inner }] };
        expect(JSON.parse(named(JSON.stringify(body)))).toEqual({ ...body, [key]: 'fast' });
      }),
    );
  });

  it('of a stream is replaced in every event, and no text changes', () => {
    const event = (model: string, delta: string) => `data: ${JSON.stringify({ model, delta })}\n\n`;
    fc.assert(
      fc.property(text, fc.array(text, { minLength: 1 }), (model, deltas) => {
        const events = deltas.map((delta) => event(model, delta));
        const expected = deltas.map((delta) => event('fast', delta)).join('');
        expect(streamed(events)).toBe(expected);
        expect(named(events.join(''))).toBe(expected);
      }),
    );
  });

  it('of another model in a stream stays', () => {
    expect(streamed(['data: {"model":"a"}\n\n', 'data: {"input":{"model":"b"}}\n\n'])).toBe(
      'data: {"model":"fast"}\n\ndata: {"input":{"model":"b"}}\n\n',
    );
  });

  it.each(['[1]', '{"a":1}', '{"model":null}', '{"model":"a","model":"b"}', 'plain'])('is left out of %s', (body) => {
    expect(named(body)).toBe(body);
  });
});
