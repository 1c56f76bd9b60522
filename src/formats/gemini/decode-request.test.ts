import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import { deepFreeze, replyContext, requestTarget, encodeWith } from '../contexts.testkit.ts';
import { canonical, conversation } from './conversation.testkit.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeRequest } from './encode-request.ts';

const user = (...parts: object[]) => ({ role: 'user', parts });
const model = (...parts: object[]) => ({ role: 'model', parts });
const decode = (body: JsonObject) => decodeRequest(deepFreeze(body));
const turnsOf = (...contents: object[]) => decode({ contents }).turns;

describe('a request of this API', () => {
  it('may be written in camelCase or snake_case, with single values for lists', () => {
    const camel = {
      systemInstruction: { parts: [{ text: 's' }] },
      contents: [
        user({ inlineData: { mimeType: 'image/png', data: 'AA' } }),
        model({ functionCall: { name: 'f', args: {} }, thoughtSignature: 't' }),
      ],
      tools: [
        { functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object' } }] },
        { googleSearch: {} },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
      generationConfig: {
        maxOutputTokens: 5,
        stopSequences: ['x'],
        thinkingConfig: { thinkingBudget: 9, includeThoughts: true },
      },
      safetySettings: [{ category: 'c' }],
    };
    const snake = {
      system_instruction: { parts: { text: 's' } },
      contents: [
        { role: 'user', parts: { inline_data: { mime_type: 'image/png', data: 'AA' } } },
        model({ function_call: { name: 'f' }, thought_signature: 't' }),
      ],
      tools: [
        { function_declarations: { name: 'f', parameters_json_schema: { type: 'object' } } },
        { google_search: {} },
      ],
      tool_config: { function_calling_config: { mode: 'any', allowed_function_names: ['f'] } },
      generation_config: {
        max_output_tokens: '5',
        stop_sequences: 'x',
        thinking_config: { thinking_budget: 9, include_thoughts: true },
      },
      safety_settings: { category: 'c' },
    };
    expect(decode(snake)).toEqual(decode(camel));
    expect(decode(camel)).toMatchObject({
      maxTokens: 5,
      sampling: { stop: ['x'] },
      toolChoice: { mode: 'required', names: ['f'] },
      reasoning: { thinking: { type: 'enabled', budgetTokens: 9, display: 'summarized' } },
    });
  });

  it('pairs responses with their calls by id, else by name and order', () => {
    const response = (name: string, output: string, id?: string) => ({
      functionResponse: { name, response: { output }, ...(id && { id }) },
    });
    const turns = turnsOf(
      model({ functionCall: { name: 'f' } }, { functionCall: { name: 'g', id: 'G' } }, { functionCall: { name: 'f' } }),
      user(response('f', '1'), response('g', '2', 'G'), response('f', '3')),
    );
    const calls = turns[0]!.parts.map((part) => part.type === 'tool_call' && part.id);
    expect(new Set(calls).size).toBe(3);
    expect(turns[1]!.parts.map((part) => part.type === 'tool_result' && part.callId)).toEqual(calls);
  });

  it('leaves out a response that repeats the one of a call, and reports it', () => {
    const response = (id: string, output: string) => ({ functionResponse: { id, name: 'f', response: { output } } });
    const body = {
      contents: [
        model({ functionCall: { name: 'f', id: 'A' } }, { functionCall: { name: 'f', id: 'B' } }),
        // Gemini CLI 0.61 resumes a conversation so.
        user(response('A', '1'), response('A', '1'), response('B', '2'), response('B', '2')),
      ],
    };
    const { turns, unread } = decode(body);
    expect(turns[1]!.parts).toMatchObject([
      { callId: 'A', content: [{ text: '1' }] },
      { callId: 'B', content: [{ text: '2' }] },
    ]);
    expect(turns).toHaveLength(2);
    expect(unread?.map(({ param, action }) => [param, action])).toEqual([
      ['contents[1].parts[1]', 'dropped'],
      ['contents[1].parts[3]', 'dropped'],
    ]);
  });

  it('keeps a second response with an id that was called again', () => {
    const call = model({ functionCall: { name: 'f', id: 'A' } });
    const answer = user({ functionResponse: { id: 'A', response: {} } });
    expect(turnsOf(call, answer, call, answer).map(({ parts }) => parts.length)).toEqual([1, 1, 1, 1]);
  });

  it('takes the name of a response from the call with its id', () => {
    const call = model({ functionCall: { name: 'f', id: 'F' } });
    expect(turnsOf(call, user({ functionResponse: { id: 'F', response: {} } }))[1]!.parts).toMatchObject([
      { type: 'tool_result', callId: 'F', name: 'f' },
    ]);
  });

  it.each([
    [{ functionCall: { args: { a: 1 } } }, 'functionCall'],
    [{ function_call: { name: '' } }, 'functionCall'],
    [{ functionResponse: { id: 'x', response: {} } }, 'functionResponse'],
  ])('refuses %j, which names no function', (part, field) => {
    expect(() => turnsOf(user({ text: 'a' }), model({ text: 'b' }, part))).toThrow(
      expect.objectContaining({ code: 'missing_required_parameter', param: `contents[1].parts[1].${field}.name` }),
    );
  });

  it('turns parts beside function responses into a user turn after them', () => {
    const turns = turnsOf(user({ text: 'see' }, { functionResponse: { name: 'f', response: {} } }));
    expect(turns.map(({ role }) => role)).toEqual(['tool', 'user']);
  });

  it.each([
    [{ output: 'x' }, [{ type: 'text', text: 'x' }], undefined],
    [{ error: 'x' }, [{ type: 'text', text: 'x' }], true],
    [{ output: { a: 1 } }, [{ type: 'text', text: '{"output":{"a":1}}' }], undefined],
    [{ a: 1, error: 'x' }, [{ type: 'text', text: '{"a":1,"error":"x"}' }], undefined],
  ])('the response %j of a function is its result', (response, content, isError) => {
    const [turn] = turnsOf(user({ functionResponse: { name: 'f', response } }));
    expect(turn!.parts).toMatchObject([{ content, ...(isError && { isError }) }]);
  });

  it('reads thoughts, signatures without text, media and code', () => {
    const turns = turnsOf(
      model(
        { text: 't', thought: true },
        { thoughtSignature: 's' },
        { executableCode: { language: 'PYTHON', code: 'c' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'o' } },
      ),
      user(
        { fileData: { fileUri: 'gs://b/a.mp4', mimeType: 'video/mp4' } },
        { inlineData: { data: 'a-_', mimeType: 'application/pdf', displayName: 'n' } },
      ),
    );
    expect(turns[0]!.parts).toEqual([
      { type: 'thinking', text: 't' },
      { type: 'text', text: '', signature: 's' },
      { type: 'code', language: 'PYTHON', code: 'c' },
      { type: 'code_result', outcome: 'OUTCOME_OK', output: 'o' },
    ]);
    expect(turns[1]!.parts).toEqual([
      { type: 'media', media: 'video', mime: 'video/mp4', source: { kind: 'url', url: 'gs://b/a.mp4' } },
      { type: 'media', media: 'document', mime: 'application/pdf', source: { kind: 'data', data: 'a+/=' }, name: 'n' },
    ]);
  });

  it('keeps parts that only this API has verbatim', () => {
    const part = { fileData: { fileUri: 'https://youtu.be/x', mimeType: 'video/mp4' }, videoMetadata: { fps: 0.2 } };
    expect(turnsOf(user(part))[0]!.parts).toEqual([
      { type: 'media', media: 'video', mime: 'video/mp4', source: { kind: 'url', url: 'https://youtu.be/x' } },
      { type: 'opaque', format: 'gemini', value: { videoMetadata: { fps: 0.2 } }, attached: true },
    ]);
  });

  it.each([
    [{ contents: [{ role: 'system', parts: [] }] }, 'contents[0].role'],
    [{ contents: ['x'] }, 'contents[0]'],
    [{ contents: [user({ text: 'a' }), { role: 'user', parts: ['x'] }] }, 'contents[1].parts[0]'],
  ])('%j is refused with its place', (body, param) => {
    expect(() => decode(body)).toThrow(expect.objectContaining({ name: 'RequestFault', param }));
  });

  it('OpenAPI schemas become JSON Schema', () => {
    const parameters = {
      type: 'OBJECT',
      properties: {
        a: { type: 'STRING', nullable: true, maxLength: '5' },
        type: { type: 'ARRAY', items: { type: 'INTEGER' }, min_items: 1 },
        c: { anyOf: [{ type: 'NUMBER' }], nullable: true },
        d: { type: 1 },
      },
      propertyOrdering: ['a', 'type'],
    };
    const { tools } = decode({ tools: [{ functionDeclarations: [{ name: 'f', parameters }] }] });
    expect(tools).toEqual([
      {
        type: 'function',
        name: 'f',
        parameters: {
          type: 'object',
          properties: {
            a: { type: ['string', 'null'], maxLength: 5 },
            type: { type: 'array', items: { type: 'integer' }, minItems: 1 },
            c: { anyOf: [{ type: 'number' }, { type: 'null' }] },
            d: { type: 'string' },
          },
          propertyOrdering: ['a', 'type'],
        },
      },
    ]);
  });

  it.each([
    [{ thinkingBudget: 0 }, { thinking: { type: 'disabled' } }],
    [{ thinkingBudget: -1 }, { thinking: { type: 'adaptive' } }],
    [{ thinkingLevel: 'low' }, { effort: 'low' }],
    [
      { thinkingLevel: 'HIGH', includeThoughts: true },
      { effort: 'high', thinking: { type: 'adaptive', display: 'summarized' } },
    ],
    [{ includeThoughts: false }, { thinking: { type: 'adaptive', display: 'omitted' } }],
  ])('thinking %j', (thinkingConfig, reasoning) => {
    expect(decode({ generationConfig: { thinkingConfig } }).reasoning).toEqual(reasoning);
  });

  it('a function named __proto__ keeps its own fields, and gives them to no other', () => {
    const body = {
      contents: [user({ text: 'a' })],
      tools: [{ functionDeclarations: [{ name: '__proto__', response: { type: 'STRING' } }, { name: 'response' }] }],
    };
    const { extras = {} } = decode(body);
    const rests: object = extras['functionDeclarations'] ?? {};
    expect(Object.keys(rests)).toEqual(['__proto__']);
    expect('response' in rests).toBe(false);
  });

  it('fields that only this API has survive a round trip', () => {
    const body = {
      contents: [user({ text: 'a' })],
      tools: [{ functionDeclarations: [{ name: 'f', response: { type: 'STRING' } }] }, { fileSearch: { topK: 1 } }],
      toolConfig: {
        functionCallingConfig: { mode: 'AUTO', streamFunctionCallArguments: true },
        retrievalConfig: { languageCode: 'de' },
      },
      generationConfig: {
        responseMimeType: 'text/x.enum',
        responseSchema: { type: 'STRING', enum: ['a'] },
        audioTimestamp: true,
      },
      cachedContent: 'c',
      modelArmorConfig: { promptTemplateName: 'p' },
    };
    const target = requestTarget({ model: 'gemini-2.5-flash', host: 'vertex' });
    expect(encodeWith({ encodeRequest }, decode(body), target, replyContext())).toMatchObject({ body, losses: [] });
  });
});

it('a conversation that the wire can express survives a round trip, and encoding does not change it', () => {
  fc.assert(
    fc.property(conversation, fc.constantFrom('vertex', 'direct'), (said, host) => {
      const { tools = [] } = said;
      const searches = tools.some((tool) => tool.type === 'builtin' && tool.kind === 'web_search');
      // Before Gemini 3 search and functions exclude each other.
      fc.pre(!searches || tools.every(({ type }) => type === 'builtin'));
      const target = requestTarget({ model: 'gemini-2.5-flash', host, strict: false });
      const { body, losses } = encodeWith({ encodeRequest }, deepFreeze(said), target, replyContext());
      expect(losses).toEqual([]);
      expect(JSON.stringify({ ...body, contents: [] })).not.toContain('null');
      const heard = decodeRequest(JSON.parse(JSON.stringify(body)));
      expect(canonical({ ...heard, model: said.model })).toEqual(canonical(said));
    }),
  );
});
