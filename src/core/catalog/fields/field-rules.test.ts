import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { FieldTable } from '../../../formats/fields/field-table.ts';
import { chatFields, imagesFields, messagesFields, responsesFields } from '../../../formats/fields/field-tables.ts';
import {
  geminiCountFields,
  geminiEmbedBatchFields,
  geminiEmbedFields,
  geminiFields,
  geminiPredictFields,
} from '../../../formats/fields/gemini-fields.ts';
import type { FieldSettings } from '../../kernel/index.ts';
import { meantField, readFieldPath, looseName } from './field-path.ts';
import { FieldRules } from './field-rules.ts';
import { findViolation } from './rule-walk.ts';

const offenceOf = (body: unknown, settings: FieldSettings, table: FieldTable = chatFields) =>
  findViolation(
    Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    new FieldRules(settings, 'This key').for(table),
  )?.param;

describe('a rule for a parameter that several APIs have', () => {
  it.each<[string, FieldTable, unknown, string]>([
    ['max_tokens', responsesFields, { max_output_tokens: 9 }, 'max_output_tokens'],
    ['max_tokens', responsesFields, { extra_body: { max_output_tokens: 9 } }, 'extra_body.max_output_tokens'],
    ['max_tokens', geminiFields, { generationConfig: { maxOutputTokens: 9 } }, 'generationConfig.maxOutputTokens'],
    [
      'max_tokens',
      geminiFields,
      { generation_config: { max_output_tokens: 9 } },
      'generation_config.max_output_tokens',
    ],
    ['**.max_tokens', geminiFields, { generationConfig: { maxOutputTokens: 9 } }, 'generationConfig.maxOutputTokens'],
    ['temperature', geminiFields, { generationConfig: { temperature: 1 } }, 'generationConfig.temperature'],
    ['generation_config.temperature', chatFields, { temperature: 1 }, 'temperature'],
    ['stop', messagesFields, { stop_sequences: ['x'] }, 'stop_sequences'],
    ['stop', geminiFields, { generationConfig: { stopSequences: ['x'] } }, 'generationConfig.stopSequences'],
    ['tools', responsesFields, { input: [{ type: 'additional_tools', tools: [] }] }, 'input[0].tools'],
    ['tools[].container', responsesFields, { input: [{ tools: [{ container: 'x' }] }] }, 'input[0].tools[0].container'],
    ['response_format', responsesFields, { text: { verbosity: 'low', format: {} } }, 'text.format'],
    ['response_format', messagesFields, { output_config: { format: {} } }, 'output_config.format'],
    [
      'response_format',
      geminiFields,
      { generationConfig: { responseMimeType: 'x' } },
      'generationConfig.responseMimeType',
    ],
  ])('%s is a rule for its name in every API', (path, table, body, param) => {
    expect(offenceOf(body, { deny: [path] }, table)).toBe(param);
    const top = Object.keys(body as object)[0]!;
    if (!param.includes('extra_body'))
      expect(offenceOf(body, { allow: [path, ...without(top)] }, table)).toBeUndefined();
  });

  /** Fields beside the parameter in the same object. */
  const without = (top: string): string[] =>
    top === 'input' ? ['input[].type'] : top === 'text' ? ['text.verbosity'] : [];

  it('leaves a parameter of the same name in other APIs', () => {
    expect(offenceOf({ response_format: 'url' }, { deny: ['text.format'] }, imagesFields)).toBeUndefined();
  });
});

describe('the path of a rule', () => {
  it.each([
    ['store', ['store'], false],
    ['tools[].container', ['tools', '[]', 'container'], false],
    ['a.b[][].c', ['a', 'b', '[]', '[]', 'c'], false],
    ['**.file_id', ['file_id'], true],
  ])('%s is read', (text, keys, anywhere) => {
    expect(readFieldPath(text)).toEqual({ keys, anywhere });
  });

  it.each([
    ['$.store', 'store'],
    ['tools[0].container', 'tools[].container'],
    ['tools[*].container', 'tools[].container'],
    ['tools.*.container', 'tools[].container'],
    ['**.tools[].container', '**.container'],
    ['', undefined],
    ['a..b', undefined],
    ['a.', undefined],
    ['[]', undefined],
    ['a[', undefined],
    ['a.**.b', undefined],
  ])('%j is reported as a mistake', (text, suggestion) => {
    const read = readFieldPath(text);
    expect(read).toMatchObject({ message: expect.any(String) as string });
    expect('suggestion' in read ? read.suggestion : undefined).toBe(suggestion);
  });

  it.each([
    ['stores', 'store'],
    ['tool[].container', 'tools[].container'],
    ['**.fileid', '**.file_id'],
    ['store', undefined],
    ['x_vendor_extension', undefined],
  ])('%s gets the suggestion %s', (text, meant) => {
    const read = readFieldPath(text);
    expect('keys' in read && meantField(read)).toBe(meant);
  });
});

