import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeEnvelope, writeSummary } from '../../src/formats/envelope.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { entriesFor, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** Bodies with envelopes of the gateway, to upstreams of the client's own API, which refuse every envelope. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;

/** Base64 of what begins an envelope, as Gemini's API holds it. */
const IN_BASE64 = 'Z2gx';

const BLOB = 'gAAAA-of-one-account';
const OLD = { kind: 'thinking', signature: BLOB } as const;
const reasoned = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-x',
  output: [
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: BLOB },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
};

beforeAll(async () => {
  upstream = await startUpstream(({ url, text }, res) => {
    if (text.includes('gh1.') || text.includes(IN_BASE64))
      return json(res, { error: { message: 'A foreign signature.', code: 'invalid_encrypted_content' } }, 400);
    if (url.endsWith('/responses')) return json(res, reasoned);
    if (url.includes('countTokens')) return json(res, { totalTokens: 9 });
    if (url.includes('count_tokens')) return json(res, { input_tokens: 7 });
    return json(res, { object: 'response.input_tokens', input_tokens: 11 });
  });
  const responses = { provider: 'openai', api: 'responses', base_url: `${upstream.url}/v1`, allow_insecure: true };
  gateway = await startTestGateway({
    catalog: {
      providers: [
        ...entriesFor(upstream.url),
        { slug: 'native', ...responses },
        { slug: 'other', ...responses },
        { slug: 'studio', provider: 'google-ai-studio', api_key: 'k', base_url: upstream.url, allow_insecure: true },
      ],
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function ask(path: string, body: object | string) {
  const reply = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      authorization: 'Bearer ya29.of-the-caller',
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const dropped = reply.headers.get('x-gateway-dropped-params');
  return { status: reply.status, dropped, body: (await reply.json()) as Record<string, unknown> };
}

const sent = () => upstream.seen.at(-1)?.json;
const envelope = (maker: 'claude' | 'openai') => writeEnvelope({ kind: 'thinking', maker, signature: 'c2ln' });
const [user, answer] = [
  { role: 'user', content: 'Tea?' },
  { role: 'assistant', content: 'Yes.' },
];

describe('a count of tokens in the API of its target', () => {
  const reasoning = { type: 'reasoning', summary: [], encrypted_content: envelope('claude') };

  it('has no envelope at OpenAI', async () => {
    const counted = await ask('/v1/responses/input_tokens', {
      model: '@native/gpt-x',
      input: [user, reasoning, answer, user],
    });
    expect(counted).toEqual({
      status: 200,
      dropped: 'input[1]',
      body: { object: 'response.input_tokens', input_tokens: 11 },
    });
    expect(sent()).toEqual({ model: 'gpt-x', input: [user, answer, user] });
  });

  it('has the text of a compaction that the gateway made', async () => {
    const compaction = { type: 'compaction', encrypted_content: writeSummary('The user wants tea.') };
    const counted = await ask('/v1/responses/input_tokens', { model: '@native/gpt-x', input: [compaction, user] });
    expect(counted.status).toBe(200);
    expect(sent()?.['input']).toEqual([{ type: 'message', role: 'user', content: 'The user wants tea.' }, user]);
  });

  it('has no envelope at Anthropic', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm', signature: envelope('openai') };
    const text = { type: 'text', text: 'Yes.' };
    const messages = [user, { role: 'assistant', content: [thinking, text] }, user];
    const counted = await ask('/v1/messages/count_tokens', { model: '@claude/claude-sonnet-4-5', messages });
    expect(counted).toEqual({ status: 200, dropped: 'messages[1].content[0]', body: { input_tokens: 7 } });
    expect(sent()?.['messages']).toEqual([user, { role: 'assistant', content: [text] }, user]);
  });

  describe('has no envelope at Gemini', () => {
    const thoughtSignature = Buffer.from(envelope('claude')).toString('base64');
    const question = { role: 'user', parts: [{ text: 'Tea?' }] };
    const said = { text: 'Yes.' };
    const contents = [
      question,
      { role: 'model', parts: [{ text: 'Hm', thought: true, thoughtSignature }, said] },
      question,
    ];
    const cleaned = [question, { role: 'model', parts: [said] }, question];
    const [studio, vertex] = ['@studio/gemini-3-pro', '@gemini/gemini-3-pro'];

    it.each([
      ['in contents', studio, { contents }, { contents: cleaned }, ''],
      [
        'in contents that the gateway moves beside a system instruction',
        studio,
        { contents, systemInstruction: question },
        {
          generateContentRequest: { model: 'models/gemini-3-pro', contents: cleaned, systemInstruction: question },
        },
        '',
      ],
      [
        'in a whole request',
        studio,
        { generateContentRequest: { model: `models/${studio}`, contents } },
        { generateContentRequest: { model: 'models/gemini-3-pro', contents: cleaned } },
        'generateContentRequest.',
      ],
      [
        'in a whole request in snake case',
        studio,
        { generate_content_request: { model: `models/${studio}`, contents } },
        { generate_content_request: { model: 'models/gemini-3-pro', contents: cleaned } },
        'generate_content_request.',
      ],
      [
        'in a whole request for Vertex AI, which gets its fields',
        vertex,
        { generateContentRequest: { model: `models/${vertex}`, contents } },
        { contents: cleaned },
        'generateContentRequest.',
      ],
    ])('%s', async (_, model, body, expected, within) => {
      const counted = await ask(`/v1beta/models/${model}:countTokens`, body);
      expect(counted).toMatchObject({ status: 200, dropped: `${within}contents[1].parts[0]` });
      expect(sent()).toEqual(expected);
    });
  });
});

describe('a repeated key that hides an envelope', () => {
  const claudes = envelope('claude');
  const inBase64 = Buffer.from(claudes).toString('base64');
  it.each([
    [
      'of an item',
      '/v1/responses',
      `{"model":"@native/gpt-x","input":[{"type":"reasoning","summary":[],"encrypted_content":"${claudes}","encrypted_content":"x"}]}`,
      'input[0]',
    ],
    [
      'of a block',
      '/v1/messages',
      `{"model":"@claude/claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"${claudes}","signature":"x"}]}]}`,
      'messages[0].content[0]',
    ],
    [
      'of a part',
      '/v1beta/models/@studio/gemini-3-pro:generateContent',
      `{"contents":[{"parts":[{"text":"a","thoughtSignature":"${inBase64}","thoughtSignature":"eA=="}]}]}`,
      'contents[0].parts[0]',
    ],
  ])('%s is refused', async (_, path, body, param) => {
    const before = upstream.seen.length;
    const { status, body: error } = await ask(path, body);
    expect([status, upstream.seen.length]).toEqual([400, before]);
    expect(JSON.stringify(error)).toContain(`\`${param}\` has the key`);
  });
});

describe('reasoning that an account of OpenAI encrypted', () => {
  const messages = [{ role: 'user', content: 'Tea?' }];
  const more = { max_tokens: 2048, thinking: { type: 'enabled', budget_tokens: 1024 } };
  const text = (content: unknown) => JSON.stringify(content);
  /** What the account gets of a conversation, and what the gateway reports. */
  async function sentBack(path: string, body: object) {
    const { status, dropped } = await ask(path, body);
    return { status, dropped, blob: upstream.seen.at(-1)?.text.includes(BLOB) };
  }
  const [again, lost] = [
    { status: 200, dropped: null, blob: true },
    { status: 200, dropped: 'messages[1].content[0]', blob: false },
  ];

  it('goes back to that account alone, for a client of the Messages API', async () => {
    const { body } = await ask('/v1/messages', { model: '@native/gpt-x', ...more, messages });
    expect(text(body['content'])).toMatch(/"gh1\.openai-[0-9a-f]{12}\.t\./);
    expect(text(body['content'])).not.toContain(BLOB);
    const turns = [...messages, { role: 'assistant', content: body['content'] }, ...messages];
    const next = (model: string) => sentBack('/v1/messages', { model, max_tokens: 99, messages: turns });
    expect(await next('@native/gpt-x')).toEqual(again);
    expect(await next('@other/gpt-x')).toEqual(lost);
  });

  it('goes back to that account alone, for a client of the Gemini API', async () => {
    const question = { role: 'user', parts: [{ text: 'Tea?' }] };
    const thinkingConfig = { includeThoughts: true };
    const generationConfig = { thinkingConfig };
    const first = await ask('/v1beta/models/@native/gpt-x:generateContent', { contents: [question], generationConfig });
    const [candidate] = first.body['candidates'] as readonly { content: object }[];
    const contents = [question, candidate?.content, question];
    const next = (model: string) => sentBack(`/v1beta/models/${model}:generateContent`, { contents });
    expect(await next('@native/gpt-x')).toMatchObject({ status: 200, blob: true });
    expect(await next('@other/gpt-x')).toMatchObject({ status: 200, blob: false, dropped: 'contents[1].parts[0]' });
  });

  it('goes to each account where its envelope names none, as the gateway wrote it once', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm', signature: writeEnvelope({ ...OLD, maker: 'openai' }) };
    const turns = [
      ...messages,
      { role: 'assistant', content: [thinking, { type: 'text', text: 'Yes.' }] },
      ...messages,
    ];
    for (const model of ['@native/gpt-x', '@other/gpt-x'])
      expect(await sentBack('/v1/messages', { model, max_tokens: 99, messages: turns })).toEqual(again);
  });

  it('leaves its envelope in a body for that account, and is reported at another', async () => {
    const { body } = await ask('/v1/messages', { model: '@native/gpt-x', ...more, messages });
    const [{ signature }] = body['content'] as [{ signature: string }];
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: signature };
    const input = [user, reasoning, answer, user];
    expect(await sentBack('/v1/responses', { model: '@native/gpt-x', input, store: false })).toEqual(again);
    expect(sent()?.['input']).toEqual([user, { ...reasoning, encrypted_content: BLOB }, answer, user]);
    expect(await sentBack('/v1/responses', { model: '@other/gpt-x', input, store: false })).toEqual({
      ...lost,
      dropped: 'input[1]',
    });
  });

  it('does not bring another envelope to the account', async () => {
    const signature = writeEnvelope({ kind: 'thinking', maker: 'openai', signature: envelope('claude') });
    const reasoning = { type: 'reasoning', summary: [], encrypted_content: signature };
    const input = [user, reasoning, answer, user];
    expect(await ask('/v1/responses', { model: '@native/gpt-x', input })).toMatchObject({
      status: 200,
      dropped: 'input[1]',
    });
    const content = [
      { type: 'thinking', thinking: 'Hm', signature },
      { type: 'text', text: 'Yes.' },
    ];
    const turns = [...messages, { role: 'assistant', content }, ...messages];
    expect(await sentBack('/v1/messages', { model: '@native/gpt-x', max_tokens: 99, messages: turns })).toEqual(lost);
  });
});
