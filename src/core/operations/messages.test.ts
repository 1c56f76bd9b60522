import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageFile } from '../kernel/package-root.ts';
import { bodySchema } from './body-schema.ts';

const validate = bodySchema('messages');
const body = (more: object) => ({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }], ...more });

describe('the schema of messages', () => {
  it.each<[string, object, string | null]>([
    ['no model', { messages: [] }, 'model'],
    ['no messages', { model: 'm' }, 'messages'],
    ['messages that are a text', body({ messages: 'hi' }), 'messages'],
    ['a message that is a text', body({ messages: ['hi'] }), 'messages[0]'],
    ['a message without a role', body({ messages: [{ content: 'hi' }] }), 'messages[0].role'],
    ['a message without content', body({ messages: [{ role: 'user' }] }), 'messages[0].content'],
    ['content that is a number', body({ messages: [{ role: 'user', content: 1 }] }), 'messages[0].content'],
    ['a block that is a text', body({ messages: [{ role: 'user', content: ['hi'] }] }), 'messages[0].content[0]'],
    ['a block without a type', body({ system: [{ text: 'x' }] }), 'system[0].type'],
    ['a limit in words', body({ max_tokens: '1' }), 'max_tokens'],
    ['a limit with a fraction', body({ max_tokens: 1.5 }), 'max_tokens'],
    ['a stop that is a number', body({ stop_sequences: [1] }), 'stop_sequences[0]'],
    ['a choice in words', body({ tool_choice: 'auto' }), 'tool_choice'],
    ['thinking that is a boolean', body({ thinking: true }), 'thinking'],
    ['tools that are an object', body({ tools: {} }), 'tools'],
    ['a stream that is a number', body({ stream: 1 }), 'stream'],
  ])('names the field of %s', (_, wrong, param) => {
    expect(validate(wrong)).toMatchObject({ param });
  });

  it.each<[string, object]>([
    ['unknown roles, blocks and fields', { messages: [{ role: 'critic', content: [{ type: 'hologram' }] }], x: 1 }],
    ['unknown values', { thinking: { type: 'dreaming' }, tool_choice: { type: 'weighted' }, service_tier: 'gold' }],
    ['nulls', { system: null, tools: null, temperature: null, stream: null, metadata: null, max_tokens: null }],
    ['no limit, which a config may add', { max_tokens: undefined }],
  ])('accepts %s', (_, more) => {
    expect(validate(JSON.parse(JSON.stringify(body(more))))).toBeUndefined();
  });

  const recorded = ['anthropic', 'vertex-anthropic'].map((name) =>
    join(packageFile('.'), '../shared/corpus/dev', `${name}.jsonl`),
  );
  it.skipIf(!recorded.every((file) => existsSync(file)))('accepts every recorded request that was answered', () => {
    const requests = recorded
      .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { op: string; response_status: number; request_body: object })
      .filter(
        ({ op, response_status: status }) => status === 200 && /^(?:messages|rawPredict|streamRawPredict)$/.test(op),
      )
      // Vertex has the model in its path.
      .map(({ request_body: request }) => ({ model: 'm', ...request }))
      .filter((request) => 'messages' in request);
    expect(requests.length).toBeGreaterThan(100);
    expect(requests.map(validate).filter((fault) => fault !== undefined)).toEqual([]);
  });
});