describe('fields that are denied', () => {
  it.each<[string, unknown, string[], string | undefined]>([
    ['a field', { model: 'm', store: true }, ['store'], 'store'],
    ['a field in capitals', { model: 'm', STORE: true }, ['store'], 'STORE'],
    ['a field with an escape', '{"\\u0073tore":true}', ['store'], 'store'],
    ['a field by a synonym', { max_completion_tokens: 9 }, ['max_tokens'], 'max_completion_tokens'],
    ['a field in `extra_body`', { extra_body: { store: true } }, ['store'], 'extra_body.store'],
    ['a field that is false', { store: false }, ['store'], 'store'],
    ['not a field that is null', { store: null }, ['store'], undefined],
    ['not a field that only begins with the name', { stored: 1 }, ['store'], undefined],
    ['not a field of that name inside another one', { x: { store: 1 } }, ['store'], undefined],
    ['a field of an item', { tools: [{}, { container: {} }] }, ['tools[].container'], 'tools[1].container'],
    [
      'a field of an item of the older list',
      { functions: [{ container: 1 }] },
      ['tools[].container'],
      'functions[0].container',
    ],
    ['a field of the only item', { tools: { container: 1 } }, ['tools[].container'], 'tools.container'],
    ['a field of an object in a list', { a: [{ b: 1 }] }, ['a.b'], 'a[0].b'],
    ['items of a list', { tools: [1] }, ['tools[]'], 'tools[0]'],
    ['not an empty list', { tools: [] }, ['tools[]'], undefined],
    ['a field at any depth', { a: [{ b: [[{ file_id: 'x' }]] }] }, ['**.file_id'], 'a[0].b[0][0].file_id'],
    ['the first of a duplicate key', '{"a":{"file_id":"x","file_id":null}}', ['**.file_id'], 'a.file_id'],
    ['a field in a map where the rule names it', { metadata: { team: 1 } }, ['metadata.team'], 'metadata.team'],
    ['not a key in a map of the caller', { metadata: { file_id: 'x' } }, ['**.file_id'], undefined],
  ])('%s', (_, body, deny, param) => {
    expect(offenceOf(body, { deny })).toBe(param);
  });
});

describe('fields that are allowed', () => {
  const allow = ['messages', 'max_tokens', 'tools[].function', 'stream_options.include_usage'];
  it.each<[string, unknown, string | undefined]>([
    [
      'these and the model',
      { model: 'm', messages: [{ x: 1 }], max_tokens: 1, tools: [{ function: { a: 1 } }] },
      undefined,
    ],
    ['another name of one', { max_completion_tokens: 1 }, undefined],
    ['one in `extra_body`', { extra_body: { max_tokens: 1 } }, undefined],
    ['another field in `extra_body`', { extra_body: { max_tokens: 1, store: true } }, 'extra_body.store'],
    ['another field', { messages: [], store: true }, 'store'],
    ['another case', { Messages: [] }, 'Messages'],
    ['another field that is null', { store: null }, undefined],
    ['another field beside one inside', { tools: [{ function: {}, type: 'function' }] }, 'tools[0].type'],
    ['one inside', { stream_options: { include_usage: true } }, undefined],
    ['a text in place of an object with allowed fields', { stream_options: 'x' }, 'stream_options'],
    ['an item that is a text', { tools: ['x'] }, 'tools[0]'],
  ])('%s', (_, body, param) => {
    expect(offenceOf(body, { allow })).toBe(param);
  });

  it('exclude those that are denied', () => {
    expect(offenceOf({ tools: [{ container: 1 }] }, { allow: ['tools'], deny: ['tools[].container'] })).toBe(
      'tools[0].container',
    );
  });
});

describe('a key that is longer than every name of a rule', () => {
  it('is not folded, which takes 100 ms for a megabyte', () => {
    const fold = vi.spyOn(String.prototype, 'toUpperCase');
    const body = JSON.stringify({
      ['\u00e9'.repeat(100_000)]: 1,
      tools: [{ ['\u0160'.repeat(100_000)]: 1 }],
      store: true,
    });
    const rules = new FieldRules({ deny: ['tools[].container', 'store'] }, 'This key').for(geminiFields);
    fold.mockClear();
    findViolation(Buffer.from(body), rules);
    expect(fold).not.toHaveBeenCalled();
    fold.mockRestore();
  });

  it('is denied still where underscores alone make it longer', () => {
    expect(offenceOf({ [`${'_'.repeat(5000)}\u017ftore`]: true }, { deny: ['store'] })).toBeDefined();
  });
});

