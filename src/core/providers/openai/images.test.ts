import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestBody } from '../../kernel/index.ts';
import { openAiImages } from './event-tasks.ts';

const usage = {
  input_tokens: 50,
  output_tokens: 50,
  total_tokens: 100,
  input_tokens_details: { text_tokens: 10, image_tokens: 40 },
};
const draft = { type: 'image_generation.partial_image', b64_json: 'DRAFT', partial_image_index: 0 };
const complete = { type: 'image_generation.completed', b64_json: 'IMAGE', usage };
const event = (payload: { type: string }, eol = '\n') =>
  `event: ${payload.type}${eol}data: ${JSON.stringify(payload)}${eol}${eol}`;
const STREAM = event(draft) + event(complete);

/** The output for these bytes, in pieces of these sizes, and the signals. */
function read(text: string, { stream = true, sizes = [text.length] }: { stream?: boolean; sizes?: number[] } = {}) {
  const reader = openAiImages.openReader('gpt-image-1', stream);
  const bytes = Buffer.from(text);
  const out: string[] = [];
  let at = 0;
  for (let piece = 0; at < bytes.length; piece += 1) {
    const size = sizes[piece % sizes.length] ?? bytes.length;
    out.push(reader.push(bytes.subarray(at, at + size))?.toString() ?? '');
    at += size;
  }
  out.push(reader.end()?.toString() ?? '');
  return { out: out.join(''), signals: reader.signals };
}

describe('a request to an API like OpenAI’s', () => {
  const edited = (json: string) => {
    const body = RequestBody.read(Buffer.from(json), 64);
    return body.edit(openAiImages.edits(body, 'gpt-image-1')).encode().toString();
  };

  it('is sent as the caller’s bytes with the upstream’s model name', () => {
    expect(edited('{ "prompt":"\\u0061",  "model": "@o/gpt-image-1", "n": 2, "x": 12345678901234567890 }')).toBe(
      '{ "prompt":"\\u0061",  "model": "gpt-image-1", "n": 2, "x": 12345678901234567890 }',
    );
  });

  it('is not changed where the name is the same', () => {
    const json = '{"model":"gpt-image-1" ,"prompt":"p"}';
    expect(edited(json)).toBe(json);
  });
});

describe('a plain reply', () => {
  it.each([
    [
      'bytes',
      { created: 1, data: [{ b64_json: 'A' }], usage },
      { input: 50, output: 50, total: 100, outputImage: 50, images: 1 },
    ],
    ['addresses', { created: 1, data: [{ url: 'https://i', revised_prompt: 'x' }] }, { total: 0, images: 1 }],
    ['unknown fields', { created: 1, data: [{ url: 'https://i' }], new_field: { a: 1 } }, { total: 0, images: 1 }],
  ])('with %s passes through unchanged, and its tokens and pictures are counted', (_, reply, counted) => {
    const text = JSON.stringify(reply, null, 1);
    const { out, signals } = read(text, { stream: false, sizes: [7] });
    expect(out).toBe(text);
    expect(signals).toMatchObject({ ended: true, failure: undefined, usage: counted });
  });

  it.each([
    ['cut', '{"created":1,"data":[{"b64_j', { kind: 'unreadable_reply', status: 502 }],
    ['without images', '{"created":1}', { kind: 'unreadable_reply', status: 502 }],
    ['with an empty list', '{"created":1,"data":[]}', { kind: 'unreadable_reply', status: 502 }],
    [
      'with empty ones',
      '{"data":[{"revised_prompt":"x"},{"b64_json":""},null]}',
      { kind: 'unreadable_reply', status: 502 },
    ],
    ['an error after all', '{"error":{"message":"no","type":"server_error"}}', { status: 500, message: 'no' }],
  ])('that is %s is not forwarded', (_, text, failure) => {
    const { out, signals } = read(text, { stream: false });
    expect(out).toBe('');
    expect(signals.failure).toMatchObject(failure);
  });
});

