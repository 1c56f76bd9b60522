import { describe, expect, it } from 'vitest';
import { caseOf, run, runAll, setupOf, TARGETS } from './run.testkit.ts';
import { runCase } from './runner.ts';

const NAMES = ['openai', 'claude', 'vertex'] as const;
type Fault = 'refuse' | 'reset' | 'hang' | 'cut' | 'garbage';

/** The client’s error for each fault of the only target. */
const ERRORS_OF_FAULTS: Readonly<Record<Fault, { readonly status: number; readonly code: string }>> = {
  refuse: { status: 502, code: 'connection_failed' },
  reset: { status: 502, code: 'connection_failed' },
  hang: { status: 504, code: 'timeout_first_byte' },
  cut: { status: 502, code: 'stream_interrupted' },
  garbage: { status: 502, code: 'upstream_error' },
};

const json = (text: string): unknown => JSON.parse(text);

describe.each(NAMES)('an answer of %s', (name) => {
  const target = TARGETS[name];

  it.each(['Hello there, you.', 'Hi', '', '  two\n\nparagraphs '])('is the text %j', async (answer) => {
    const outcome = await run(target, { upstream: [{ answer }] });
    expect(outcome).toMatchObject({ status: 200, stream: undefined, faults: [] });
    expect(json(outcome.text)).toMatchObject({ choices: [{ message: { content: answer }, finish_reason: 'stop' }] });
  });

  it.each(['Hello there, you.', 'Hi', '  two\n\nparagraphs '])(
    'is a stream of the text %j when one is requested',
    async (answer) => {
      const outcome = await run(target, { body: { stream: true }, upstream: [{ answer }] });
      expect(outcome).toMatchObject({ status: 200, stream: { text: answer, ends: 'complete' }, faults: [] });
      expect(outcome.stream?.events.length).toBeGreaterThan(3);
    },
  );

  it.each(Object.keys(ERRORS_OF_FAULTS) as Fault[])('may fail: %s', async (fault) => {
    const outcome = await run(target, { upstream: [{ answer: 'Hello there', fault }] });
    const { status, code } = ERRORS_OF_FAULTS[fault];
    expect(outcome).toMatchObject({
      status,
      faults: [],
      attempts: [{ target: 'config', provider: `@${name}`, error: code }],
    });
    expect(json(outcome.text)).toMatchObject({ error: { code } });
  });

  it('ends a stream with an error when it is cut after some of its text', async () => {
    const outcome = await run(target, { body: { stream: true }, upstream: [{ answer: 'Hello there', fault: 'cut' }] });
    expect(outcome).toMatchObject({ status: 200, stream: { text: 'Hello', ends: 'error' }, faults: [] });
    expect(outcome.attempts).toMatchObject([{ error: 'stream_interrupted' }]);
  });

  it.each(Object.keys(ERRORS_OF_FAULTS) as Fault[])(
    'that fails falls through to the next target: %s',
    async (fault) => {
      const outcome = await run(
        { strategy: { mode: 'fallback' }, targets: [target, { ...TARGETS.openai, name: 'second' }] },
        { upstream: [{ fault }, { answer: 'Here.' }] },
      );
      expect(outcome).toMatchObject({
        status: 200,
        faults: [],
        attempts: [
          { error: ERRORS_OF_FAULTS[fault].code },
          { target: 'config.targets[1]', name: 'second', error: undefined },
        ],
      });
    },
  );

  it.each([400, 403, 404, 429, 500, 503, 529])('with status %i is an error in the API’s format', async (status) => {
    const outcome = await run(target, { upstream: [{ status }] });
    expect(outcome.faults).toEqual([]);
    expect(outcome.status).toBe(status === 529 ? 503 : status);
    expect(json(outcome.text)).toMatchObject({
      error: { message: expect.stringContaining(`answers ${status}`) as unknown },
    });
  });

  it('with status 401 refuses the credential of the entry, not the caller’s', async () => {
    const outcome = await run(target, { upstream: [{ status: 401 }] });
    expect(outcome.faults).toEqual([]);
    expect(outcome).toMatchObject({ status: 502, attempts: [{ error: 'upstream_credentials_refused' }] });
  });
});

