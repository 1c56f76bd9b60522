import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageFile } from '../kernel/package-root.ts';
import { countTokens } from './messages.ts';
import { developerCountTokens, vertexCountTokens } from './gemini.ts';

const corpus = join(packageFile(''), '../shared/corpus/dev');

interface Recorded {
  readonly op: string;
  readonly request_body: unknown;
  readonly response_status: number;
  readonly response_body: unknown;
}

const recorded = (family: string, op: string): Recorded[] =>
  readFileSync(join(corpus, `${family}.jsonl`), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Recorded)
    .filter((record) => record.op === op && record.response_status === 200 && record.request_body !== null);

describe('requests to count tokens', () => {
  it.skipIf(!existsSync(corpus)).each([
    ['anthropic', 'count_tokens', countTokens],
    ['vertex-gemini', 'countTokens', vertexCountTokens],
    ['gemini', 'countTokens', developerCountTokens],
  ])('that %s has answered are accepted, and their replies decode', (family, op, { validate, format }) => {
    const records = recorded(family, op);
    expect(records).not.toEqual([]);
    for (const { request_body: request, response_body: reply } of records) {
      expect(validate(request)).toBeUndefined();
      expect(format.counting?.decodeReply(reply)).toBeGreaterThan(0);
    }
  });

  it('need no limit for the answer', () => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
    expect(countTokens.validate(body)).toBeUndefined();
    expect(countTokens.validate({ ...body, tools: null, thinking: null, unknown: [1] })).toBeUndefined();
  });

  it.each([
    [{ model: 'm', messages: [{ role: 'user', content: 1 }] }, 'messages[0].content'],
    [{ model: 'm', messages: [{ role: 'user', content: ['hi'] }] }, 'messages[0].content[0]'],
    [{ model: 'm', messages: [], tools: {} }, 'tools'],
    [{ model: 'm', messages: [], system: 7 }, 'system'],
  ])('are refused where a field has the wrong type: %j', (body, param) => {
    expect(countTokens.validate(body)).toMatchObject({ param, missing: false });
  });
});