describe('the preset shared_credentials', () => {
  const preset = { preset: 'shared_credentials', mediaBuckets: ['ours', 'shared/public'] } as const;
  const chat = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });

  it.each<[string, unknown, FieldTable, string | undefined]>([
    [
      'a file of the account',
      chat({ type: 'file', file: { file_id: 'f' } }),
      chatFields,
      'messages[0].content[0].file.file_id',
    ],
    [
      'a source of Messages',
      { messages: [{ content: [{ source: { type: 'file', file_id: 'f' } }] }] },
      messagesFields,
      'messages[0].content[0].source.file_id',
    ],
    ['a container', { container: 'c' }, messagesFields, 'container'],
    ['a container of a tool', { tools: [{ container: { file_ids: [] } }] }, chatFields, 'tools[0].container'],
    ['connected servers', { mcp_servers: [] }, messagesFields, 'mcp_servers'],
    ['connected servers in camel case', { mcpServers: [] }, chatFields, 'mcpServers'],
    ['data sources', { data_sources: [{}] }, chatFields, 'data_sources'],
    ['a connector', { tools: [{ type: 'mcp', connector_id: 'c' }] }, chatFields, 'tools[0].connector_id'],
    [
      'a server of tools',
      { tools: [{ type: 'mcp', server_url: 'https://x.test' }] },
      chatFields,
      'tools[0].server_url',
    ],
    ['an audio answer', { messages: [{ audio: { id: 'audio_1' } }] }, chatFields, 'messages[0].audio.id'],
    ['a voice', { audio: { voice: { id: 'voice_1' } } }, chatFields, 'audio.voice.id'],
    ['a voice by its name', { audio: { voice: 'alloy' } }, chatFields, undefined],
    ['a stored response', { previous_response_id: 'resp_1' }, chatFields, 'previous_response_id'],
    ['a stored conversation', { conversation: 'conv_1' }, chatFields, 'conversation'],
    ['a stored prompt', { prompt: { id: 'pmpt_1' } }, chatFields, 'prompt.id'],
    ['vector stores', { tools: [{ vector_store_ids: ['vs'] }] }, chatFields, 'tools[0].vector_store_ids'],
    [
      'vector stores in `extra_body`',
      { extra_body: { vector_store_ids: [] } },
      chatFields,
      'extra_body.vector_store_ids',
    ],
    [
      'a data store of the project',
      { tools: [{ retrieval: { vertexAiSearch: { datastore: 'd' } } }] },
      geminiFields,
      'tools[0].retrieval.vertexAiSearch',
    ],
    [
      'a corpus of the project',
      { tools: [{ retrieval: { vertex_rag_store: {} } }] },
      chatFields,
      'tools[0].retrieval.vertex_rag_store',
    ],
    ['labels', { labels: { a: 'b' } }, chatFields, 'labels'],
    ['labels of Gemini', { labels: {} }, geminiFields, 'labels'],
    ['a cache of the project', { cachedContent: 'x' }, geminiFields, 'cachedContent'],
    ['a stored completion', { store: true }, chatFields, 'store'],
    [
      'a foreign bucket',
      chat({ type: 'image_url', image_url: { url: 'gs://theirs/a.png' } }),
      chatFields,
      'messages[0].content[0].image_url.url',
    ],
    [
      'a foreign bucket in capitals',
      chat({ image_url: ' GS://theirs/a.png' }),
      chatFields,
      'messages[0].content[0].image_url',
    ],
    ['a foreign bucket with escapes', '{"x":"\\u0067s:\\/\\/theirs/a"}', chatFields, 'x'],
    ['a bucket whose name begins like ours', { x: 'gs://ours-not/a' }, chatFields, 'x'],
    ['a path outside the prefix', { x: 'gs://shared/publicity/a' }, chatFields, 'x'],
    ['our bucket', { x: 'gs://ours/a', y: 'gs://shared/public/a' }, chatFields, undefined],
    [
      'a foreign bucket of Gemini',
      { contents: [{ parts: [{ fileData: { fileUri: 'gs://theirs/a' } }] }] },
      geminiFields,
      'contents[0].parts[0].fileData.fileUri',
    ],
    [
      'text about a bucket',
      { messages: [{ content: 'gs://theirs/a' }, { content: [{ text: 'gs://theirs' }] }] },
      chatFields,
      undefined,
    ],
    ['names in metadata', { metadata: { store: '1', container: 'x', at: 'gs://theirs/a' } }, chatFields, undefined],
    [
      'names in a schema',
      { tools: [{ function: { parameters: { properties: { file_id: {}, store: {} } } } }] },
      chatFields,
      undefined,
    ],
    [
      'names in a schema of Messages',
      { tools: [{ input_schema: { properties: { labels: {} } } }] },
      messagesFields,
      undefined,
    ],
    [
      'names in the input of a call',
      { messages: [{ content: [{ type: 'tool_use', input: { store: 1 } }] }] },
      messagesFields,
      undefined,
    ],
    [
      'names in a schema of Gemini in snake case',
      { tools: [{ function_declarations: [{ parameters: { labels: 1 } }] }] },
      geminiFields,
      undefined,
    ],
  ])('%s', (_, body, table, param) => {
    expect(offenceOf(body, preset, table)).toBe(param);
  });

  it('is not required for `media_buckets`', () => {
    const settings = { mediaBuckets: ['ours'] };
    expect(offenceOf({ x: 'gs://ours/a', y: 'gs://theirs/a', store: true }, settings)).toBe('y');
  });

  it('finds a denied name anywhere in any JSON, and nothing in JSON without it', () => {
    const has = (value: unknown): boolean =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).some(
            ([key, inner]) => (!Array.isArray(value) && looseName(key) === 'k' && inner !== null) || has(inner),
          )
        : false;
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom('k', 'a"k":', 1, null, true, 'text\\'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('k', 'l', '"', '}'), tie('value'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), fc.nat(2), (body, indent) => {
        const text = JSON.stringify(body, null, indent);
        expect(offenceOf(text, { deny: ['**.k'] }) !== undefined).toBe(has(JSON.parse(text)));
      }),
    );
  });
});

