import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { startTestGateway, type TestSettings } from '../support/gateway.ts';
import { entriesFor, json, openaiChunk, openaiReply, sse, startUpstream, type Script } from '../support/upstream.ts';
import { CLIENT_APIS, GEMINI_ARRAY, send } from './client-apis.ts';

const example = (name: string): string => packageFile(`docs/plugins/examples/${name}/index.js`);

async function start(upstreamScript: Script, settings: Partial<TestSettings>) {
  const upstream = await startUpstream(upstreamScript);
  const gateway = await startTestGateway({ catalog: { providers: entriesFor(upstream.url) }, ...settings });
  return {
    url: gateway.url,
    upstream,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await upstream.close();
    },
  };
}

describe('the example mask', () => {
  const PIECES = ['Write to ad', 'a@exam', 'ple.com or +41 44 6', '68 18 00.'];
  const answer: Script = (seen, res) =>
    seen.json['stream'] === true
      ? sse(res, [...PIECES.map((content) => openaiChunk({ content })), openaiChunk({}, 'stop'), 'data: [DONE]\n\n'])
      : json(res, openaiReply(PIECES.join('')));

  it.each(
    [...CLIENT_APIS, GEMINI_ARRAY].flatMap((api) =>
      [false, true].map((stream) => ({ api, stream, door: api.name, form: stream ? 'a stream' : 'a plain reply' })),
    ),
  )('masks $form of $door', async ({ api, stream }) => {
    const server = { plugins: [example('mask')], chains: { request: { add: [{ plugin: 'mask', before: 'route' }] } } };
    await using started = await start(answer, { server });
    const reply = await send(started.url, api, '@openai/m', { stream });
    const text = await reply.text();
    expect(reply.status, text).toBe(200);
    expect(text).toContain('[EMAIL]');
    expect(text).toContain('[PHONE]');
    expect(text).not.toMatch(/@exam|ple\.com|668|68 18/);
  });
});

describe('the example jwt', () => {
  const secret = 'a-secret-of-more-than-32-characters';
  const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = (claims: object): string => {
    const text = `${encoded({ alg: 'HS256' })}.${encoded(claims)}`;
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };

  it('knows a caller of a team, whose limits apply to all its callers', async () => {
    const entry = { add: [{ plugin: 'jwt', after: 'errors', options: { secret } }], remove: ['auth'] };
    await using started = await start((_, res) => json(res, openaiReply('hello')), {
      server: { plugins: [example('jwt')], chains: { entry } },
      keys: { keys: [] },
      teams: { teams: { limited: { limits: { requests: '1/h' } }, free: {} } },
    });
    const exp = Date.now() / 1000 + 3600;
    const ask = async (claims: object): Promise<number> => {
      const headers = { authorization: `Bearer ${token(claims)}` };
      const reply = await send(started.url, CLIENT_APIS[0]!, '@openai/m', { headers });
      await reply.text();
      return reply.status;
    };
    expect(await ask({ sub: 'ann', team: 'limited', exp })).toBe(200);
    expect(await ask({ sub: 'bob', team: 'limited', exp })).toBe(429);
    expect(await ask({ sub: 'eve', team: 'free', exp })).toBe(200);
    expect(await ask({ sub: 'eve', team: 'free', exp: exp - 7200 })).toBe(401);
  });
});
