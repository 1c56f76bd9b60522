import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NESTED, TOP_LEVEL } from './field-probes.ts';
import { COLUMNS, regenerate } from './field-table.ts';
import { observe } from './observe.ts';

const schema = JSON.parse(readFileSync(join(import.meta.dirname, '../../schemas/chat-completions.json'), 'utf8')) as {
  properties: object;
  definitions: Record<'message' | 'part' | 'toolCall' | 'tool' | 'function', { properties: object }>;
};

/** What is neither sent nor told, and why that is no loss; `fault:` where it is one. */
const SILENT: Readonly<Record<string, string>> = {
  'service_tier, Gemini on Vertex AI 2.5': 'the standard tier is that of a request that names none (wire.md C2)',
  'service_tier, Gemini on Vertex AI 3': 'as above',
  'content[].signature, Claude 4.5': 'a proof for its maker alone is stripped (wire.md D9)',
  'content[].signature, Claude 4.7': 'as above',
  'content[].signature, Claude on Vertex AI': 'as above',
  'tool_calls[].function.thought_signature, Claude 4.5': 'as above',
  'tool_calls[].function.thought_signature, Claude 4.7': 'as above',
  'tool_calls[].function.thought_signature, Claude on Vertex AI': 'as above',
  'tool_calls[].extra_content, Claude 4.5': 'as above',
  'tool_calls[].extra_content, Claude 4.7': 'as above',
  'tool_calls[].extra_content, Claude on Vertex AI': 'as above',
};

describe('the tables of what reaches which model', () => {
  it('stand in the documents as the code does it', async () => {
    // Anew with `node test/translation/field-table.ts`.
    for (const { file, text } of await regenerate()) expect(readFileSync(file, 'utf8')).toBe(text);
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

  it('have no field that is neither said, refused, nor told as lost without a reason', async () => {
    const silent: string[] = [];
    for (const probe of [...TOP_LEVEL, ...NESTED])
      for (const { title, upstreams } of COLUMNS)
        for (const upstream of upstreams) {
          const { effect } = await observe(probe, upstream);
          if (effect.kind === 'nothing') silent.push(`${probe.field}, ${title} ${upstream.name}`);
        }
    expect(silent).toEqual(Object.keys(SILENT));
  });
});