describe('a literal answer', () => {
  it('is a body', async () => {
    const body = { choices: [{ index: 0, message: { role: 'assistant', content: 'Mine' }, finish_reason: 'stop' }] };
    const outcome = await run(TARGETS.openai, { upstream: [{ body, headers: { 'openai-processing-ms': '7' } }] });
    expect(json(outcome.text)).toEqual(body);
    expect(outcome.headers).toMatchObject({ 'openai-processing-ms': '7' });
  });

  it('is text that is not JSON', async () => {
    const text = 'upstream connect error' as unknown as Record<string, unknown>;
    const outcome = await run(TARGETS.openai, { upstream: [{ status: 503, body: text }] });
    expect(json(outcome.text)).toMatchObject({ error: { message: 'upstream connect error' } });
  });

  it('is a stream of events, which ends before the last one when it is cut', async () => {
    const delta = (content: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
    const stream = [
      delta('a'),
      delta('b'),
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      'data: [DONE]\n\n',
    ];
    const asked = { body: { stream: true } };
    const whole = await run(TARGETS.openai, { ...asked, upstream: [{ stream }] });
    expect(whole.stream).toMatchObject({ text: 'ab', ends: 'complete' });
    const cut = await run(TARGETS.openai, { ...asked, upstream: [{ stream: stream.slice(0, 3), fault: 'cut' }] });
    expect(cut.stream).toMatchObject({ text: 'ab', ends: 'error' });
  });

  it('has named events in an API that names them', async () => {
    const stream = [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }];
    const outcome = await run(TARGETS.claude, { body: { stream: true }, upstream: [{ stream }] });
    expect(outcome).toMatchObject({ status: 503, attempts: [{ error: 'overloaded' }] });
  });
});

it('gives each answer to one call, even when an earlier call left a connection open', async () => {
  const upstream = [{ status: 503 }, { fault: 'reset' as const }, { fault: 'refuse' as const }, { answer: 'Hello' }];
  const outcome = await run({ ...TARGETS.openai, retry: { attempts: 3 } }, { upstream });
  expect(outcome).toMatchObject({ status: 200, faults: [], headers: { 'x-gateway-retry-attempt-count': '3' } });
  expect(outcome.calls).toHaveLength(4);
});

describe('an error of the case', () => {
  it('is a call without an answer', async () => {
    const outcome = await run({ ...TARGETS.openai, retry: { attempts: 1 } }, { upstream: [{ status: 503 }] });
    expect(outcome.calls).toHaveLength(2);
    expect(outcome.faults).toEqual([
      'call 2 (POST https://api.openai.com/v1/chat/completions) has no answer: `upstream` has 1 answer',
    ]);
  });

  it('is an unused answer', async () => {
    const outcome = await run(TARGETS.openai, { upstream: [{ answer: 'One' }, { answer: 'Two' }] });
    expect(outcome.faults).toEqual(['`upstream` has 2 answers, but there was 1 call']);
  });

  it('is a pause between events when the call requests no stream', async () => {
    const upstream = [{ answer: 'Hello', pause: '3s' }];
    const { faults } = await run(TARGETS.openai, { upstream });
    expect(faults).toEqual(['answer 1 has a `pause`, but call 1 requests no stream; use `delay` for a late reply']);
    expect((await run(TARGETS.openai, { upstream, body: { stream: true } })).faults).toEqual([]);
  });

  it('is no call at all', async () => {
    const outcome = await run(TARGETS.openai, { body: { messages: 'Hi' }, upstream: [{ answer: 'One' }] });
    expect(outcome).toMatchObject({ status: 400, attempts: [] });
    expect(outcome.faults).toEqual(['`upstream` has 1 answer, but no upstream was called']);
  });
});

