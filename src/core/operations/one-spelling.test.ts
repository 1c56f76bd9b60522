import { describe, expect, it } from 'vitest';
import { geminiGenerate } from './gemini.ts';

const validate = (body: object) => geminiGenerate[0]?.validate({ contents: [], ...body });

describe('a field of protobuf’s JSON', () => {
  it.each([
    [{ generation_config: {}, generationConfig: {} }, 'generation_config'],
    [{ generationConfig: null, generation_config: null }, 'generation_config'],
    [{ generationConfig: { topP: 1, top_p: 1 } }, 'generationConfig.top_p'],
    [
      { generation_config: { thinking_config: { includeThoughts: true, include_thoughts: false } } },
      'generation_config.thinking_config.include_thoughts',
    ],
    [{ contents: [{ parts: [{}, { inlineData: {}, inline_data: {} }] }] }, 'contents[0].parts[1].inline_data'],
    [{ tools: [{ function_declarations: [], functionDeclarations: [] }] }, 'tools[0].function_declarations'],
  ])('is refused under both of its names: %j', (body, param) => {
    expect(validate(body)).toMatchObject({ param, missing: false, message: expect.stringContaining('same field') });
  });

  it.each([
    { generation_config: { top_p: 1 }, systemInstruction: { parts: [] }, safety_settings: [] },
    { contents: [{ parts: [{ functionCall: { name: 'f', args: { max_size: 1, maxSize: 2 } } }] }] },
    { contents: [{ parts: [{ function_response: { name: 'f', response: { a_b: 1, aB: 2 } } }] }] },
    { tools: [{ functionDeclarations: [{ parameters: { properties: { a_b: {}, aB: {} } } }] }] },
    { generationConfig: { response_json_schema: { properties: { a_b: {}, aB: {} } } } },
    { labels: { cost_center: 'a', costCenter: 'b' } },
  ])('may have either name, and keys of the caller’s own have no other name: %j', (body) => {
    expect(validate(body)).toBeUndefined();
  });
});
