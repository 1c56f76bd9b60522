import { globSync, readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packageFile } from '../kernel/package-root.ts';
import { LONG_TEXT_SHOWN } from '../kernel/body/abridged-json.ts';
import { RequestBody } from '../kernel/body/request-body.ts';
import { bodySchema } from './body-schema.ts';
import { runs } from '../../../test/support/effort.ts';

const validate = bodySchema('chat-completions');
const messages = [{ role: 'user', content: 'hi' }];
const body = (more: object) => ({ model: 'm', messages, ...more });

describe('the schemas of the package', () => {
  // Production does not check them.
  it.each(globSync('*.json', { cwd: packageFile('schemas') }).toSorted())('are draft-07: %s', (file) => {
    const ajv = new Ajv({ strict: false });
    const schema = JSON.parse(readFileSync(packageFile(`schemas/${file}`), 'utf8')) as object;
    expect([ajv.validateSchema(schema), ajv.errors]).toEqual([true, null]);
  });
});

describe('the schemas of bodies', () => {
  const BODIES = [
    'batch-embed-contents',
    'chat-completions',
    'completions',
    'count-tokens',
    'embed-content',
    'embeddings',
    'form-fields',
    'gemini-count-tokens',
    'generate-content',
    'images',
    'messages',
    'moderations',
    'predict',
    'prompt-completions',
    'responses',
    'speech',
    'vertex-count-tokens',
    // A build without an add-on lacks its schemas.
  ].filter((name) => existsSync(packageFile(`schemas/${name}.json`)));
  /** Keywords whose verdict depends on a whole text. */
  const READ_TEXTS = [
    'pattern',
    'patternProperties',
    'minLength',
    'maxLength',
    'format',
    'uniqueItems',
    'contentMediaType',
  ];
  const KEYED = new Set(['properties', 'definitions', 'patternProperties', 'dependencies']);

  function* keywords(schema: unknown, keyed = false): Generator<readonly [string, unknown]> {
    if (typeof schema !== 'object' || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      if (!keyed && !Array.isArray(schema)) yield [key, value];
      if (key !== 'enum' && key !== 'const' && key !== 'examples') yield* keywords(value, !keyed && KEYED.has(key));
    }
  }

  it.each(BODIES)('read no long text, so that an abridged body gets the verdict of the whole one: %s', (name) => {
    const schema: unknown = JSON.parse(readFileSync(packageFile(`schemas/${name}.json`), 'utf8'));
    const found = [...keywords(schema)];
    expect(found.length).toBeGreaterThan(5);
    expect(found.filter(([key]) => READ_TEXTS.includes(key))).toEqual([]);
    const texts = found.filter(([key]) => key === 'enum' || key === 'const').flatMap(([, value]) => [value].flat());
    expect(texts.filter((text) => typeof text === 'object' && text !== null)).toEqual([]);
    expect(texts.filter((text) => typeof text === 'string' && (text === LONG_TEXT_SHOWN || text.length > 100))).toEqual(
      [],
    );
  });

  it('are all known to this test', () => {
    const used = globSync('src/{core/operations,addons/**}/*.ts', { cwd: packageFile('.') })
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) =>
        [...readFileSync(packageFile(file), 'utf8').matchAll(/bodySchema\('([^']+)'\)/g)].map(([, name]) => name!),
      );
    // A build without an add-on has fewer.
    expect(BODIES).toEqual(expect.arrayContaining(used));
  });

  it('give an abridged body the fault of the whole one, wherever a value is another', () => {
    const long = 'long '.repeat(2000);
    const whole = body({
      messages: [
        { role: 'system', content: long },
        {
          role: 'user',
          name: 'n',
          content: [
            { type: 'text', text: long },
            { type: 'image_url', image_url: { url: long } },
          ],
        },
        {
          role: 'assistant',
          content: long,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: long } }],
        },
        { role: 'tool', tool_call_id: 'c', content: long },
      ],
      tools: [{ type: 'function', function: { name: 'f', description: long, parameters: { type: 'object' } } }],
      tool_choice: 'auto',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } },
      stop: ['a'],
      temperature: 1,
    });
    const replaced = fc.constantFrom<unknown>(
      long,
      'x',
      7,
      -1,
      1.5,
      null,
      true,
      {},
      [],
      [long],
      { type: long },
      undefined,
    );
    const faults = new Set<unknown>();
    fc.assert(
      fc.property(fc.nat(), replaced, fc.nat(), replaced, (at, value, at2, value2) => {
        const mutated: unknown = replacePlace(replacePlace(whole, at, value), at2, value2);
        const sent = RequestBody.read(Buffer.from(JSON.stringify(mutated)), { depth: 64, keys: 100, items: 100 });
        const fault = validate(sent.abridged());
        faults.add(fault?.message);
        expect(fault).toEqual(validate(JSON.parse(JSON.stringify(mutated))));
      }),
      { numRuns: runs(3000) },
    );
    // Both verdicts, and faults of many kinds, were among them.
    expect([faults.has(undefined), faults.size > 20]).toEqual([true, true]);
  });
});

