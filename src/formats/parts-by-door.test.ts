import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject } from './conversation.ts';
import { RequestFault } from './faults.ts';
import type { RequestTarget } from './request-target.ts';
import { formats } from './index.ts';
import { replyContext, requestTarget } from './contexts.testkit.ts';
import { finish } from './steps.ts';
import { FORMATS, MODELS } from './target-names.testkit.ts';
import { translateRequest } from './translate.ts';

/** A request whose only user message has these parts. */
const DOORS: Readonly<Record<FormatName, (parts: readonly JsonObject[]) => JsonObject>> = {
  'openai-chat': (content) => ({ model: 'm', messages: [{ role: 'user', content }] }),
  'openai-responses': (content) => ({ model: 'm', input: [{ role: 'user', content }] }),
  'anthropic-messages': (content) => ({ model: 'm', max_tokens: 99, messages: [{ role: 'user', content }] }),
  gemini: (parts) => ({ contents: [{ role: 'user', parts }] }),
};
const PLACES: Readonly<Record<FormatName, RegExp>> = {
  'openai-chat': /^messages\[0\]\.content\[1\]/,
  'openai-responses': /^input\[0\]\.content\[1\]/,
  'anthropic-messages': /^messages\[0\]\.content\[1\]/,
  gemini: /^contents\[0\]\.parts\[1\]/,
};
const TEXT: Readonly<Record<FormatName, JsonObject>> = {
  'openai-chat': { type: 'text', text: 'q' },
  'openai-responses': { type: 'input_text', text: 'q' },
  'anthropic-messages': { type: 'text', text: 'q' },
  gemini: { text: 'q' },
};
const PAIRS = FORMATS.flatMap((client) =>
  FORMATS.filter((one) => one !== client).map((upstream) => ({ client, upstream })),
);

function sent(client: FormatName, upstream: FormatName, body: JsonObject, target: Partial<RequestTarget> = {}) {
  return finish(
    translateRequest(body, {
      client: formats[client],
      upstream: formats[upstream],
      target: requestTarget({ model: MODELS[upstream], extensions: new Set(), defaultMaxTokens: 9, ...target }),
      reply: replyContext(),
    }),
  );
}