describe('a stream of images', () => {
  it.each([
    ['with drafts', STREAM],
    ['with CRLF', event(draft, '\r\n') + event(complete, '\r\n')],
    ['with CR alone', event(draft, '\r') + event(complete, '\r')],
    ['without event names', `data: ${JSON.stringify(draft)}\n\ndata: ${JSON.stringify(complete)}\n\n`],
    ['with an end marker', `${STREAM}data: [DONE]\n\n`],
    ['with comments', `: ping\n\n${STREAM}`],
  ])('%s passes through unchanged, however it is split', (_, text) => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), (sizes) => {
        const { out, signals } = read(text, { sizes });
        expect(out).toBe(text);
        expect(signals).toMatchObject({ ended: true, content: true, failure: undefined });
        expect(signals.usage).toEqual({
          input: 50,
          output: 50,
          total: 100,
          inputImage: 40,
          outputImage: 50,
          images: 1,
        });
      }),
      { numRuns: 40 },
    );
  });

  it.each([60, 2, 1])('loses its byte order mark, in reads of %d', (size) => {
    const { out, signals } = read(`\uFEFF${STREAM}`, { sizes: [size] });
    expect(out).toBe(STREAM);
    expect(signals).toMatchObject({ ended: true, failure: undefined });
  });

  it('of several images counts the tokens of each', () => {
    const { signals } = read(event(complete) + event({ ...draft }) + event(complete));
    expect(signals).toMatchObject({
      ended: true,
      usage: { input: 100, output: 100, total: 200, inputImage: 80, images: 2 },
    });
  });

  it('counts an edit’s images too', () => {
    const text = event({ ...complete, type: 'image_edit.completed' });
    expect(read(text).signals).toMatchObject({ ended: true, usage: { total: 100 } });
  });

  it('gets the blank line its last event lacks', () => {
    expect(read(STREAM.trimEnd())).toMatchObject({ out: STREAM, signals: { ended: true } });
  });

  it.each([
    ['behind a draft', event(draft), event(draft)],
    ['inside an event', STREAM.slice(0, -40), event(draft)],
    ['before anything', '', ''],
    ['after a ping', ': ping\n\n', ': ping\n\n'],
    ['inside the draft of another image', event(complete) + event(draft), event(complete) + event(draft)],
  ])('that is cut %s is a failure, and only complete events are forwarded', (_, text, whole) => {
    const { out, signals } = read(text);
    expect(out).toBe(whole);
    expect(signals).toMatchObject({ ended: false, failure: { status: 502, kind: 'stream_interrupted' } });
  });

  const error = {
    message: 'Your request was rejected.',
    type: 'image_generation_user_error',
    code: 'moderation_blocked',
  };
  it.each([
    ['an event of its own', `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`],
    ['a bare payload', `data: ${JSON.stringify({ error })}\n\n`],
    ['the fields themselves', `data: ${JSON.stringify({ ...error, type: 'error' })}\n\n`],
  ])('ends before an error that is %s, and nothing follows', (_, text) => {
    const { out, signals } = read(event(draft) + text + event(complete));
    expect(out).toBe(event(draft));
    expect(signals.failure).toMatchObject({ message: error.message, code: 'moderation_blocked' });
  });

  it('ends before an event that is not JSON', () => {
    const { out, signals } = read(`${event(draft)}data: {oops\n\n`);
    expect(out).toBe(event(draft));
    expect(signals.failure).toMatchObject({ kind: 'stream_interrupted' });
  });

  it('is built from the plain reply of a server that does not stream', () => {
    const reply = { created: 7, data: [{ b64_json: 'A' }], output_format: 'png', usage };
    const { out, signals } = read(JSON.stringify(reply), { sizes: [5] });
    const { data: _, created: __, ...others } = reply;
    const payload = { type: complete.type, created_at: 7, b64_json: 'A', output_format: others.output_format, usage };
    expect(out).toBe(event(payload));
    expect(signals).toMatchObject({ ended: true, usage: { total: 100 } });
  });

  it('is an error where the server sends a plain error', () => {
    const { out, signals } = read(JSON.stringify([{ error }]));
    expect(out).toBe('');
    expect(signals.failure).toMatchObject({ message: error.message });
  });

  it('never throws for any bytes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom('data: ', '\n\n', '{', event(complete)))),
        (pieces) => {
          const { signals } = read(pieces.join(''));
          expect(signals.ended !== (signals.failure !== undefined)).toBe(true);
        },
      ),
    );
  });
});