/** A copy with the value at one of its places replaced; `at` counts the places. */
function replacePlace(root: unknown, at: number, value: unknown): object {
  const places: (readonly [object, string])[] = [];
  const copy = structuredClone(root) as object;
  const collect = (node: object): void => {
    for (const [key, inner] of Object.entries(node)) {
      places.push([node, key]);
      if (typeof inner === 'object' && inner !== null) collect(inner as object);
    }
  };
  collect(copy);
  const place = places[at % places.length];
  if (place) Object.assign(place[0], { [place[1]]: value });
  return copy;
}

describe('the schema of chat requests', () => {
  it.each<[string, unknown, { message: string; param: string | null; missing?: boolean }]>([
    ['a body without a model', { messages }, { message: '`model` is required.', param: 'model', missing: true }],
    ['a body that is a list', [], { message: 'The body must be object.', param: null }],
    ['a model that is a number', body({ model: 1 }), { message: '`model` must be string.', param: 'model' }],
    [
      'an unknown role',
      body({ messages: [{ role: 'boss' }] }),
      {
        message: '`messages[0].role` must be one of "developer", "system", "user", "assistant", "tool", "function".',
        param: 'messages[0].role',
      },
    ],
    [
      'a part that is a number',
      body({ messages: [{ role: 'user', content: ['x', 7] }] }),
      { message: '`messages[0].content[0]` must be object.', param: 'messages[0].content[0]' },
    ],
    [
      'a text part without text',
      body({ messages: [{ role: 'user', content: [{ type: 'text' }] }] }),
      { message: '`messages[0].content[0].text` is required.', param: 'messages[0].content[0].text', missing: true },
    ],
    [
      'an image without a URL',
      body({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] }),
      {
        message: '`messages[0].content[0].image_url.url` is required.',
        param: 'messages[0].content[0].image_url.url',
        missing: true,
      },
    ],
    [
      'a tool message without its call',
      body({ messages: [{ role: 'tool', content: 'x' }] }),
      { message: '`messages[0].tool_call_id` is required.', param: 'messages[0].tool_call_id', missing: true },
    ],
    [
      'a tool without a function',
      body({ tools: [{ type: 'function' }] }),
      { message: '`tools[0].function` is required.', param: 'tools[0].function', missing: true },
    ],
    [
      'a function without a name',
      body({ tools: [{ type: 'function', function: {} }] }),
      { message: '`tools[0].function.name` is required.', param: 'tools[0].function.name', missing: true },
    ],
    [
      'a block that is neither whole nor a fragment',
      body({ messages: [{ role: 'assistant', content_blocks: [{ index: 0, delta: 'x' }] }] }),
      {
        message: '`messages[0].content_blocks[0].type` is required.',
        param: 'messages[0].content_blocks[0].type',
        missing: true,
      },
    ],
    [
      'arguments that are not text',
      body({ messages: [{ role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: {} } }] }] }),
      {
        message: '`messages[0].tool_calls[0].function.arguments` must be string or null.',
        param: 'messages[0].tool_calls[0].function.arguments',
      },
    ],
    [
      'a stop that is a number',
      body({ stop: 3 }),
      { message: '`stop` must be string or array or null.', param: 'stop' },
    ],
    [
      'a fraction of a token',
      body({ max_tokens: 1.5 }),
      { message: '`max_tokens` must be integer or null.', param: 'max_tokens' },
    ],
  ])('refuses %s and names the field', (_, value, fault) => {
    expect(validate(value)).toEqual({ missing: false, ...fault });
  });

  it.each([
    ['only the required fields', body({})],
    [
      'nulls where OpenAI’s clients send them',
      body({
        temperature: null,
        stop: null,
        tools: null,
        stream: null,
        response_format: null,
        messages: [{ role: 'assistant', content: null, tool_calls: null, refusal: null }],
      }),
    ],
    [
      'unknown fields, at every level',
      body({
        x: 1,
        messages: [{ role: 'user', content: [{ type: 'new', y: 2 }], z: 3 }],
        tools: [{ type: 'new_tool', w: 4 }],
      }),
    ],
    [
      'the gateway’s extensions',
      body({
        thinking: { type: 'enabled', budget_tokens: 0 },
        labels: { a: 'b' },
        safety_settings: [{}],
        top_k: 3,
        image_config: {},
        messages: [
          {
            role: 'assistant',
            content_blocks: [
              { type: 'thinking', thinking: '', signature: 's' },
              { index: 1, delta: { text: 'x' } },
            ],
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '', thought_signature: 's' } }],
          },
        ],
      }),
    ],
  ])('accepts %s', (_, value) => {
    expect(validate(value)).toBeUndefined();
  });

  const corpus = join(packageFile(''), '../shared/corpus/dev/openai-chat.jsonl');
  it.skipIf(!existsSync(corpus))('accepts every request of the recorded traffic that OpenAI accepted', () => {
    const records = readFileSync(corpus, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(
        (line) =>
          JSON.parse(line) as { response_status: number; request_body_kind: string; request_body: unknown; op: string },
      );
    const accepted = records.filter(
      (record) =>
        record.response_status === 200 && record.request_body_kind === 'json' && record.op === 'chat.completions',
    );
    expect(accepted.length).toBeGreaterThan(100);
    expect(accepted.map(({ request_body: request }) => validate(request)).filter(Boolean)).toEqual([]);
  });
});
