import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENVELOPE } from '../../src/formats/envelope.ts';
import { isObject } from '../../src/formats/json/object.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  entriesFor,
  geminiReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let client: OpenAI;
let summary = 'The user wants tea.';

const native = {
  id: 'resp_native',
  object: 'response.compaction',
  created_at: 1,
  output: [{ type: 'compaction', id: 'cmp_native', encrypted_content: 'gAAAA-native' }],
  usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
};

beforeAll(async () => {
  upstream = await startUpstream(({ url, json: asked }, res) => {
    if (url.endsWith('/responses/compact')) return json(res, native);
    if (isObject(asked) && asked.stream === true) {
      if (url.endsWith('/messages')) return sse(res, anthropicEvents(summary));
      return sse(res, [openaiChunk({ content: summary }), openaiChunk({}, 'stop'), '[DONE]']);
    }
    if (url.includes('streamGenerateContent')) return sse(res, [geminiReply(summary)]);
    if (url.endsWith('/messages')) return json(res, anthropicReply(summary));
    return json(res, url.includes('generateContent') ? geminiReply(summary) : openaiReply(summary));
  });
  const responses = { provider: 'openai', api: 'responses', base_url: `${upstream.url}/v1`, allow_insecure: true };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        ...entriesFor(upstream.url),
        { slug: 'native', ...responses },
        {
          slug: 'studio',
          provider: 'google-ai-studio',
          api_key: 'studio-key',
          base_url: upstream.url,
          allow_insecure: true,
        },
      ],
    },
  });
  client = new OpenAI({ apiKey: KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const MODELS = { chat: '@openai/gpt-x', claude: '@claude/claude-sonnet-4-5', gemini: '@studio/gemini-2.5-flash' };

const input: OpenAI.Responses.ResponseInputItem[] = [
  { role: 'user', content: 'Tea, please.' },
  {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Which tea?' }],
    encrypted_content: `${ENVELOPE}claude.t.e30`,
  },
  { type: 'function_call', call_id: 'call_1', name: 'brew', arguments: '{"kind":"green"}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'brewed' },
];

describe.each(Object.entries(MODELS))('a compaction by %s', (_, model) => {
  it('is a summary, from which the next request continues', async () => {
    const compacted = await client.responses.compact({ model, input, instructions: 'Be brief.' });
    expect(compacted).toMatchObject({
      object: 'response.compaction',
      output: [{ type: 'compaction', id: expect.stringMatching(/^cmp_[0-9a-f]{32}$/) }],
      usage: { input_tokens: 3, output_tokens: 2 },
    });
    const asked = upstream.seen.at(-1)!.text;
    expect(asked).toContain('Write a summary of it');
    expect(asked).toContain('[Call of the tool brew: {\\"kind\\":\\"green\\"}]');
    expect(asked).not.toContain(ENVELOPE);
    expect(asked).not.toMatch(/"tool_calls"|tool_use|functionCall/);
    await client.responses.create({
      model,
      input: [...(compacted.output as OpenAI.Responses.ResponseInputItem[]), { role: 'user', content: 'And now?' }],
      tools: [],
    });
    expect(upstream.seen.at(-1)!.text).toContain(summary);
  });

  it('continues a kept response', async () => {
    const { id } = await client.responses.create({ model, input: 'Coffee, please.' });
    await client.responses.compact({ model, previous_response_id: id });
    expect(upstream.seen.at(-1)!.text).toContain('Coffee, please.');
  });

  it('that is empty is an error and no lost conversation', async () => {
    summary = ' ';
    await expect(client.responses.compact({ model, input: 'Hi' })).rejects.toMatchObject({
      status: 502,
    });
    summary = 'The user wants tea.';
  });
});

describe.each(Object.entries(MODELS))('a request of %s whose input ends with a trigger', (_, model) => {
  const triggered = [...input, { type: 'compaction_trigger' }] as OpenAI.Responses.ResponseInputItem[];
  const tools: OpenAI.Responses.FunctionTool[] = [{ type: 'function', name: 'brew', parameters: {}, strict: false }];

  it.each([true, false])(
    'is answered with one compaction, from which the next request continues (stream: %s)',
    async (stream) => {
      const { output, status } = stream
        ? await client.responses.stream({ model, input: triggered, tools }).finalResponse()
        : await client.responses.create({ model, input: triggered, tools });
      expect(status).toBe('completed');
      expect(output).toMatchObject([{ type: 'compaction', id: expect.stringMatching(/^cmp_[0-9a-f]{32}$/) }]);
      expect(output).toHaveLength(1);
      expect(upstream.seen.at(-1)!.text).toContain('Write a summary of it');
      expect(upstream.seen.at(-1)!.text).not.toContain('"tools"');
      await client.responses.create({
        model,
        input: [...(output as OpenAI.Responses.ResponseInputItem[]), { role: 'user', content: 'And now?' }],
      });
      expect(upstream.seen.at(-1)!.text).toContain(summary);
    },
  );

  it.each([true, false])('fails if the summary is empty (stream: %s)', async (stream) => {
    summary = ' ';
    const answer = stream
      ? client.responses.stream({ model, input: triggered }).finalResponse()
      : client.responses.create({ model, input: triggered });
    await expect(answer).rejects.toThrow(/summary/);
    summary = 'The user wants tea.';
  });
});

describe('a compaction by an upstream of the same API', () => {
  it('passes through', async () => {
    expect(await client.responses.compact({ model: '@native/gpt-x', input: 'Hi' })).toEqual(native);
    expect(upstream.seen.at(-1)).toMatchObject({ url: '/v1/responses/compact', json: { model: 'gpt-x', input: 'Hi' } });
  });

  it('cannot be read by another model', async () => {
    const next = client.responses.create({
      model: MODELS.claude,
      input: [...(native.output as OpenAI.Responses.ResponseCompactionItemParam[])],
    });
    await expect(next).rejects.toMatchObject({ status: 400, param: 'input[0]' });
  });
});

it('A compaction names its model and is no stream', async () => {
  const compact = (body: object) => client.post('/responses/compact', { body });
  await expect(compact({ input: 'Hi' })).rejects.toMatchObject({ status: 400, param: 'model' });
  await expect(compact({ model: MODELS.chat, input: 'Hi', stream: true })).rejects.toMatchObject({
    status: 400,
    param: 'stream',
  });
});