function faultOf(work: () => unknown): RequestFault {
  try {
    work();
  } catch (error) {
    if (error instanceof RequestFault) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = 'JVBERi0xLjQKJSVFT0YK';

describe.each(PAIRS)('content from $client to $upstream', ({ client, upstream }) => {
  const unknown = client === 'gemini' ? { novelty: { a: 1 } } : { type: 'novelty', a: 1 };
  const body = DOORS[client]([TEXT[client], unknown]);

  it('that the target cannot read is a 400 that names the part', () => {
    expect(faultOf(() => sent(client, upstream, body)).param).toMatch(PLACES[client]);
  });

  it('that the target cannot read is left out and reported where the settings say so', () => {
    const { losses, body: written } = sent(client, upstream, body, { onUnreadablePart: 'drop' });
    expect(losses).toMatchObject([{ action: 'dropped', param: expect.stringMatching(PLACES[client]) as unknown }]);
    expect(JSON.stringify(written)).not.toContain('novelty');
  });

  it.each<[string, JsonObject, string]>([
    ['input_text', { type: 'input_text', text: 'hello' }, 'hello'],
    ['text', { type: 'text', text: 'hello' }, 'hello'],
    ['input_image', { type: 'input_image', image_url: `data:image/png;base64,${PNG}` }, PNG],
    ['image_url', { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }, PNG],
    ['image', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }, PNG],
    ['input_file', { type: 'input_file', filename: 'd.pdf', file_data: `data:application/pdf;base64,${PDF}` }, PDF],
    ['file', { type: 'file', file: { filename: 'd.pdf', file_data: `data:application/pdf;base64,${PDF}` } }, PDF],
    ['document', { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } }, PDF],
  ])('is read from a part of the type %s, whatever API has it', (_, part, data) => {
    const { body: written } = sent(client, upstream, DOORS[client]([TEXT[client], part]));
    expect(JSON.stringify(written)).toContain(data);
  });

  const inline = (mime: string, data: string): JsonObject =>
    ({
      'openai-chat': mime.startsWith('image/')
        ? { type: 'image_url', image_url: { url: `data:${mime};base64,${data}` } }
        : { type: 'file', file: { filename: 'd', file_data: `data:${mime};base64,${data}` } },
      'openai-responses': mime.startsWith('image/')
        ? { type: 'input_image', image_url: `data:${mime};base64,${data}` }
        : { type: 'input_file', filename: 'd', file_data: `data:${mime};base64,${data}` },
      'anthropic-messages': {
        type: mime.startsWith('image/') ? 'image' : 'document',
        source: { type: 'base64', media_type: mime, data },
      },
      gemini: { inlineData: { mimeType: mime, data } },
    })[client];

  it.each([
    ['image/jpg', PNG, 'image/jpeg'],
    ['application/octet-stream', PDF, 'application/pdf'],
    ['application/octet-stream', PNG, 'image/png'],
  ])('of the type %s is sent as what it is', (mime, data, type) => {
    const { body: written } = sent(client, upstream, DOORS[client]([TEXT[client], inline(mime, data)]));
    expect(JSON.stringify(written)).toContain(type);
    expect(JSON.stringify(written)).not.toContain(mime);
  });

  const foreign: Readonly<Record<FormatName, JsonObject>> = {
    'openai-chat': { type: 'file', file: { file_id: upstream.startsWith('openai') ? 'file_011C' : 'file-abc' } },
    'openai-responses': { type: 'input_file', file_id: upstream.startsWith('openai') ? 'file_011C' : 'file-abc' },
    'anthropic-messages': { type: 'document', source: { type: 'file', file_id: 'file_011C' } },
    gemini: {
      fileData: {
        mimeType: 'application/pdf',
        fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc',
      },
    },
  };
  it('that is a file of another vendor is a 400 that names the part', () => {
    expect(faultOf(() => sent(client, upstream, DOORS[client]([TEXT[client], foreign[client]]))).param).toMatch(
      PLACES[client],
    );
  });

  it.each([
    [{ temperature: 3 }, 'temperature'],
    [{ temperature: -1 }, 'temperature'],
    [{ max: 0 }, 'max'],
    [{ n: 0 }, 'n'],
  ])('with a number that vendors refuse is a 400 by name: %j', (numbers, name) => {
    const { max, temperature, n } = numbers as { max?: number; temperature?: number; n?: number };
    // Only two of the APIs have several answers.
    if (n !== undefined && (client === 'openai-responses' || client === 'anthropic-messages')) return;
    const limit = { 'openai-chat': 'max_completion_tokens', 'openai-responses': 'max_output_tokens' };
    const key = { ...limit, 'anthropic-messages': 'max_tokens', gemini: 'maxOutputTokens' }[client];
    const fields = {
      ...(temperature !== undefined && { temperature }),
      ...(max !== undefined && { [key]: max }),
      ...(n !== undefined && { [client === 'gemini' ? 'candidateCount' : 'n']: n }),
    };
    const whole = DOORS[client]([TEXT[client]]);
    const written = client === 'gemini' ? { ...whole, generationConfig: fields } : { ...whole, ...fields };
    expect(faultOf(() => sent(client, upstream, written)).param).toContain(
      n !== undefined && client === 'gemini' ? 'candidateCount' : name,
    );
  });

  it('whose place of processing is promised is a 400 where the target cannot keep it', () => {
    const field = client === 'gemini' ? 'inferenceGeo' : 'inference_geo';
    const written = { ...DOORS[client]([TEXT[client]]), [field]: 'us' };
    if (upstream === 'anthropic-messages') expect(sent(client, upstream, written).body.inference_geo).toBe('us');
    else expect(faultOf(() => sent(client, upstream, written)).param).toBe(field);
    expect(faultOf(() => sent(client, upstream, written, { host: 'vertex' })).param).toBe(field);
  });

  it.each<[JsonObject, string | undefined]>([
    [{ provider: { only: ['azure'] } }, 'provider.only'],
    [{ provider: { zdr: true } }, 'provider.zdr'],
    [{ provider: { data_collection: 'deny' } }, 'provider.data_collection'],
    [{ provider: { sort: 'price', zdr: false, data_collection: 'allow' } }, undefined],
    [{ providerOptions: { gateway: { inferenceRegion: 'eu' } } }, 'providerOptions.gateway.inferenceRegion'],
    [{ providerOptions: { gateway: { zeroDataRetention: true } } }, 'providerOptions.gateway.zeroDataRetention'],
    [{ providerOptions: { gateway: { order: ['azure'] } } }, undefined],
  ])(
    'whose place is promised by another gateway’s field is a 400, and without a promise a loss: %j',
    (fields, param) => {
      const work = () => sent(client, upstream, { ...DOORS[client]([TEXT[client]]), ...fields });
      if (param !== undefined) expect(faultOf(work).param).toBe(param);
      else expect(work().losses.map((loss) => loss.param)).toEqual(Object.keys(fields));
    },
  );

  it('with more stop sequences than the target takes has the first ones, and reports the others', () => {
    const stop = ['1', '2', '3', '4', '5', '6'];
    const key = { 'openai-chat': 'stop', 'openai-responses': 'stop', 'anthropic-messages': 'stop_sequences' };
    const whole = DOORS[client]([TEXT[client]]);
    const body =
      client === 'gemini' ? { ...whole, generationConfig: { stopSequences: stop } } : { ...whole, [key[client]]: stop };
    const { body: written, losses } = sent(client, upstream, body);
    const most = { 'openai-chat': 4, 'openai-responses': 0, 'anthropic-messages': 6, gemini: 5 }[upstream];
    // The Responses API has no stop sequences.
    const left = client === 'openai-responses' ? 0 : most;
    const config = written.generationConfig as JsonObject | undefined;
    expect(written.stop ?? written.stop_sequences ?? config?.stopSequences ?? []).toEqual(stop.slice(0, left));
    expect(losses.some(({ param }) => /stop/i.test(param))).toBe(left < stop.length);
  });
});