describe('a key', () => {
  const asked = async (key: object, parts: object) =>
    await run(
      TARGETS.openai,
      { key: 'team', ...parts },
      { keys: { keys: [{ id: 'team', key: '${env:TEAM_KEY}', ...key }] } },
    );

  it('has expired when the case’s time is later', async () => {
    const key = { expires_at: '2027-01-01T00:00:00Z' };
    expect(await asked(key, { upstream: [{}] })).toMatchObject({ status: 200, faults: [] });
    const late = await asked(key, { at: '2027-01-01T00:00:00Z' });
    expect(late).toMatchObject({ status: 401, attempts: [], faults: [] });
    expect(json(late.text)).toMatchObject({ error: { code: 'expired_api_key' } });
  });

  it('is used from an allowed address, with its other limits', async () => {
    const key = { networks: ['10.0.0.0/8'], models: ['gpt-4o'] };
    expect(await asked(key, { upstream: [{}] })).toMatchObject({ status: 200, faults: [] });
    expect(await asked({ ...key, models: ['gpt-3*'] }, {})).toMatchObject({ status: 403, faults: [] });
  });
});

it('has an explain id when the config enables it', async () => {
  const outcome = await run({ ...TARGETS.openai, reply_headers: ['explain_id'] }, { upstream: [{}] });
  expect(outcome.headers['x-gateway-explain-id']).toMatch(/^[0-9a-f-]{36}$/);
});

it('cuts a body like a broken kept-alive connection', async () => {
  const outcome = await run(TARGETS.claude, { upstream: [{ answer: 'Hello there', fault: 'cut' }] });
  expect(outcome.text).toContain('(UND_ERR_SOCKET)');
});

