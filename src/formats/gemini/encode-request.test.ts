import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Conversation, JsonObject, Tool } from '../conversation.ts';
import { deepFreeze, replyContext, requestTarget, encodeWith } from '../contexts.testkit.ts';
import { encodeRequest } from './encode-request.ts';

const base: Conversation = {
  model: 'm',
  turns: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  sampling: {},
  stream: false,
};

function encode(
  more: Partial<Conversation>,
  model = 'gemini-2.5-flash',
  strict = true,
  host: 'vertex' | 'direct' = 'vertex',
) {
  const target = requestTarget({ model, host, strict });
  const { body, headers, losses, reply } = encodeWith(
    { encodeRequest },
    deepFreeze({ ...base, ...more }),
    target,
    replyContext(),
  );
  const { contents: _, ...rest } = body;
  return { body: rest, headers, losses: losses.map(({ action, param }) => `${action} ${param}`), reply };
}

const config = (more: Partial<Conversation>, model?: string, strict?: boolean) => {
  const { body, losses } = encode(more, model, strict);
  return { config: body['generationConfig'], losses };
};

const functions = (...names: string[]): Tool[] => names.map((name) => ({ type: 'function', name }));

describe('generationConfig', () => {
  it('is absent when the request sets none of its fields', () => {
    expect(encode({})).toEqual({ body: {}, losses: [], reply: expect.anything() });
  });

  it('carries the parameters by Google’s names', () => {
    const sampling = {
      temperature: 0,
      topP: 0.5,
      topK: 3,
      frequencyPenalty: 1,
      presencePenalty: -1,
      seed: 7,
      stop: ['a'],
      n: 2,
      logprobs: true,
      topLogprobs: 5,
    };
    expect(config({ sampling, maxTokens: 9 })).toEqual({
      config: {
        maxOutputTokens: 9,
        temperature: 0,
        topP: 0.5,
        topK: 3,
        candidateCount: 2,
        seed: 7,
        stopSequences: ['a'],
        frequencyPenalty: 1,
        presencePenalty: -1,
        responseLogprobs: true,
        logprobs: 5,
      },
      losses: [],
    });
  });

  it('has no penalties on Gemini 3, where they are a 400', () => {
    expect(config({ sampling: { frequencyPenalty: 1, presencePenalty: 1 } }, 'gemini-3-flash-preview')).toEqual({
      config: undefined,
      losses: ['dropped frequency_penalty', 'dropped presence_penalty'],
    });
  });

  it('takes five stop sequences and twenty alternatives', () => {
    const { config: sent, losses } = config({ sampling: { stop: ['1', '2', '3', '4', '5', '6'], topLogprobs: 21 } });
    expect(sent).toEqual({ stopSequences: ['1', '2', '3', '4', '5'], logprobs: 20 });
    expect(losses).toEqual(['dropped stop', 'clamped top_logprobs']);
  });

  it.each<[Conversation['responseFormat'], object | undefined]>([
    [{ type: 'text' }, undefined],
    [{ type: 'json_object' }, { responseMimeType: 'application/json' }],
    [{ type: 'json_schema', name: 'n' }, { responseMimeType: 'application/json' }],
    [
      { type: 'json_schema', name: 'n', description: 'd', schema: { type: 'array', items: { const: 1 } } },
      {
        responseMimeType: 'application/json',
        responseJsonSchema: { type: 'array', items: { enum: [1], type: 'integer' }, description: 'd' },
      },
    ],
  ])('response format %j', (responseFormat, wire) => {
    expect(config({ responseFormat: responseFormat! })).toEqual({ config: wire, losses: [] });
  });

  it('requests speech with Google’s fields', () => {
    expect(config({ modalities: ['text'], audio: { voice: 'Kore', format: 'pcm16' } }).config).toEqual({
      responseModalities: ['TEXT', 'AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    });
  });

  it.each([
    [{ format: 'mp3' }, 'audio.format'],
    [{ voice: { id: 'v' } }, 'audio.voice'],
  ])('refuses audio %j', (audio, param) => {
    expect(() => config({ audio })).toThrow(expect.objectContaining({ code: 'unsupported_parameter', param }));
  });

  it('takes image settings in either spelling', () => {
    expect(config({ imageConfig: { aspect_ratio: '1:1', imageSize: '2K' } }).config).toEqual({
      imageConfig: { aspectRatio: '1:1', imageSize: '2K' },
    });
  });
});

describe('thinking by model', () => {
  const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
  const budgets = (...values: number[]) => values.map((thinkingBudget) => ({ thinkingBudget }));
  const levels = (...values: string[]) => values.map((thinkingLevel) => ({ thinkingLevel }));

  it.each([
    ['gemini-2.5-flash', budgets(0, 512, 1024, 8192, 24576, 24576, 24576), ['xhigh', 'max']],
    ['gemini-2.5-flash-preview-09-2025', budgets(0, 512, 1024, 8192, 24576, 24576, 24576), ['xhigh', 'max']],
    ['gemini-2.5-flash-lite', budgets(0, 512, 1024, 8192, 24576, 24576, 24576), ['xhigh', 'max']],
    ['gemini-2.5-pro', budgets(128, 512, 1024, 8192, 24576, 32768, 32768), ['none']],
    [
      'gemini-3-pro-preview',
      levels('LOW', 'LOW', 'LOW', 'HIGH', 'HIGH', 'HIGH', 'HIGH'),
      ['none', 'minimal', 'medium', 'xhigh', 'max'],
    ],
    [
      'gemini-3.1-pro-preview',
      levels('LOW', 'LOW', 'LOW', 'MEDIUM', 'HIGH', 'HIGH', 'HIGH'),
      ['none', 'minimal', 'xhigh', 'max'],
    ],
    [
      'gemini-3.7-flash',
      levels('LOW', 'LOW', 'LOW', 'MEDIUM', 'HIGH', 'HIGH', 'HIGH'),
      ['none', 'minimal', 'xhigh', 'max'],
    ],
    [
      'gemini-3-flash-preview',
      levels('MINIMAL', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'HIGH', 'HIGH'),
      ['none', 'xhigh', 'max'],
    ],
    [
      'gemini-flash-latest',
      levels('MINIMAL', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'HIGH', 'HIGH'),
      ['none', 'xhigh', 'max'],
    ],
  ])('%s', (model, wire, clamped) => {
    const sent = efforts.map((effort) => config({ reasoning: { effort } }, model));
    const configs = [{ ...wire[0], includeThoughts: false }, ...wire.slice(1)].map((thinkingConfig) => ({
      thinkingConfig,
    }));
    expect(sent.map(({ config }) => config)).toEqual(configs);
    expect(efforts.filter((_, index) => sent[index]!.losses.includes('clamped reasoning_effort'))).toEqual(clamped);
  });

  it.each(['gemini-1.5-pro', 'gemini-2.0-flash', 'gemini-2.5-flash-image', '1234567890', 'gemma-3-27b-it'])(
    '%s cannot think: a loss',
    (model) => {
      expect(config({ reasoning: { effort: 'high' } }, model)).toEqual({
        config: undefined,
        losses: ['dropped reasoning_effort'],
      });
      expect(config({ reasoning: { effort: 'none' } }, model)).toEqual({ config: undefined, losses: [] });
    },
  );

  it.each([
    ['gemini-2.5-pro', { type: 'enabled', budgetTokens: 2000 }, { thinkingBudget: 2000 }, []],
    ['gemini-2.5-pro', { type: 'enabled', budgetTokens: 64 }, { thinkingBudget: 128 }, ['clamped thinking']],
    ['gemini-2.5-flash', { type: 'enabled', budgetTokens: 99999 }, { thinkingBudget: 24576 }, ['clamped thinking']],
    ['gemini-2.5-flash', { type: 'enabled', budgetTokens: 0 }, { thinkingBudget: 0, includeThoughts: false }, []],
    ['gemini-2.5-flash', { type: 'disabled' }, { thinkingBudget: 0, includeThoughts: false }, []],
    ['gemini-2.5-flash', { type: 'adaptive' }, { thinkingBudget: -1 }, []],
    [
      'gemini-3-flash-preview',
      { type: 'enabled', budgetTokens: 1024 },
      { thinkingLevel: 'LOW' },
      ['downgraded thinking'],
    ],
    [
      'gemini-3-flash-preview',
      { type: 'enabled', budgetTokens: 8192 },
      { thinkingLevel: 'MEDIUM' },
      ['downgraded thinking'],
    ],
    [
      'gemini-3-flash-preview',
      { type: 'enabled', budgetTokens: 8193 },
      { thinkingLevel: 'HIGH' },
      ['downgraded thinking'],
    ],
    ['gemini-3-flash-preview', { type: 'adaptive' }, undefined, []],
    [
      'gemini-3-flash-preview',
      { type: 'disabled' },
      { thinkingLevel: 'MINIMAL', includeThoughts: false },
      ['clamped thinking'],
    ],
  ] as const)('%s with %j', (model, thinking, wire, losses) => {
    const sent = config({ reasoning: { thinking } }, model);
    expect(sent).toEqual({ config: wire && { thinkingConfig: wire }, losses });
  });

  it('explicit thinking overrides effort, and adaptive thinking takes its amount from it', () => {
    const sent = (thinking: { type: 'enabled'; budgetTokens: number } | { type: 'adaptive' }) =>
      config({ reasoning: { effort: 'low', thinking } }).config;
    expect(sent({ type: 'enabled', budgetTokens: 5000 })).toEqual({ thinkingConfig: { thinkingBudget: 5000 } });
    expect(sent({ type: 'adaptive' })).toEqual({ thinkingConfig: { thinkingBudget: 1024 } });
  });

  it('thoughts are requested only for clients that may see them', () => {
    const thinkingConfig = (reasoning: Conversation['reasoning'], strict: boolean) =>
      config({ reasoning: reasoning! }, 'gemini-3-flash-preview', strict).config;
    expect(thinkingConfig({ effort: 'high' }, false)).toEqual({
      thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true },
    });
    expect(thinkingConfig({ effort: 'high' }, true)).toEqual({ thinkingConfig: { thinkingLevel: 'HIGH' } });
    expect(thinkingConfig({ effort: 'none' }, false)).toMatchObject({ thinkingConfig: { includeThoughts: false } });
    expect(thinkingConfig({ thinking: { type: 'adaptive', display: 'omitted' } }, false)).toEqual({
      thinkingConfig: { includeThoughts: false },
    });
  });
});

describe('tools', () => {
  it('stand in one Tool object, built-in ones in their own', () => {
    const tools: Tool[] = [
      {
        type: 'function',
        name: 'f',
        description: 'd',
        parameters: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
      },
      { type: 'builtin', kind: 'url_context' },
      { type: 'function', name: 'g', parameters: { type: 'object', properties: {} } },
    ];
    expect(encode({ tools }).body).toEqual({
      tools: [
        {
          functionDeclarations: [
            {
              name: 'f',
              description: 'd',
              parametersJsonSchema: {
                type: 'object',
                properties: { a: { type: 'string' } },
                additionalProperties: false,
              },
            },
            { name: 'g' },
          ],
        },
        { urlContext: {} },
      ],
    });
  });

  it.each([
    ['gemini-2.5-flash', { tools: [{ functionDeclarations: [{ name: 'f' }] }] }, ['dropped tools[0]']],
    ['gemini-3-flash-preview', { tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: 'f' }] }] }, []],
  ])('of %s have a hosted search beside functions only if the model takes both', (model, expected, lost) => {
    const search: Tool = { type: 'builtin', kind: 'web_search' };
    const { body, losses } = encode({ tools: [search, { type: 'function', name: 'f' }] }, model);
    expect(body).toEqual(expected);
    expect(losses).toEqual(lost);
    expect(encode({ tools: [search] }, model).body).toEqual({ tools: [{ googleSearch: {} }] });
  });

  it.each([
    ['web_search', {}, { googleSearch: {} }],
    [
      'google_search',
      { timeRangeFilter: { startTime: 'a' } },
      { googleSearch: { timeRangeFilter: { startTime: 'a' } } },
    ],
    ['googleSearch', { type: 'object', properties: {}, additionalProperties: false }, { googleSearch: {} }],
    [
      'web_search_retrieval',
      { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC' } },
      { googleSearchRetrieval: { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC' } } },
    ],
    [
      'computer_use',
      { environment: 'ENVIRONMENT_BROWSER', excluded_predefined_functions: ['x'] },
      { computerUse: { environment: 'ENVIRONMENT_BROWSER', excludedPredefinedFunctions: ['x'] } },
    ],
    ['url_context', {}, { urlContext: {} }],
    ['code_execution', {}, { codeExecution: {} }],
    ['enterprise_web_search', {}, { enterpriseWebSearch: {} }],
  ])('the function name %s means a tool of Google', (name, parameters, wire) => {
    expect(encode({ tools: [{ type: 'function', name, parameters }] }, undefined, false)).toMatchObject({
      body: { tools: [wire] },
      losses: [],
    });
  });

  it('a function with such a name loses its description and parameters, which is reported', () => {
    const parameters = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
    const tool = { type: 'function', name: 'web_search', description: 'Searches.', parameters } as const;
    expect(encode({ tools: [{ ...tool, cache: { type: 'ephemeral' } }] })).toMatchObject({
      body: { tools: [{ googleSearch: {} }] },
      losses: [
        'dropped tools[0].function.parameters.properties',
        'dropped tools[0].function.description',
        'dropped tools[0].cache_control',
      ],
    });
  });

  it('a maps tool has its location in toolConfig', () => {
    const tools: Tool[] = [
      { type: 'builtin', kind: 'google_maps', options: { enable_widget: true, latLng: { latitude: 1, longitude: 2 } } },
    ];
    expect(encode({ tools }).body).toEqual({
      tools: [{ googleMaps: { enableWidget: true } }],
      toolConfig: { retrievalConfig: { latLng: { latitude: 1, longitude: 2 } } },
    });
  });

  it('web search options become search, and unsupported options are a loss', () => {
    expect(encode({ webSearch: { search_context_size: 'low' } })).toMatchObject({
      body: { tools: [{ googleSearch: {} }] },
      losses: ['dropped web_search_options.search_context_size'],
    });
    const options = { type: 'web_search_20250305', name: 'web_search', blocked_domains: ['a.com'], max_uses: 3 };
    expect(encode({ tools: [{ type: 'builtin', kind: 'web_search', options }] })).toMatchObject({
      body: { tools: [{ googleSearch: { excludeDomains: ['a.com'] } }] },
      losses: ['dropped tools[0].max_uses'],
    });
  });

  it('a free-text tool is a function with one string, and the reply decoder knows its name', () => {
    const { body, reply, losses } = encode({ tools: [{ type: 'custom', name: 'sh', format: { type: 'grammar' } }] });
    expect(body['tools']).toMatchObject([
      { functionDeclarations: [{ name: 'sh', parametersJsonSchema: { required: ['input'] } }] },
    ]);
    expect(reply.customTools).toEqual(new Set(['sh']));
    expect(losses).toEqual(['downgraded tools[0].custom.format']);
  });

  it.each<[string, Partial<Conversation>, object | undefined]>([
    ['none chosen', {}, undefined],
    ['auto', { toolChoice: { mode: 'auto' } }, { mode: 'AUTO' }],
    ['none', { toolChoice: { mode: 'none' } }, { mode: 'NONE' }],
    ['required', { toolChoice: { mode: 'required' } }, { mode: 'ANY' }],
    ['a named one', { toolChoice: { mode: 'required', names: ['g'] } }, { mode: 'ANY', allowedFunctionNames: ['g'] }],
    ['strict', { tools: [{ type: 'function', name: 'f', strict: true }] }, { mode: 'VALIDATED' }],
    [
      'strict and required',
      { tools: [{ type: 'function', name: 'f', strict: true }], toolChoice: { mode: 'required' } },
      { mode: 'ANY' },
    ],
  ])('tool choice: %s', (_, more, wire) => {
    const { body } = encode({ tools: functions('f', 'g'), ...more });
    expect(body['toolConfig']).toEqual(wire && { functionCallingConfig: wire });
  });

  it('auto among some tools offers only these', () => {
    const { body } = encode({ tools: functions('f', 'g', 'h'), toolChoice: { mode: 'auto', names: ['h', 'f'] } });
    expect(body).toMatchObject({ tools: [{ functionDeclarations: [{ name: 'f' }, { name: 'h' }] }] });
    expect(body['toolConfig']).toEqual({ functionCallingConfig: { mode: 'AUTO' } });
  });

  it('no calling config goes without declarations', () => {
    const { body, losses } = encode({ tools: functions('web_search'), toolChoice: { mode: 'required' } });
    expect(body).toEqual({ tools: [{ googleSearch: {} }] });
    expect(losses).toEqual(['downgraded tool_choice']);
  });

  it('models before 2.5 cannot validate calls', () => {
    const { body, losses } = encode({ tools: [{ type: 'function', name: 'f', strict: true }] }, 'gemini-2.0-flash');
    expect(body['toolConfig']).toBeUndefined();
    expect(losses).toEqual(['dropped tools[0].function.strict']);
  });

  it('schema keywords that move to the description are reported with their tool', () => {
    const tools: Tool[] = [
      {
        type: 'function',
        name: 'f',
        parameters: { type: 'object', properties: { a: { type: 'string', pattern: 'x' } } },
      },
    ];
    expect(encode({ tools }).losses).toEqual(['downgraded tools[0].function.parameters']);
  });
});

describe('everything else', () => {
  it('each field that only OpenAI has is a loss', () => {
    const { body, losses } = encode({
      user: 'u',
      metadata: { a: 'b' },
      verbosity: 'low',
      serviceTier: 'scale',
      parallelToolCalls: false,
      extras: { logit_bias: {}, prediction: {}, store: true },
      extrasFormat: 'openai-chat',
    });
    expect(body).toEqual({});
    expect(losses.sort()).toEqual(
      ['logit_bias', 'metadata', 'parallel_tool_calls', 'prediction', 'service_tier', 'store', 'user', 'verbosity'].map(
        (param) => `dropped ${param}`,
      ),
    );
  });

  it('fields of this API are sent unchanged, also inside partly decoded objects', () => {
    const extras = {
      cachedContent: 'c',
      generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW', temperature: 9 },
    };
    expect(encode({ sampling: { temperature: 1 }, extras, extrasFormat: 'gemini' })).toMatchObject({
      body: { cachedContent: 'c', generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW', temperature: 1 } },
      losses: [],
    });
  });

  it('safety settings and labels are sent, labels to Vertex only', () => {
    const more = {
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }],
      labels: { team: 'a-1' },
    };
    expect(encode(more)).toMatchObject({ body: more, losses: [] });
    expect(encode(more, 'gemini-2.5-flash', true, 'direct')).toMatchObject({ losses: ['dropped labels'] });
  });

  it('the Developer API takes the service tier in the body', () => {
    expect(encode({ serviceTier: 'priority' }, 'gemini-2.5-flash', true, 'direct').body).toEqual({
      serviceTier: 'priority',
    });
    expect(encode({ serviceTier: 'auto' })).toMatchObject({ body: {}, losses: [] });
  });

  it('Vertex takes it in a header, and only there', () => {
    const { body, headers, losses } = encode({ serviceTier: 'flex' });
    expect({ body, headers, losses }).toEqual({
      body: {},
      headers: { 'x-vertex-ai-llm-shared-request-type': 'flex' },
      losses: [],
    });
  });

  it('the switch for server-side tools is sent to the Developer API only', () => {
    const switched = { includeServerSideToolInvocations: true };
    const lost = ['dropped toolConfig.includeServerSideToolInvocations'];
    const send = (toolConfig: object, host: 'vertex' | 'direct') => {
      const { body, losses } = encode(
        { extras: { cachedContent: 'c', toolConfig }, extrasFormat: 'gemini' },
        'gemini-3-flash-preview',
        true,
        host,
      );
      return { body, losses };
    };
    expect(send(switched, 'direct')).toEqual({ body: { cachedContent: 'c', toolConfig: switched }, losses: [] });
    expect(send(switched, 'vertex')).toEqual({ body: { cachedContent: 'c' }, losses: lost });
    const toolConfig = { retrievalConfig: { languageCode: 'de' } };
    expect(send({ ...switched, ...toolConfig }, 'vertex')).toEqual({
      body: { cachedContent: 'c', toolConfig },
      losses: lost,
    });
  });

  it('schemas of any content are copied and never changed', () => {
    const schema = fc.letrec<{ node: JsonObject; inner: JsonObject }>((tie) => ({
      // The first choice is a leaf, which deep places fall back to.
      inner: fc.oneof({ maxDepth: 3 }, fc.constant({ type: 'string', pattern: 'x' }), tie('node')),
      node: fc
        .record(
          {
            type: fc.constantFrom('object', 'array', 'string', ['integer', 'null']),
            title: fc.string(),
            enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.boolean())),
            format: fc.constantFrom('date', 'email'),
            pattern: fc.string(),
            required: fc.array(fc.string()),
            $ref: fc.constantFrom('#/$defs/a', '#/definitions/a', '#'),
            items: tie('inner'),
            properties: fc.dictionary(fc.constantFrom('a', '__proto__', 'additionalProperties'), tie('inner')),
            $defs: fc.dictionary(fc.constantFrom('a', 'b'), tie('inner'), { maxKeys: 2 }),
            allOf: fc.array(tie('inner'), { maxLength: 2 }),
            oneOf: fc.array(tie('inner'), { maxLength: 2 }),
            additionalProperties: fc.oneof(fc.boolean(), tie('inner')),
          },
          { requiredKeys: [] },
        )
        .map((fields): JsonObject => ({ ...fields })),
    })).node;
    fc.assert(
      fc.property(schema, (schema) => {
        const before = JSON.stringify(schema);
        const tool: Tool = { type: 'function', name: 'f', parameters: schema };
        // encode() freezes what it is given: a write would throw.
        const first = encode({ tools: [tool], responseFormat: { type: 'json_schema', schema } });
        expect(JSON.stringify(schema)).toBe(before);
        expect(encode({ tools: [tool], responseFormat: { type: 'json_schema', schema } }).body).toEqual(first.body);
      }),
    );
  });
});

describe('computer use', () => {
  const asked = (more: Partial<Conversation>, strict: boolean) => {
    const conversation = { ...base, tools: functions('computer_use'), ...more };
    const target = requestTarget({ model: 'gemini-2.5-computer-use-preview-10-2025', strict });
    const { losses, hint } = encodeWith({ encodeRequest }, deepFreeze(conversation), target, replyContext());
    return { losses: losses.map(({ action, param }) => `${action} ${param}`), hint };
  };

  it('gets a hint to show signatures only when that helps', () => {
    expect(asked({}, true)).toMatchObject({
      losses: ['downgraded thought_signature'],
      hint: expect.stringContaining('x-gateway-strict-open-ai-compliance') as string,
    });
    expect(asked({}, false)).toEqual({ losses: [], hint: undefined });
    // Its calls carry their signatures in their ids.
    expect(asked({ extrasFormat: 'anthropic-messages' }, true)).toEqual({ losses: [], hint: undefined });
  });
});
