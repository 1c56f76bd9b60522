import { describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { json } from '../support/upstream.ts';

const BOUNDARY = 'x'.repeat(30);
const part = (disposition: string, value: string): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`;
const text = (name: string, value: string): string => part(`name="${name}"`, value);
const file = (name: string, value = 'bytes'): string => part(`name="${name}"; filename="a"`, value);
const LARGE = 'a'.repeat(100_000);

const PATHS = [
  ['/v1/audio/transcriptions', 'file', 'whisper-1'],
  ['/v1/audio/translations', 'file', 'whisper-1'],
  ['/v1/images/edits', 'image', 'dall-e-2'],
  ['/v1/images/variations', 'image', 'dall-e-2'],
] as const;

/** The status and the body of the reply, and what the upstream got. */
async function send(path: string, parts: readonly string[], key: object = {}) {
  const { gateway, upstream } = await startPair(
    (_, res) => json(res, { text: 'Hi', data: [{ b64_json: 'aGk=' }] }),
    (url) => ({
      catalog: {
        providers: [
          {
            slug: 'openai',
            provider: 'openai',
            base_url: `${url}/v1`,
            api_key: '${env:NONE:-k}',
            allow_insecure: true,
          },
        ],
      },
      server: { limits: { form_held: '10KiB' } },
      keys: { keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, ...key }] },
    }),
  );
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'x-gateway-api-key': KEY, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: new Blob([...parts, `--${BOUNDARY}--\r\n`]).stream(),
    duplex: 'half',
  });
  return { status: reply.status, body: await reply.text(), seen: upstream.seen };
}

describe.each(PATHS)('a form for %s', (path, name, plain) => {
  const model = text('model', `@openai/${plain}`);
  it.each([
    ['the model twice', [model, text('model', '@openai/other'), file(name)], 'duplicate_parameter'],
    ['the model as text and as a file', [model, file('model'), file(name)], 'duplicate_parameter'],
    ['the model as a file', [file('model'), file(name)], 'model'],
    ['the model and a list of it', [model, text('model[]', plain), file(name)], 'duplicate_parameter'],
    [
      'a field twice, once in brackets',
      [model, text('user', 'a'), text('user[]', 'b'), file(name)],
      'duplicate_parameter',
    ],
    ['a text of the API as a file', [model, file('response_format'), file(name)], 'as text, not as a file'],
    ['an extra_body that is no object', [model, text('extra_body', "{'model': 'x'}"), file(name)], 'extra_body'],
    ['an extra_body in brackets', [model, text('extra_body[model]', 'x'), file(name)], 'extra_body'],
    ['a late file with the name of a text', [model, file(name, LARGE), file('model')], 'duplicate_parameter'],
    ['a late list of the model', [model, file(name, LARGE), text('model[]', plain)], 'duplicate_parameter'],
    ['a late extra_body', [model, file(name, LARGE), text('extra_body', '{}')], 'before the file'],
    ['a late text of the API as a file', [model, file(name, LARGE), file('response_format')], 'as text, not as a file'],
  ])('is refused with %s', async (_, parts, words) => {
    const { status, body, seen } = await send(path, parts);
    expect([status, body]).toEqual([400, expect.stringContaining(words)]);
    expect(seen).toEqual([]);
  });

  it.each([
    ['model[]', text('model[]', 'dear')],
    ['models', text('models', 'dear')],
    ['extra_body', text('extra_body', '{"model":"dear"}')],
    ['extra_body that writes it twice', text('extra_body', `{"model":"dear","model":"${plain}"}`)],
  ])('names no model in %s that its key may not use', async (what, extra) => {
    const parts = what === 'model[]' ? [extra, file(name)] : [model, extra, file(name)];
    const { status, seen } = await send(path, parts, { models: [plain] });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(seen).toEqual([]);
  });

  it.each([
    ['a file', { deny: ['secret'] }, file('secret')],
    ['a list', { deny: ['prompt'] }, text('prompt[]', 'x')],
    ['a field in brackets', { deny: ['extra.inner'] }, text('extra[inner]', 'x')],
    ['a file that is not allowed', { allow: ['response_format'] }, file('secret')],
  ])('passes no rule of its key with %s', async (_, fields, extra) => {
    for (const parts of [
      [model, extra, file(name)],
      [model, file(name, LARGE), extra],
    ]) {
      const { status, seen } = await send(path, parts, { fields });
      expect(status).toBe(400);
      expect(seen).toEqual([]);
    }
  });

  it('keeps the lists of the API', async () => {
    const lists = [
      text('include[]', 'a'),
      text('include[]', 'b'),
      text('chunking_strategy[type]', 'vad'),
      text('chunking_strategy[x]', '1'),
    ];
    const extra = text('extra_body', `{"model":"${plain}"}`);
    const parts = [model, extra, ...lists, file(`${name}[]`), file(`${name}[]`)];
    const { status, body, seen } = await send(path, parts, {
      models: [plain],
      fields: { allow: ['include[]', 'chunking_strategy', 'extra_body'] },
    });
    expect([status, body, seen.length]).toEqual([200, expect.anything(), 1]);
    expect(seen[0]!.text.split('include[]')).toHaveLength(3);
    expect(seen[0]!.text.split(`name="${name}[]"`)).toHaveLength(3);
    expect(seen[0]!.text).toContain(`{"model":"${plain}"}`);
  });
});