describe('a number that vendors refuse, in a body of the chat API', () => {
  const cleaning = (fields: JsonObject, extensions: ReadonlySet<string> | undefined) => {
    const body: JsonObject = { model: 'm', messages: [], ...fields };
    const view = {
      has: (key: string) => Object.hasOwn(body, key),
      value: (key: string) => body[key],
      contains: () => false,
      mayMatch: () => false,
    };
    return () => formats['openai-chat'].passThrough?.clean(view, requestTarget({ extensions }));
  };

  it.each([
    ['n', 0],
    ['max_tokens', 0],
    ['max_completion_tokens', -1],
    ['temperature', 2.1],
  ])('%s: %j is a 400 by name at OpenAI, and goes as written to a server that resembles it', (name, value) => {
    expect(faultOf(cleaning({ [name]: value }, new Set())).param).toBe(name);
    expect(cleaning({ [name]: value }, undefined)()?.edits ?? []).toEqual([]);
  });
});

describe('a PDF by its address', () => {
  const pdf = { type: 'document', source: { type: 'url', url: 'https://files.example/a.pdf' } };
  const body = DOORS['anthropic-messages']([TEXT['anthropic-messages'], pdf]);

  it('is a 400 at OpenAI, and goes to a server that may take it', () => {
    expect(faultOf(() => sent('anthropic-messages', 'openai-chat', body)).param).toBe('messages[0].content[1]');
    const { body: written } = sent('anthropic-messages', 'openai-chat', body, { extensions: undefined });
    expect(JSON.stringify(written)).toContain('https://files.example/a.pdf');
  });
});

describe('numbers at a server that only resembles OpenAI', () => {
  it('are sent as written', () => {
    const body = { ...DOORS['anthropic-messages']([TEXT['anthropic-messages']]), temperature: 3 };
    const { body: written } = sent('anthropic-messages', 'openai-chat', body, { extensions: undefined });
    expect(written.temperature).toBe(3);
  });
});

describe('a thread of the system alone', () => {
  const system = [{ role: 'system', content: 'be brief' }];
  it.each<[FormatName, JsonObject]>([
    ['openai-chat', { model: 'm', messages: system }],
    ['openai-responses', { model: 'm', input: system }],
    ['anthropic-messages', { model: 'm', max_tokens: 9, system: 'be brief', messages: [] }],
    ['gemini', { systemInstruction: { parts: [{ text: 'be brief' }] }, contents: [] }],
  ])('is a message of the user at Claude, from %s', (client, body) => {
    const { body: written } = sent(client, 'anthropic-messages', body);
    expect(written.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'be brief' }] }]);
    expect(written.system).toBeUndefined();
  });
});

describe('a negative thinking budget', () => {
  const body = (budget: number) => ({
    ...DOORS['anthropic-messages']([TEXT['anthropic-messages']]),
    thinking: { type: 'enabled', budget_tokens: budget },
  });
  it('of -1 leaves the amount to the model, and a lower one is a 400', () => {
    expect(sent('anthropic-messages', 'gemini', body(-1)).body.generationConfig).toMatchObject({
      thinkingConfig: { thinkingBudget: -1 },
    });
    expect(faultOf(() => sent('anthropic-messages', 'gemini', body(-2))).param).toBe('thinking.budget_tokens');
  });
});

describe('a search of `web_search_options` with a limit', () => {
  it.each([
    ['openai-responses', { allowed_domains: ['a.example'] }, true],
    ['anthropic-messages', { blocked_domains: ['a.example'] }, true],
    ['gemini', { allowed_domains: ['a.example'] }, false],
    ['openai-responses', { blocked_domains: ['a.example'] }, false],
  ] as const)('at %s keeps it, or is left out and reported: %j', (upstream, limit, keeps) => {
    const body = { ...DOORS['openai-chat']([TEXT['openai-chat']]), web_search_options: limit };
    const { body: written, losses } = sent('openai-chat', upstream, body);
    expect(written.tools !== undefined).toBe(keeps);
    expect(JSON.stringify(written).includes('a.example')).toBe(keeps);
    expect(losses.some(({ param }) => param === 'web_search_options')).toBe(!keeps);
  });
});
