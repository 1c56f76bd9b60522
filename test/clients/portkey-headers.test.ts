import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/gateway.ts';
import { portkeyOf } from './drivers/portkey.ts';
import { startMatrix, type Matrix } from './matrix.ts';
import { heard, SYSTEM, thoughtOf } from './words.ts';

/** What Portkey's users say in `x-portkey-` headers, with a gateway that takes these beside its own. */

let matrix: Matrix;
beforeAll(async () => {
  matrix = await startMatrix();
});
afterAll(() => matrix.close());

type Settings = Parameters<typeof portkeyOf>[1];

const QUESTION = 'Say hello.';
const messages = [
  { role: 'system', content: SYSTEM },
  { role: 'user', content: QUESTION },
];
const create = (settings: Settings, body: object = {}) =>
  portkeyOf(matrix, settings).chat.completions.create({ messages, max_tokens: 9000, ...body, stream: false });
const textOf = async (settings: Settings, body: object) =>
  (await create(settings, body)).choices?.[0]?.message?.content;
const lastUrl = () => matrix.upstream.seen.at(-1)?.url;

describe('portkey-ai', () => {
  it('names the catalog entry by `provider`, with and without @', async () => {
    for (const provider of ['@own', '@vertex']) {
      const model = provider === '@own' ? 'own-model' : 'gemini-2.5-flash';
      expect(await textOf({ provider }, { model })).toBe(heard(QUESTION));
      expect(lastUrl()).toContain(provider === '@own' ? '/v1/chat/completions' : ':generateContent');
    }
  });

  it('chooses a gateway config by `config`', async () => {
    expect(await textOf({ config: 'to-llama' }, { model: 'any' })).toBe(heard(QUESTION));
    expect(lastUrl()).toContain('/endpoints/openapi/chat/completions');
  });

  it('gets an error for an inline config that it may not send', async () => {
    await expect(create({ config: { provider: '@own' } }, { model: 'own-model' })).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('x-portkey-config'),
    });
  });

  it('labels requests by `metadata`, and gets an error for invalid ones', async () => {
    expect(await textOf({ metadata: { team: 'search' } }, { model: '@own/own-model' })).toBe(heard(QUESTION));
    await expect(create({ metadata: { team: 7 } as never }, { model: '@own/own-model' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('x-portkey-metadata'),
    });
  });

  it('finds its trace id in the log', async () => {
    const traceID = '4bf92f3577b34da6a3ce929d0e0e4736';
    await create({ traceID }, { model: '@own/own-model' });
    await until(() => matrix.gateway.logText().includes(traceID), 'the access line has the trace id');
  });

  it('sees thinking unless it wants strict compliance', async () => {
    const thinking = { model: '@claude/claude-sonnet-4-5-20250929', reasoning_effort: 'low' };
    const [open, strict] = await Promise.all([
      create({}, thinking),
      create({ strictOpenAiCompliance: true }, thinking),
    ]);
    expect(JSON.stringify(open)).toContain(thoughtOf(QUESTION));
    expect(JSON.stringify(strict)).not.toContain(thoughtOf(QUESTION));
  });

  it('reads the headers of a reply that are its own', async () => {
    const answer = await create({}, { model: '@own/own-model' });
    expect(answer.getHeaders?.()).toMatchObject({
      provider: 'own',
      'request-id': expect.stringMatching(/./),
      'trace-id': expect.stringMatching(/./),
    });
  });

  it('does not choose where the gateway sends its request', async () => {
    const before = matrix.upstream.seen.length;
    const asked = textOf({ customHost: 'http://127.0.0.1:9/v1' }, { model: '@own/own-model' });
    await expect(asked).rejects.toMatchObject({ status: 403 });
    expect(matrix.upstream.seen.length).toBe(before);
  });

  it('sends nothing of Portkey’s to the upstream', async () => {
    await create({ metadata: { team: 'search' }, traceID: 'x' }, { model: '@own/own-model' });
    expect(Object.keys(matrix.upstream.seen.at(-1)?.headers ?? {}).filter((name) => name.includes('portkey'))).toEqual(
      [],
    );
  });
});
