import OpenAI from 'openai7';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  entriesFor,
  geminiReply,
  json,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';

/** Pictures and code runs of Gemini in the Responses API, which clients send back with the conversation. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;

const picture = { inlineData: { mimeType: 'image/png', data: 'aGk=' }, thoughtSignature: 'UElDU0lH' };
const run = { executableCode: { language: 'PYTHON', code: 'print(1)' } };
const result = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } };
const said = { text: 'Done.' };

beforeAll(async () => {
  upstream = await startUpstream(({ url, text }, res) => {
    if (url.includes('enerateContent')) {
      const parts = text.includes('Draw') ? [picture] : [run, result, said];
      const [candidate] = geminiReply('').candidates;
      const reply = { ...geminiReply(''), candidates: [{ ...candidate, content: { role: 'model', parts } }] };
      return url.includes('stream') ? sse(res, [reply]) : json(res, reply);
    }
    return json(res, url.endsWith('/messages') ? anthropicReply('Ok.') : openaiReply('Ok.'));
  });
  gateway = await startTestGateway({
    catalog: {
      providers: [
        ...entriesFor(upstream.url),
        { slug: 'studio', provider: 'google-ai-studio', api_key: 'k', base_url: upstream.url, allow_insecure: true },
      ],
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function ask(body: object) {
  const reply = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify(body),
  });
  const { id, output } = (await reply.json()) as { id: string; output: readonly object[] };
  const lost = reply.headers.get('x-gateway-dropped-params');
  return { status: reply.status, id, output, lost };
}

const [CHAT, CLAUDE, GEMINI] = ['@openai/gpt-x', '@claude/claude-sonnet-4-5', '@studio/gemini-3-pro-image'];
const message = (content: string) => ({ role: 'user', content });
const modelTurn = () =>
  (upstream.seen.at(-1)!.json['contents'] as readonly { role: string }[]).find(({ role }) => role === 'model');

describe.each([
  ['A picture', 'Draw', [picture]],
  ['A code run', 'Compute', [run, result, said]],
])('%s of Gemini', (_, question, parts) => {
  it('goes back to Gemini as it was, where the client sends it', async () => {
    const { output } = await ask({ model: GEMINI, input: question });
    const input = [message(question), ...output, message('Again')];
    expect(await ask({ model: GEMINI, input })).toMatchObject({ status: 200, lost: null });
    expect(modelTurn()).toEqual({ role: 'model', parts });
  });

  it('goes back to Gemini as it was, where the client names the response', async () => {
    const { id } = await ask({ model: GEMINI, input: question });
    const next = await ask({ model: GEMINI, input: 'Again', previous_response_id: id });
    expect(next).toMatchObject({ status: 200, lost: null });
    expect(modelTurn()).toEqual({ role: 'model', parts });
  });
});

describe('The client of OpenAI', () => {
  const client = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
  const tool: OpenAI.Responses.Tool.ImageGeneration = { type: 'image_generation', size: '1024x1024', quality: 'auto' };

  it('asks for a picture with a tool, follows it in the stream, and goes on with it', async () => {
    const types: string[] = [];
    const user = { role: 'user' as const, content: 'Draw' };
    const asked = { model: GEMINI, input: [user], tools: [tool], tool_choice: { type: 'image_generation' as const } };
    const stream = client()
      .responses.stream(asked)
      .on('event', ({ type }) => void types.push(type));
    const { output } = await stream.finalResponse();
    expect(output).toMatchObject([
      { type: 'reasoning' },
      { type: 'image_generation_call', status: 'completed', result: picture.inlineData.data },
    ]);
    expect(types.filter((type) => type.includes('image'))).toEqual(
      ['in_progress', 'generating', 'completed'].map((step) => `response.image_generation_call.${step}`),
    );
    expect(upstream.seen.at(-1)!.json['generationConfig']).toMatchObject({
      responseModalities: ['IMAGE'],
      imageConfig: { aspectRatio: '1:1' },
    });
    const input = [message('Draw'), ...output, message('Again')];
    expect(await ask({ model: GEMINI, input, tools: [tool] })).toMatchObject({ status: 200, lost: null });
    expect(modelTurn()).toEqual({ role: 'model', parts: [picture] });
  });
});

describe('at a model that takes no such part', () => {
  it.each([
    ['Draw', CHAT, 'input[2]'],
    ['Draw', CLAUDE, 'input[2]'],
    ['Compute', CHAT, 'input[1]'],
  ])('%s is reported: %s', async (question, model, lost) => {
    const { output } = await ask({ model: GEMINI, input: question });
    const input = [message(question), ...output, message('Again')];
    expect(await ask({ model, input })).toMatchObject({ status: 200, lost });
  });

  it('a code run is text at Claude', async () => {
    const { output } = await ask({ model: GEMINI, input: 'Compute' });
    await ask({ model: CLAUDE, input: [message('Compute'), ...output, message('Again')] });
    expect(upstream.seen.at(-1)?.text).toContain('```python\\nprint(1)\\n```');
  });

  it('a picture that code wrote is reported', async () => {
    const outputs = [
      { type: 'logs', logs: '1' },
      { type: 'image', url: 'https://files.example/1.png' },
    ];
    const call = { type: 'code_interpreter_call', id: 'ci_1', code: 'plot()', container_id: 'cntr_1', outputs };
    const next = await ask({ model: GEMINI, input: [message('Plot'), call, message('Again')] });
    expect(next.lost).toEqual('input[1].outputs[1]');
    expect(modelTurn()).toMatchObject({ parts: [{}, { codeExecutionResult: { output: '1' } }] });
  });
});
