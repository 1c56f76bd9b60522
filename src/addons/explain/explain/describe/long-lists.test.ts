import { describe, expect, it } from 'vitest';
import { explain } from '../explain.testkit.ts';

const catalog = { providers: [{ slug: 'claude', provider: 'anthropic', api_key: '${env:NONE:-upstream-secret-key}' }] };
const gateway = { it: { provider: '@claude', override_params: { model: 'claude-sonnet-4-5' } } };

const turns = (count: number): object => ({
  model: 'any',
  max_tokens: 16,
  messages: Array.from({ length: count }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: `${turn}`,
  })),
});

async function fieldsOf(count: number) {
  const { targets, notes } = await explain({ catalog, gateway }, { config: 'it', json: turns(count) });
  const { fields, fieldsUpTo, body } = targets[0]!.outbound!;
  return { fields, fieldsUpTo, body, notes, paths: fields.map(({ path }) => path) };
}

describe('the field sources of a long conversation', () => {
  it('cover all fields, up to 200 turns', async () => {
    const { paths, fieldsUpTo, notes } = await fieldsOf(200);
    expect(paths).toContain('messages.199.content.0.text');
    expect([fieldsUpTo, notes]).toEqual([undefined, []]);
  });

  it('cover the first 200 turns of a longer one, with a note; the body is complete', async () => {
    const { fields, paths, fieldsUpTo, notes, body } = await fieldsOf(201);
    expect(fieldsUpTo).toBe(200);
    expect(notes).toEqual(['field sources are shown for the first 200 elements of long lists']);
    expect(paths).toContain('messages.199.content.0.text');
    expect(paths.filter((path) => path.startsWith('messages.200'))).toEqual([]);
    expect(fields.find(({ path }) => path === 'messages.7.content.0.text')?.sources).toEqual([
      { kind: 'client', path: 'messages.7.content' },
    ]);
    expect(fields.find(({ path }) => path === 'model')?.sources).toMatchObject([{ kind: 'settings' }]);
    expect(body).toHaveProperty('messages.200.content.0.text', '200');
  });
});
