import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject } from '../conversation.ts';
import { writeEnvelope, writeSummary } from '../envelope.ts';
import { formats } from '../index.ts';

const requestTexts = (format: FormatName, body: JsonObject) => formats[format].texts!.request(body);

/** `role kind place: text` */
const shown = (...of: Parameters<typeof requestTexts>): readonly string[] =>
  requestTexts(...of).texts.map(({ role, kind, path, text }) => `${role} ${kind} ${path.join('.')}: ${text}`);
const media = (...of: Parameters<typeof requestTexts>): readonly string[] =>
  requestTexts(...of).media.map(({ role, type, path }) => `${role} ${type} ${path.join('.')}`);

const CALL = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"q":1}' } };

describe('the texts of a request', () => {
  it('of chat are those of messages, parts, calls and results', () => {
    const body = {
      messages: [
        { role: 'developer', content: 'be kind' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'hi' },
            { type: 'image_url', image_url: { url: 'data:' } },
          ],
        },
        { role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'x' } }] },
        { role: 'assistant', content: null, refusal: 'no', reasoning_content: 'hm', tool_calls: [CALL] },
        { role: 'tool', content: '21 °C' },
      ],
    };
    expect(shown('openai-chat', body)).toEqual([
      'system text messages.0.content: be kind',
      'user text messages.1.content.0.text: hi',
      'user file_name messages.2.content.0.file.filename: a.pdf',
      'assistant thinking messages.3.reasoning_content: hm',
      'assistant refusal messages.3.refusal: no',
      'assistant tool_arguments messages.3.tool_calls.0.function.arguments: {"q":1}',
      'tool tool_result messages.4.content: 21 °C',
    ]);
    expect(media('openai-chat', body)).toEqual([
      'user image_url messages.1.content.1',
      'user file messages.2.content.0',
    ]);
  });

  it('of Messages include the system, results of tools, documents and thinking', () => {
    const body = {
      system: [{ type: 'text', text: 'be kind' }],
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'tool_use', id: 't', name: 'f', input: { q: 1 } },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: '21 °C' }] }],
        },
        {
          role: 'user',
          content: [{ type: 'document', title: 'Plan', context: 'c', source: { type: 'text', data: 'words' } }],
        },
        { role: 'user', content: [{ type: 'image', source: { type: 'base64', data: 'x' } }] },
      ],
    };
    expect(shown('anthropic-messages', body)).toEqual([
      'system text system.0.text: be kind',
      'assistant thinking messages.0.content.0.thinking: hm',
      'assistant tool_arguments messages.0.content.1.input: {"q":1}',
      'tool tool_result messages.1.content.0.content.0.text: 21 °C',
      'user file_name messages.2.content.0.title: Plan',
      'user text messages.2.content.0.context: c',
      'user text messages.2.content.0.source.data: words',
    ]);
    expect(media('anthropic-messages', body)).toEqual(['user image messages.3.content.0']);
    expect(requestTexts('anthropic-messages', body).texts[1]).toMatchObject({ signed: true });
  });

  it.each<[FormatName, JsonObject, readonly string[], readonly string[]]>([
    ...(['openai-chat', 'anthropic-messages'] as const).map(
      (format): [FormatName, JsonObject, readonly string[], readonly string[]] => [
        format,
        { messages: [{ role: 'user', content: [{ type: 'text', text: 'own', source: { type: 'text', data: 'x' } }] }] },
        ['user text messages.0.content.0.source.data: x', 'user text messages.0.content.0.text: own'],
        [],
      ],
    ),
    [
      'openai-chat',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'a' }, content: 'x' }] }] },
      ['user text messages.0.content.0.content: x'],
      ['user image_url messages.0.content.0'],
    ],
    [
      'anthropic-messages',
      { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'base64' }, content: 'x' }] }] },
      ['user text messages.0.content.0.content: x'],
      ['user document messages.0.content.0'],
    ],
    ['gemini', { contents: [{ parts: { text: 'alone' } }] }, ['user text contents.0.parts.text: alone'], []],
    ['gemini', { systemInstruction: 'be kind' }, ['system text systemInstruction: be kind'], []],
    [
      'gemini',
      { contents: [{ parts: [{ functionCall: null, function_call: { args: { q: 1 } } }] }] },
      ['assistant tool_arguments contents.0.parts.0.function_call.args: {"q":1}'],
      [],
    ],
    [
      'gemini',
      { contents: [{ parts: [{ inlineData: null, inline_data: { data: 'x' } }] }] },
      [],
      ['user inline_data contents.0.parts.0'],
    ],
  ])('of %s are read in the forms that its decoder takes: %j', (format, body, texts, named) => {
    expect([shown(format, body), media(format, body)]).toEqual([texts, named]);
  });

  it('of Responses are those of items, calls and their outputs', () => {
    const body = {
      instructions: 'be kind',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'hi' },
            { type: 'input_file', filename: 'a.pdf' },
          ],
        },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'x' },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: '21 °C' },
        { type: 'custom_tool_call', call_id: 'd', name: 'g', input: 'raw' },
      ],
    };
    expect(shown('openai-responses', body)).toEqual([
      'system text instructions: be kind',
      'user text input.0.content.0.text: hi',
      'user file_name input.0.content.1.filename: a.pdf',
      'assistant thinking input.1.summary.0.text: hm',
      'assistant tool_arguments input.2.arguments: {}',
      'tool tool_result input.3.output: 21 °C',
      'assistant tool_arguments input.4.input: raw',
    ]);
    expect(shown('openai-responses', { input: 'hi' })).toEqual(['user text input: hi']);
  });

  it('of Gemini are those of both spellings, calls and their results', () => {
    const body = {
      system_instruction: { parts: [{ text: 'be kind' }] },
      contents: [
        { role: 'user', parts: [{ text: 'hi' }, { inlineData: { mimeType: 'image/png', data: 'x' } }] },
        { role: 'model', parts: [{ text: 'hm', thought: true }, { functionCall: { name: 'f', args: { q: 1 } } }] },
        { role: 'user', parts: [{ function_response: { name: 'f', response: { t: 21 } } }] },
      ],
    };
    expect(shown('gemini', body)).toEqual([
      'system text system_instruction.parts.0.text: be kind',
      'user text contents.0.parts.0.text: hi',
      'assistant thinking contents.1.parts.0.text: hm',
      'assistant tool_arguments contents.1.parts.1.functionCall.args: {"q":1}',
      'tool tool_result contents.2.parts.0.function_response.response: {"t":21}',
    ]);
    expect(media('gemini', body)).toEqual(['user inlineData contents.0.parts.1']);
    expect(shown('gemini', { generateContentRequest: { contents: [{ parts: [{ text: 'count' }] }] } })).toEqual([
      'user text generateContentRequest.contents.0.parts.0.text: count',
    ]);
    expect(shown('gemini', { requests: [{ content: { parts: [{ text: 'embed' }] } }] })).toEqual([
      'user text requests.0.content.parts.0.text: embed',
    ]);
  });

  it('of Gemini are found in every form that ProtoJSON and this gateway take', () => {
    const document = { type: 'document', title: 'Plan', source: { type: 'text', data: 'five' } };
    const body = {
      systemInstruction: 'one',
      contents: {
        parts: [
          { text: 'two' },
          { functionCall: null, function_call: { args: { q: 'three' } } },
          { functionCall: { args: {} }, function_call: { args: { q: 'four' } } },
          document,
          { inlineData: null, inline_data: { data: 'x' } },
          { toolResponse: { id: 't', response: { r: 'six' } } },
        ],
      },
    };
    expect(shown('gemini', body)).toEqual([
      'system text systemInstruction: one',
      'user text contents.parts.0.text: two',
      'assistant tool_arguments contents.parts.1.function_call.args: {"q":"three"}',
      'assistant tool_arguments contents.parts.2.functionCall.args: {}',
      'assistant tool_arguments contents.parts.2.function_call.args: {"q":"four"}',
      'user file_name contents.parts.3.title: Plan',
      'user text contents.parts.3.source.data: five',
      'tool tool_result contents.parts.5.toolResponse: {"id":"t","response":{"r":"six"}}',
    ]);
    expect(media('gemini', body)).toEqual(['user inline_data contents.parts.4']);
    expect(shown('gemini', { contents: [{ role: 'model', parts: { text: 'one part' } }] })).toEqual([
      'assistant text contents.0.parts.text: one part',
    ]);
    expect(shown('gemini', { content: { parts: [] }, embedContentConfig: { title: 'a' } })).toEqual([
      'user text embedContentConfig.title: a',
    ]);
  });

  it('are also what a caller writes as the work of hosted tools', () => {
    const code = {
      type: 'code_interpreter_call',
      id: 'ci',
      code: 'print(1)',
      outputs: [{ type: 'logs', logs: 'one' }],
    };
    const body = {
      input: [
        code,
        { type: 'mcp_call', id: 'm', name: 'f', arguments: '{"q":1}', output: 'found' },
        { type: 'image_generation_call', id: 'i', result: 'AAAA' },
        { type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: 'data:' } },
      ],
    };
    expect(shown('openai-responses', body)).toEqual([
      'assistant tool_arguments input.0.code: print(1)',
      'tool tool_result input.0.outputs.0: {"type":"logs","logs":"one"}',
      'assistant tool_arguments input.1.arguments: {"q":1}',
      'tool tool_result input.1.output: found',
    ]);
    expect(media('openai-responses', body)).toEqual([
      'assistant image_generation_call input.2',
      'tool computer_screenshot input.3.output',
    ]);
    const result = { type: 'code_execution_result', stdout: 'out', stderr: 'err', return_code: 0, content: [] };
    const messages = [{ role: 'user', content: [{ type: 'code_execution_tool_result', content: result }] }];
    expect(shown('anthropic-messages', { messages })).toEqual([
      'tool tool_result messages.0.content.0.content.stdout: out',
      'tool tool_result messages.0.content.0.content.stderr: err',
    ]);
    const parts = [
      { executableCode: { code: 'a' } },
      { code_execution_result: { output: 'b' } },
      { functionResponse: { response: {}, parts: [{ inlineData: { data: 'x' } }] } },
      { text: 'c', inlineData: { data: 'x' } },
    ];
    expect(shown('gemini', { contents: [{ parts }] })).toEqual([
      'assistant tool_arguments contents.0.parts.0.executableCode.code: a',
      'tool tool_result contents.0.parts.1.code_execution_result.output: b',
      'tool tool_result contents.0.parts.2.functionResponse.response: {}',
      'user text contents.0.parts.3.text: c',
    ]);
    expect(media('gemini', { contents: [{ parts }] })).toEqual([
      'tool inlineData contents.0.parts.2.functionResponse.parts.0',
      'user inlineData contents.0.parts.3',
    ]);
  });

  it('of an assistant are those of all forms of its content', () => {
    const message = {
      role: 'assistant',
      content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'one' }] }],
      content_parts: [{ type: 'text', text: 'two' }],
      content_blocks: [
        { type: 'code', language: 'PYTHON', code: 'three' },
        { type: 'code_result', outcome: 'OUTCOME_OK', output: 'four' },
      ],
    };
    expect(shown('openai-chat', { messages: [message] })).toEqual([
      'assistant thinking messages.0.content.0.thinking.0.text: one',
      'assistant text messages.0.content_blocks.0.code: three',
      'assistant text messages.0.content_blocks.1.output: four',
      'assistant text messages.0.content_parts.0.text: two',
    ]);
    expect(media('openai-chat', { messages: [message] })).toEqual([]);
    const item = { type: 'mcp_approval_response', approve: false, reason: 'five' };
    expect(shown('openai-responses', { input: [item] })).toEqual(['user text input.0.reason: five']);
  });

  it('are also in definitions of tools and of the answer, but for credentials', () => {
    const schema = { properties: { a: { description: 'in a schema' } } };
    const server = { type: 'mcp', server_description: 'of a server', headers: { a: 'b' }, authorization: 'secret' };
    const tool = { name: 'f', description: 'of a tool', parameters: schema };
    const of = (format: FormatName, body: JsonObject) =>
      requestTexts(format, body).texts.map(({ kind, path, text }) => `${kind} ${path.join('.')}: ${text}`);
    const json = JSON.stringify(schema);
    expect(
      of('openai-chat', {
        tools: [{ type: 'function', function: tool }],
        response_format: { type: 'json_schema', json_schema: { schema } },
        chat_template_kwargs: { name: 'x' },
        chat_template: '{{ x }}',
      }),
    ).toEqual([
      `definition tools.0.function: ${JSON.stringify(tool)}`,
      `definition response_format: {"type":"json_schema","json_schema":{"schema":${json}}}`,
      'definition chat_template: {{ x }}',
      'definition chat_template_kwargs: {"name":"x"}',
    ]);
    expect(
      of('openai-responses', { tools: [{ type: 'function', ...tool }, server], text: { format: { schema } } }),
    ).toEqual([
      'definition tools.0.description: of a tool',
      `definition tools.0.parameters: ${json}`,
      'definition tools.1.server_description: of a server',
      `definition text.format: {"schema":${json}}`,
    ]);
    expect(of('anthropic-messages', { tools: [{ ...tool, input_examples: [{ a: 'b' }] }] })).toEqual([
      'definition tools.0.description: of a tool',
      `definition tools.0.parameters: ${json}`,
      'definition tools.0.input_examples.0: {"a":"b"}',
    ]);
    const declared = { tools: [{ functionDeclarations: [tool] }], generation_config: { responseSchema: schema } };
    expect(of('gemini', declared)).toEqual([
      `definition tools.0.functionDeclarations.0: ${JSON.stringify(tool)}`,
      `definition generation_config.responseSchema: ${json}`,
    ]);
  });

  it('are also in `extra_body`, which some upstreams lift', () => {
    const content = [{ type: 'image_url', image_url: { url: 'data:' } }];
    const body = { input: 'one', extra_body: { input: 'two', messages: [{ role: 'user', content }] } };
    for (const format of ['openai-chat', 'openai-responses'] as const)
      expect(shown(format, body)).toEqual(['user text input: one', 'user text extra_body.input: two']);
    expect(media('openai-chat', body)).toEqual(['user image_url extra_body.messages.0.content.0']);
  });

  it('are also in envelopes, which any client can write', () => {
    const thought = writeEnvelope({ kind: 'thinking', maker: 'other', signature: 's', text: 'two' });
    const input = [
      { type: 'compaction', encrypted_content: writeSummary('one') },
      { type: 'reasoning', summary: [], encrypted_content: thought },
      { type: 'reasoning', summary: [], encrypted_content: 'of OpenAI' },
    ];
    expect(shown('openai-responses', { input })).toEqual([
      'user text input.0.encrypted_content: one',
      'assistant thinking input.1.encrypted_content: two',
    ]);
    expect(
      requestTexts('openai-responses', { input: [{ ...input[2], summary: [{ text: 'a' }] }] }).texts,
    ).toMatchObject([{ text: 'a', signed: true }]);
    const [summary, signed] = requestTexts('openai-responses', { input }).texts;
    expect(summary?.written?.('masked')).toBe(writeSummary('masked'));
    expect(signed).toMatchObject({ signed: true });
    const content = [{ type: 'thinking', thinking: '', signature: thought }];
    expect(shown('anthropic-messages', { messages: [{ role: 'assistant', content }] })).toContain(
      'assistant thinking messages.0.content.0.signature: two',
    );
    const part = { functionCall: { name: 'f' }, thoughtSignature: Buffer.from(thought).toString('base64') };
    expect(shown('gemini', { contents: [{ role: 'model', parts: [part] }] })).toEqual([
      'assistant thinking contents.0.parts.0.thoughtSignature: two',
    ]);
  });

  it.each([
    ['a picture with content', { type: 'image_url', image_url: { url: 'data:' }, content: 'hi' }, 'image_url'],
    ['a picture with a source', { type: 'input_image', source: { type: 'text', data: 'hi' } }, 'input_image'],
    ['a file with content', { type: 'document', source: { type: 'base64', data: 'x' }, content: 'hi' }, 'document'],
    ['a piece of a part', { index: 0, delta: { text: 'for' }, text: 'hi' }, 'text'],
  ])('do not hide %s', (_, part, type) => {
    const messages = [{ role: 'assistant', content: 'x', content_blocks: [part] }];
    expect(media('openai-chat', { messages })).toEqual([`assistant ${type} messages.0.content_blocks.0`]);
  });

  it('do not hide pictures and tokens', () => {
    const content = [{ type: 'image_url', image_url: { url: 'data:' }, text: 'hi' }];
    expect(media('openai-chat', { messages: [{ role: 'user', content }] })).toEqual([
      'user image_url messages.0.content.0',
    ]);
    for (const prompt of [[1, 2], [[1, 2]], ['hi', [1]]])
      expect(media('openai-chat', { prompt })).toEqual(['user tokens prompt']);
    const instances = [{ text: 'a', image: { bytesBase64Encoded: 'x' } }];
    expect(shown('gemini', { instances, parameters: { negativePrompt: 'b' } })).toEqual([
      'user text instances.0.text: a',
      'user text parameters.negativePrompt: b',
    ]);
    expect(media('gemini', { instances })).toEqual(['user image instances.0.image']);
  });

  it.each([
    ['completions', { prompt: ['one', 'two'] }, ['user text prompt.0: one', 'user text prompt.1: two']],
    ['embeddings', { input: 'one' }, ['user text input: one']],
    [
      'images',
      { prompt: 'a cat', negative_prompt: 'a dog' },
      ['user text prompt: a cat', 'user text negative_prompt: a dog'],
    ],
    [
      'chat with documents',
      { messages: [], documents: [{ title: 'a', text: 'b' }] },
      ['user file_name documents.0.title: a', 'user text documents.0.text: b'],
    ],
    ['tokens instead of texts', { prompt: [1, 2, [3]] }, []],
  ])('of %s are its prompts', (_, body, expected) => {
    expect(shown('openai-chat', body)).toEqual(expected);
  });

  it('of a body that is not as its API says are left out', () => {
    for (const odd of [null, 'x', 1, [], [null], [1], {}, { content: 3 }])
      for (const format of ['openai-chat', 'anthropic-messages', 'openai-responses', 'gemini'] as const)
        expect(() =>
          requestTexts(format, { messages: odd, input: odd, contents: odd, system: odd, requests: odd }),
        ).not.toThrow();
  });
});
