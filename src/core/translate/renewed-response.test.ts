import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renewedResponse } from './cached-replies.ts';

const OLD = '01a2094d7acb7176b4f5f6261513a587';
const OWN = 'ffffffff7aec7c38875a9aa9f41a2eca';
const request: Parameters<typeof renewedResponse>[2] = { id: `resp_${OWN}`, stored: true, previous: 'resp_before' };
const itemOf = (id: string, number: string): string => `msg_${id.slice(0, 28)}${number}`;

const renewed = (text: string, stream = false, of: Parameters<typeof renewedResponse>[2] = request): string =>
  renewedResponse(Buffer.from(text), stream, of).toString();

const response = (id: string, previous: string | null, store: boolean, more: object = {}): object => ({
  id: `resp_${id}`,
  object: 'response',
  previous_response_id: previous,
  store,
  metadata: { previous_response_id: 'x', id: 'y', store: 'z' },
  output: [{ type: 'message', id: itemOf(id, '0000'), content: [{ type: 'output_text', text: 'store, "response":' }] }],
  ...more,
});

describe('a kept response', () => {
  it('has the ids of another request, and the settings that it echoes', () => {
    const [old, own] = [response(OLD, null, false), response(OWN, 'resp_before', true)].map((one) =>
      JSON.stringify(one),
    );
    expect(renewed(old!)).toBe(own);
    expect(renewed(old!, false, { ...request, stored: undefined, previous: undefined })).toBe(
      JSON.stringify(response(OWN, null, false)),
    );
  });

  it('keeps numbers, spaces, unknown fields and ids of an upstream as they are', () => {
    const text = (id: string) =>
      `{ "id" : "resp_${id}", "n": 1.0e2, "big": 12345678901234567890,\n"output":[{"id":"msg_upstream_1"}], "é": "ü" }`;
    expect(renewed(text('upstream'))).toBe(text(OWN));
  });

  it.each(['\n', '\r\n'])('has them in every event of a stream, line end %j', (end) => {
    const stream = (id: string, previous: string | null, store: boolean): string =>
      [
        { type: 'response.created', sequence_number: 0, response: response(id, previous, store, { output: [] }) },
        { type: 'response.output_text.delta', item_id: itemOf(id, '0000'), delta: `"response":{"id":"resp_other"}` },
        { type: 'response.completed', sequence_number: 2, response: response(id, previous, store) },
      ]
        .map((event) => `event: ${event.type}${end}data: ${JSON.stringify(event)}${end}${end}`)
        .join('') + `: ping${end}${end}data: [DONE]${end}${end}`;
    expect(renewed(stream(OLD, null, false), true)).toBe(stream(OWN, 'resp_before', true));
  });

  it('that is no response stays as it is', () => {
    fc.assert(
      fc.property(fc.string(), fc.boolean(), (text, stream) => {
        fc.pre(!text.trim().startsWith('{'));
        expect(renewed(text, stream)).toBe(Buffer.from(text).toString());
      }),
    );
    for (const text of ['', '[]', '{', '{"a":1}', '"resp_x"']) expect(renewed(text)).toBe(text);
  });
});