describe('the outcome', () => {
  it('contains each call with masked credentials, and the incremented counters', async () => {
    const outcome = await run(
      { strategy: { mode: 'fallback' }, targets: [TARGETS.vertex, TARGETS.claude] },
      { body: { temperature: 1.5, seed: 7 }, upstream: [{ status: 429 }, { answer: 'Hello' }] },
      { keys: { keys: [{ id: 'team', key: '${env:TEAM_KEY}' }] } },
    );
    expect(outcome.calls).toMatchObject([
      {
        method: 'POST',
        url: 'https://us-central1-aiplatform.googleapis.com/v1/projects/project-of-the-credentials/locations/us-central1/publishers/google/models/gemini-2.5-flash:generateContent',
        headers: { authorization: '[secret]', 'content-type': 'application/json' },
        body: { generationConfig: { temperature: 1.5, seed: 7 } },
      },
      {
        url: 'https://api.anthropic.com/v1/messages',
        headers: { 'x-api-key': '[secret]', 'anthropic-version': '2023-06-01' },
        body: { model: 'claude-sonnet-4-5', max_tokens: 64, temperature: 1 },
      },
    ]);
    expect(outcome.attempts.map(({ outbound }) => outbound)).toEqual(outcome.calls);
    expect(outcome.dropped).toEqual(outcome.headers['x-gateway-dropped-params']?.split(','));
    expect(outcome.dropped).toContain('seed');
    expect(outcome.metrics).toContainEqual({
      name: 'gatehouse_fallbacks_total',
      labels: { from_target: 'vertex', to_target: 'claude', reason: 'rate_limited' },
      value: 1,
    });
    expect(outcome.metrics.find(({ name }) => name === 'gatehouse_metric_label_overflow_total')).toBeUndefined();
  });

  it('contains the default of `max_tokens` that Claude demands', async () => {
    const { override_params: _, ...claude } = TARGETS.claude;
    const target = { ...claude, override_params: { model: 'claude-sonnet-4-5' }, default_max_tokens: 1000 };
    const outcome = await run(target, { upstream: [{ answer: 'Hello' }] });
    expect(outcome.headers['x-gateway-defaulted-params']).toBe('max_tokens=1000');
    const { headers } = await run(target, { body: { max_tokens: 5 }, upstream: [{ answer: 'Hello' }] });
    expect(headers).not.toHaveProperty('x-gateway-defaulted-params');
  });

  it('contains the calls for vectors of a semantic cache, beside those of its attempts', async () => {
    const config = { ...TARGETS.claude, cache: { mode: 'semantic', embeddings: '@openai/text-embedding-3-small' } };
    const question = (content: string) => ({ body: { model: 'any', messages: [{ role: 'user', content }] } });
    const outcomes = await runAll(config, {
      ...question('How do I change my password?'),
      upstream: [{ answer: 'Open the settings.' }],
      next: [
        {
          request: question('how do I reset my password'),
          upstream: [{ answer: 'vectors' }],
          expect: {},
        },
      ],
    });
    expect(outcomes.map(({ embeddings, attempts }) => [embeddings.length, attempts[0]?.outbound?.url])).toEqual([
      [0, 'https://api.anthropic.com/v1/messages'],
      [1, undefined],
    ]);
    expect(outcomes[1]!.embeddings[0]).toMatchObject({
      url: 'https://api.openai.com/v1/embeddings',
      headers: { authorization: '[secret]' },
      body: {
        model: 'text-embedding-3-small',
        input: expect.arrayContaining(['how do I reset my password']) as string[],
      },
    });
  });

  it('of a request with a stored file contains a fake of it, at its address in Cloud Storage', async () => {
    const file = { type: 'file', file: { file_id: 'file-gh019b76da800070008000000000000001' } };
    const content = [{ type: 'text', text: 'Summarise this.' }, file];
    const outcome = await run(
      TARGETS.vertex,
      { body: { messages: [{ role: 'user', content }] }, upstream: [{ answer: 'Hello' }] },
      { server: { files: { gcs: { provider: '@vertex', bucket: 'team-files' } } } },
    );
    expect(outcome.attempts[0]?.outbound?.body).toMatchObject({
      contents: [
        {
          parts: [
            {},
            {
              fileData: {
                mimeType: 'application/pdf',
                fileUri: 'gs://team-files/file-gh019b76da800070008000000000000001.pdf',
              },
            },
          ],
        },
      ],
    });
  });

  it('of a request with a prompt contains its rendered messages and its version', async () => {
    const outcome = await run(
      TARGETS.openai,
      {
        path: '/v1/prompts/greeting/completions',
        body: { variables: { name: 'Ada' } },
        upstream: [{ answer: 'Hello' }],
      },
      {
        prompts: {
          greeting: { versions: { 1: { model: '@openai/gpt-4o', variables: { name: {} }, text: 'Greet {{name}}.' } } },
        },
      },
    );
    expect(outcome.headers['x-gateway-prompt']).toBe('greeting@1');
    expect(outcome.attempts[0]?.outbound?.body).toMatchObject({ messages: [{ content: 'Greet Ada.' }] });
    expect(outcome.metrics).toContainEqual({
      name: 'gatehouse_prompt_requests_total',
      labels: { prompt: 'greeting', version: '1', outcome: 'success' },
      value: 1,
    });
  });

  it('is the same in every run, except for the trace', async () => {
    const once = async () => {
      const { headers, ...outcome } = await run(TARGETS.vertex, {
        body: { stream: true },
        upstream: [{ answer: 'Hello there' }],
      });
      return { ...outcome, headers: { ...headers, 'x-gateway-trace-id': '' } };
    };
    expect(await once()).toEqual(await once());
  });

  it('contains no secret of the settings', async () => {
    const env = {
      OPENAI_API_KEY: 'canary-openai-key',
      ANTHROPIC_API_KEY: 'canary-anthropic-key',
      TEAM_KEY: 'canary-team-key-0123',
    };
    const targets = [TARGETS.openai, TARGETS.claude];
    const setup = await setupOf({ gateway: { prod: { strategy: { mode: 'fallback' }, targets } } }, env);
    const quoting = (key: string) => ({ error: { type: 'api_error', message: `Incorrect key: ${key}` } });
    const upstream = [
      { status: 503, body: quoting('canary-openai-key') },
      { status: 503, body: quoting('canary-anthropic-key') },
    ];
    const [outcome] = await runCase(setup, caseOf({ key: 'team', upstream }));
    expect(outcome).toMatchObject({ status: 503, faults: [], attempts: [{}, {}] });
    expect(outcome?.text).toContain('Incorrect key');
    expect(JSON.stringify(outcome)).not.toContain('canary');
  });
});
