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

  it.each([
    ['of a Messages reply', (model: string) => ({ type: 'message_start', message: { id: 'm', model, content: [] } })],
    ['of a Responses reply', (model: string) => ({ type: 'response.created', response: { id: 'r', model } })],
    ['behind the parts', (model: string) => ({ candidates: [{ index: 0 }], modelVersion: model })],
    ['that is empty', (model: string) => ({ model: model === 'm-1' ? '' : model, choices: [] })],
  ])('%s is replaced in its event', (_, event) => {
    expect(streamed([`event: x\r\ndata: ${JSON.stringify(event('m-1'))}\r\n\r\n`])).toBe(
      `event: x\r\ndata: ${JSON.stringify(event('fast'))}\r\n\r\n`,
    );
  });

  it('is replaced in no call, no metadata and no other deeper value, whatever they hold', () => {
    const inner = (model: string, json: unknown) => ({ model, modelVersion: model, response: { model }, json });
    fc.assert(
      fc.property(text, fc.json(), fc.boolean(), (model, json, isSse) => {
        const deep = inner(model, JSON.parse(json));
        const events = (name: string): unknown[] => [
          { candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: deep } }] } }], modelVersion: name },
          { response: { model: name, metadata: { model }, output: [{ model, action: deep }] } },
          { message: { model: name, content: [{ input: deep }] } },
          { model: name, choices: [{ delta: { content_blocks: [deep] } }], input: { model } },
        ];
        const write = (all: unknown[]): string =>
          isSse ? all.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('') : JSON.stringify(all);
        expect(streamed([write(events(model))])).toBe(write(events('fast')));
      }),
    );
  });

  it.each(['[1]', '{"a":1}', '{"model":null}', '{"model":"a","model":"b"}', 'plain'])('is left out of %s', (body) => {
    expect(named(body)).toBe(body);
  });
});
