import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NESTED, TOP_LEVEL, type Probe } from './field-probes.ts';
import {
  COLUMNS,
  GEMINI_COLUMNS,
  MESSAGES_COLUMNS,
  regenerate,
  RESPONSES_COLUMNS,
  type Column,
} from './field-table.ts';
import { GEMINI_NESTED, GEMINI_TOP_LEVEL } from './gemini-probes.ts';
import { RESPONSES_NESTED, RESPONSES_TOP_LEVEL } from './responses-probes.ts';
import { MESSAGES_NESTED, MESSAGES_TOP_LEVEL } from './messages-probes.ts';
import { operations } from '../../src/core/operations/index.ts';
import { observe } from './observe.ts';
import { EMBEDDING_PROBES, IMAGE_PROBES, PASSED_PROBES } from './task-probes.ts';
import { operationOf } from './outbound.ts';

const schemaOf = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../../schemas/${name}.json`), 'utf8')) as {
    properties: object;
    definitions: Record<'message' | 'part' | 'toolCall' | 'tool' | 'function', { properties: object }>;
  };
const schema = schemaOf('chat-completions');

/** What is neither sent nor told, and why that is no loss; `fault:` where it is one. */
const SILENT: Readonly<Record<string, string>> = {
  'service_tier, Gemini on Vertex AI 2.5':
    'the standard tier is that of a request that names none (docs/protocols/vertex-ai.md#service-tier)',
  'service_tier, Gemini on Vertex AI 3': 'as above',
};

const SILENT_IN_MESSAGES: Readonly<Record<string, string>> = {
  'service_tier, Gemini on Vertex AI 2.5': 'both of its values ask for no more than a request that names no tier',
  'service_tier, Gemini on Vertex AI 3': 'as above',
};

/** By field: the same for all targets that lack it. */
const SILENT_IN_RESPONSES: Readonly<Record<string, string>> = {
  stream_options: 'it concerns the stream to the client alone, which the gateway writes',
  tool_choice: '`auto` is the default of Gemini',
  'reasoning.summary': 'the gateway shows the client the thoughts, if the request asks the model for any',
  client_metadata: 'Codex sends it for its maker (docs/protocols/openai-responses.md#request)',
  service_tier: '`default` is the tier of a request that names none',
};

describe('the tables of request fields', () => {
  it('equal the tables in the documents', async () => {
    // Anew with `node test/translation/field-table.ts`.
    const { file, text } = await regenerate();
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('have every top-level field of the schema, in its order', () => {
    expect([...new Set(TOP_LEVEL.map(({ field }) => field))]).toEqual(Object.keys(schema.properties));
  });

  it.each([
    ['message', 'messages[].'],
    ['part', 'content[].'],
    ['toolCall', 'tool_calls[].'],
    ['tool', 'tools[].'],
    ['function', 'tools[].function.'],
  ] as const)('have every field the schema names of a %s', (definition, prefix) => {
    // What tells the kinds of parts and calls apart is a row for each kind; a tool's function is known by its name.
    const kinds = new Set(['content[].type', 'tool_calls[].id', 'tool_calls[].type', 'tools[].function.name']);
    const fields = Object.keys(schema.definitions[definition].properties).map((name) => prefix + name);
    const rows = new Set(NESTED.map(({ field }) => field));
    expect(fields.filter((field) => !kinds.has(field) && !rows.has(field))).toEqual([]);
  });

  it('have every top-level field of the schema of messages', () => {
    const rows = new Set(MESSAGES_TOP_LEVEL.map(({ field }) => field.split('.')[0]));
    expect(Object.keys(schemaOf('messages').properties).filter((field) => !rows.has(field))).toEqual([]);
  });

  it('have a reason for every field that is neither sent, refused nor reported as lost', async () => {
    expect(await silentIn([...TOP_LEVEL, ...NESTED], COLUMNS)).toEqual(Object.keys(SILENT));
    expect(await silentIn([...MESSAGES_TOP_LEVEL, ...MESSAGES_NESTED], MESSAGES_COLUMNS)).toEqual(
      Object.keys(SILENT_IN_MESSAGES),
    );
    const responses = await silentIn([...RESPONSES_TOP_LEVEL, ...RESPONSES_NESTED], RESPONSES_COLUMNS);
    expect([...new Set(responses.map((place) => place.split(', ', 1)[0]))]).toEqual(Object.keys(SILENT_IN_RESPONSES));
    expect(await silentIn([...GEMINI_TOP_LEVEL, ...GEMINI_NESTED], GEMINI_COLUMNS)).toEqual([]);
  });

  it('have every top-level field of the schemas of the Responses API and of Gemini’s API', () => {
    const topLevel = (probes: readonly Probe[]) => [...new Set(probes.map(({ field }) => field.split('.')[0]))];
    expect(topLevel(RESPONSES_TOP_LEVEL)).toEqual(Object.keys(schemaOf('responses').properties));
    // Each field has two spellings (docs/protocols/gemini.md#request-body).
    const fields = Object.keys(schemaOf('generate-content').properties).filter((name) => !name.includes('_'));
    expect(fields.filter((name) => !topLevel(GEMINI_TOP_LEVEL).includes(name))).toEqual([]);
  });

  it('have every operation whose fields have rules', () => {
    const probes = [
      ...TOP_LEVEL,
      ...MESSAGES_TOP_LEVEL,
      ...RESPONSES_TOP_LEVEL,
      ...GEMINI_TOP_LEVEL,
      ...EMBEDDING_PROBES,
      ...IMAGE_PROBES,
      ...PASSED_PROBES,
    ];
    const listed = new Set(probes.map(({ client = 'chat' }) => operationOf(client).id));
    const missing = operations.filter(({ id, fields }) => fields && !listed.has(id)).map(({ id }) => id);
    expect([...new Set(missing)].toSorted()).toEqual(TOLD_IN_WORDS);
  });

  it('have every field that the gateway reads of an operation that is no conversation', () => {
    const lists = new Set(['models', 'fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks']);
    const rows = Map.groupBy([...EMBEDDING_PROBES, ...IMAGE_PROBES, ...PASSED_PROBES], ({ client = 'chat' }) => client);
    for (const [client, probes] of rows) {
      const shown = new Set(probes.map(({ path, field }) => (field.endsWith('[]') ? field : String(path[0]))));
      // `stream` is in the path of Gemini's API, and two fields of /v1/embeddings have a second spelling.
      const ignored = new Set(['stream', 'taskType', 'autoTruncate']);
      const missing = operationOf(client)
        .fields!.read.map((name) => name.split('.')[0]!)
        .filter((name) => !shown.has(name) && !ignored.has(name))
        // A form may write a field in the form of a list.
        .map((name) => name.replace('[]', ''))
        .filter((name) => !shown.has(name) && !lists.has(name));
      expect(missing, client).toEqual([]);
    }
  });
});

/** Their fields are those of another operation, and the document says in a sentence how they differ. */
const TOLD_IN_WORDS = [
  'chat.completions.count_tokens',
  'gemini.count_tokens',
  'gemini.stream_generate_content',
  'messages.count_tokens',
  'prompts.completions',
  'prompts.render',
  'responses.compact',
  'responses.input_tokens',
  'vertex.count_tokens',
];

async function silentIn(probes: readonly Probe[], columns: readonly Column[]): Promise<readonly string[]> {
  const silent = new Set<string>();
  for (const probe of probes)
    for (const { title, upstreams } of columns)
      for (const upstream of upstreams) {
        const { effect } = await observe(probe, upstream);
        if (effect.kind === 'nothing') silent.add(`${probe.field}, ${title} ${upstream.name}`);
      }
  return [...silent];
}