describe('rules for a body inside a body of Google’s API', () => {
  const contents = [{ role: 'user', parts: [{ text: 'x' }] }];
  const content = { parts: [{ text: 'x' }] };
  const asked = (fields: object) => ({ generateContentRequest: { model: 'models/m', contents, ...fields } });

  it.each<[string, FieldTable, unknown, string[], string | undefined]>([
    [
      'a whole request that is counted',
      geminiCountFields,
      asked({ generation_config: { maxOutputTokens: 9 } }),
      ['generationConfig.max_output_tokens'],
      'generateContentRequest.generation_config.maxOutputTokens',
    ],
    [
      'the same in snake case',
      geminiCountFields,
      { generate_content_request: { cached_content: 'x' } },
      ['cachedContent'],
      'generate_content_request.cached_content',
    ],
    [
      'a synonym in one',
      geminiCountFields,
      asked({ generationConfig: { responseJsonSchema: {} } }),
      ['generationConfig.responseSchema'],
      'generateContentRequest.generationConfig.responseJsonSchema',
    ],
    [
      'each request of a batch',
      geminiEmbedBatchFields,
      { requests: [{ content }, { content, task_type: 'X' }] },
      ['taskType'],
      'requests[1].task_type',
    ],
    [
      'the settings of Vertex AI',
      geminiEmbedFields,
      { content, embedContentConfig: { outputDimensionality: 3 } },
      ['output_dimensionality'],
      'embedContentConfig.outputDimensionality',
    ],
    [
      'an instance',
      geminiPredictFields,
      { instances: [{ content: 'x', task_type: 'X' }] },
      ['taskType'],
      'instances[0].task_type',
    ],
    [
      'the parameters of instances',
      geminiPredictFields,
      { instances: [], parameters: { autoTruncate: true } },
      ['autoTruncate'],
      'parameters.autoTruncate',
    ],
    [
      'keys of the caller inside',
      geminiCountFields,
      asked({ tools: [{ functionDeclarations: [{ parameters: { properties: { store: {} } } }] }] }),
      ['**.store'],
      undefined,
    ],
  ])('deny fields by their own names in %s', (_, table, body, deny, refused) => {
    expect(offenceOf(body, { deny }, table)).toBe(refused);
  });

  it.each<[string, FieldTable, unknown, string[], string | undefined]>([
    ['a request that is counted', geminiCountFields, asked({}), ['contents'], undefined],
    [
      'another field beside an allowed one',
      geminiCountFields,
      asked({ generationConfig: {} }),
      ['contents', 'generateContentRequest'],
      'generateContentRequest.generationConfig',
    ],
    ['a batch', geminiEmbedBatchFields, { requests: [{ model: 'm', content }] }, ['content'], undefined],
    [
      'a setting in a batch',
      geminiEmbedBatchFields,
      { requests: [{ content, taskType: 'X' }] },
      ['content', 'requests', 'requests[]'],
      'requests[0].taskType',
    ],
    [
      'a setting that is allowed in its place',
      geminiEmbedBatchFields,
      { requests: [{ content, taskType: 'X' }] },
      ['content', 'requests[].taskType'],
      undefined,
    ],
    [
      'parameters',
      geminiPredictFields,
      { instances: [{ content: 'x' }], parameters: { outputDimensionality: 3 } },
      ['content', 'instances', 'parameters'],
      'parameters.outputDimensionality',
    ],
  ])('allow fields by their own names in %s', (_, table, body, allow, refused) => {
    expect(offenceOf(body, { allow }, table)).toBe(refused);
  });
});
