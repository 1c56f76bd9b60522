import { describe, expect, it } from 'vitest';
import type { Explanation } from '../../src/addons/explain/explanation/explanation.ts';
import { explanationText } from '../../src/addons/explain/explain/explanation-text.ts';
import { startPair, type Pair } from '../support/pair.ts';
import { json, openaiReply } from '../support/upstream.ts';
import { ask, call, explainedAs } from './explain.testkit.ts';

const near = {
  provider: '@openai',
  override_params: { model: 'gpt-5' },
  reply_headers: ['explain_id'],
  cache: { mode: 'semantic', embeddings: '@openai/vectors', threshold: 0.9, timeout: '5s' },
};

/** Texts with the same first letter are near. */
const vectorOf = (text: string): number[] => (text.startsWith('h') ? [1, 0.1] : [0.1, 1]);

const start = (): Promise<Pair> =>
  startPair(
    ({ url, json: body }, res) =>
      url.includes('/embeddings')
        ? json(res, {
            data: (body['input'] as string[]).map((text, index) => ({ index, embedding: vectorOf(text) })),
          })
        : json(res, openaiReply('hi')),
    { gateway: { near } },
  );

const body = (content: unknown, more: object = {}): object => ({
  model: 'm',
  messages: [{ role: 'user', content }],
  ...more,
});
const send = async ({ gateway }: Pair, content: string): Promise<string> =>
  (await call(gateway, { config: 'near', body: body(content) })).id;

async function explanationOf({ gateway }: Pair, content: unknown, more: object = {}): Promise<Explanation> {
  const question = {
    path: '/v1/chat/completions',
    headers: { 'x-gateway-config': 'near' },
    body: body(content, more),
    key: 'test',
  };
  const { status, text } = await ask(gateway, question);
  expect(status, text).toBe(200);
  return JSON.parse(text) as Explanation;
}

const nearOf = ({ targets }: Explanation): string | undefined => targets[0]?.cache?.near;

describe('the explanation of a semantic cache', () => {
  it('says why a request gets no near reply, and calls no upstream', async () => {
    const pair = await start();
    expect(nearOf(await explanationOf(pair, 'hello you'))).toBe(
      'no hit: no other text is stored for this conversation, its parameters and its scope',
    );
    await send(pair, 'hello there');
    const seen = pair.upstream.seen.length;
    expect(nearOf(await explanationOf(pair, 'hello 2 you'))).toBe(
      'no hit: the stored texts differ in numbers, dates or units',
    );
    expect(nearOf(await explanationOf(pair, 'never say hello'))).toBe(
      'no hit: the stored texts differ in negations or opposites',
    );
    expect(nearOf(await explanationOf(pair, 'hello Anna'))).toBe('no hit: the stored texts differ in names');
    expect(nearOf(await explanationOf(pair, 'hello you'))).toBe(
      'not known: a stored text may be near, and explain calls no upstream, so not @openai/vectors either',
    );
    expect(nearOf(await explanationOf(pair, 'hello you', { temperature: 0 }))).toBe(
      'no hit: no other text is stored for this conversation, its parameters and its scope',
    );
    expect(
      nearOf(await explanationOf(pair, [{ type: 'image_url', image_url: { url: 'https://e.example/a.png' } }])),
    ).toBe('not compared: a message has a part that is no text');
    expect(nearOf(await explanationOf(pair, 'hello there'))).toBeUndefined();
    expect(pair.upstream.seen.length).toBe(seen);
  });

  it('of a served request has the similarity, beside its record', async () => {
    const pair = await start();
    await send(pair, 'hello there');
    const far = await explainedAs(pair.gateway, await send(pair, 'good dog'));
    expect(nearOf(far)).toBe('no hit: the similarity 0.198 is below the threshold 0.9');
    expect(far.record).toMatchObject({
      attempts: [
        {
          cache: 'miss',
          semantic: {
            result: 'below_threshold',
            similarity: 0.198,
            embedding: { provider: 'openai', request_model: 'vectors', result: 'success' },
          },
        },
      ],
    });
    expect(explanationText(far)).toContain('by meaning: no hit: the similarity 0.198 is below the threshold 0.9');
  });

  it('of a request that hit says so in its record', async () => {
    const pair = await start();
    await send(pair, 'hello there');
    const { record } = await explainedAs(pair.gateway, await send(pair, 'hello you'));
    expect(record).toMatchObject({ cache: 'semantic_hit', attempts: [{ semantic: { result: 'hit', similarity: 1 } }] });
  });
});
