import { describe, expect, it } from 'vitest';
import { KEY, until } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { entriesFor, geminiReply, json, openaiChunk, openaiReply, sse, type Script } from '../support/upstream.ts';

/** Parts of an answer that the client's API has no place for: each is named where the client and the operator look. */

const HEADER = 'x-gateway-dropped-params';
const sound = { id: 'audio_1', data: 'UklGRgAA', expires_at: 1, transcript: 'Hello' };
const hi = [{ role: 'user', content: 'hi' }];

const speak: Script = ({ json: body }, res) =>
  body['stream'] === true
    ? sse(res, [openaiChunk({ audio: sound }), openaiChunk({}, 'stop'), 'data: [DONE]\n\n'])
    : json(res, openaiReply('', { choices: [{ index: 0, message: { audio: sound }, finish_reason: 'stop' }] }));

const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
const draw: Script = ({ url }, res) => {
  const reply = {
    ...geminiReply(''),
    candidates: [{ content: { role: 'model', parts: [picture] }, finishReason: 'STOP' }],
  };
  return url.includes('stream') ? sse(res, [reply]) : json(res, reply);
};

async function start(script: Script) {
  const { gateway } = await startPair(script, (url) => ({ catalog: { providers: entriesFor(url) } }));
  const ask = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        'x-gateway-api-key': KEY,
        authorization: 'Bearer ya29.t',
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    });
    return {
      status: response.status,
      lost: response.headers.get(HEADER)?.split(',') ?? [],
      text: await response.text(),
    };
  };
  const line = () => gateway.logs.find((entry) => entry['msg'] === 'request' || Array.isArray(entry['losses']));
  const counted = async () => (await fetch(`${gateway.statusUrl}/metrics`)).text();
  return { ask, line, counted };
}

describe('sound that is made for a Messages client', () => {
  const body = { model: '@openai/gpt-audio', max_tokens: 9, messages: hi };

  it('is named in the header of a plain reply, which has the words alone', async () => {
    const { ask } = await start(speak);
    const { status, lost, text } = await ask('/v1/messages', body);
    expect([status, lost]).toEqual([200, ['reply.audio']]);
    expect(JSON.parse(text)).toMatchObject({ content: [{ type: 'text', text: 'Hello' }] });
  });

  it('is named in the access line and the metrics of a stream, whose header has left before', async () => {
    const { ask, line, counted } = await start(speak);
    const { status, text } = await ask('/v1/messages', { ...body, stream: true });
    expect([status, text.includes('message_stop')]).toEqual([200, true]);
    await until(() => line() !== undefined, 'the access line is there');
    expect(line()).toMatchObject({ losses: ['reply.audio:dropped'] });
    expect(await counted()).toMatch(/^gatehouse_params_\w+\{[^}]*param="reply\.audio"[^}]*\} 1$/m);
  });
});

describe('a picture that is made for a chat client', () => {
  const body = { model: '@gemini/gemini-2.5-flash-image', modalities: ['image'], messages: hi };
  const loose = { 'x-gateway-strict-open-ai-compliance': 'false' };

  it.each([false, true])('is a loss with a name where the client is strict (stream: %s)', async (stream) => {
    const { ask } = await start(draw);
    const { status, lost, text } = await ask('/v1/chat/completions', { ...body, stream });
    expect(status).toBe(200);
    expect(text).not.toContain('AAAA');
    expect(lost).toEqual(expect.arrayContaining(['modalities', 'reply.image']));
  });

  it.each([false, true])('is no loss where the client is not strict (stream: %s)', async (stream) => {
    const { ask } = await start(draw);
    const { lost, text } = await ask('/v1/chat/completions', { ...body, stream }, loose);
    expect([lost, text.includes('data:image/png;base64,AAAA')]).toEqual([[], true]);
  });

  it('is a 400 for a strict client that wants no losses', async () => {
    const { ask } = await start(draw);
    const { status, text } = await ask('/v1/chat/completions', body, { 'x-gateway-strict-params': 'true' });
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      { error: { param: 'modalities', code: 'unsupported_parameter' } },
    ]);
  });
});
