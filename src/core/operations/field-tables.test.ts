import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bodyKind, namesOf, RequestBody } from '../kernel/index.ts';
import { operations } from './index.ts';

const SCHEMAS: Readonly<Record<string, string>> = {
  'chat.completions': 'chat-completions',
  'prompts.completions': 'prompt-completions',
  'prompts.render': 'prompt-completions',
  'chat.completions.count_tokens': 'chat-completions',
  responses: 'responses',
  'responses.input_tokens': 'responses',
  'responses.compact': 'responses',
  messages: 'messages',
  'messages.count_tokens': 'count-tokens',
  'gemini.generate_content': 'generate-content',
  'gemini.stream_generate_content': 'generate-content',
  'gemini.embed_content': 'embed-content',
  'gemini.batch_embed_contents': 'batch-embed-contents',
  'vertex.predict': 'predict',
  'gemini.count_tokens': 'gemini-count-tokens',
  'vertex.count_tokens': 'vertex-count-tokens',
  embeddings: 'embeddings',
  'images.generations': 'images',
  completions: 'completions',
  moderations: 'moderations',
  'audio.speech': 'speech',
  'audio.transcriptions': 'form-fields',
  'audio.translations': 'form-fields',
  'images.edits': 'form-fields',
  'images.variations': 'form-fields',
};

describe('the field table of an operation', () => {
  it('is there for every operation whose body a client writes for a model', () => {
    const bare = operations.filter((one) => bodyKind(one) !== 'none' && one.task !== undefined && !one.fields);
    expect(bare.map(({ id }) => id)).toEqual([]);
  });

  it.each(operations.filter(({ fields }) => fields).map((operation) => [operation.id, operation] as const))(
    'contains every field in the schema of %s',
    (id, { fields }) => {
      const schema = JSON.parse(readFileSync(`schemas/${SCHEMAS[id]}.json`, 'utf8')) as { properties: object };
      const names = namesOf(fields?.read.map((path) => path.split('.')) ?? [], fields);
      for (const property of Object.keys(schema.properties)) {
        const folded = property.toUpperCase();
        const body = RequestBody.read(Buffer.from(JSON.stringify({ [folded]: 1 })), 8);
        expect(() => names.check(body), property).toThrow(`\`${property}\``);
        names.check(RequestBody.read(Buffer.from(JSON.stringify({ [property]: 1 })), 8));
      }
    },
  );
});
