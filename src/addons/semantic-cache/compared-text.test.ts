import { describe, expect, it } from 'vitest';
import { chatCompletions, embeddings } from '../../core/operations/openai.ts';
import { RequestBody } from '../../core/kernel/index.ts';
import { MAX_TEXT, splitText } from './compared-text.ts';

const bodyOf = (text: string): RequestBody => RequestBody.read(Buffer.from(text), 64);
const splitOf = (text: string, operation = chatCompletions) => splitText({ operation }, bodyOf(text));
const split = (messages: unknown) => splitOf(JSON.stringify({ model: 'm', messages }));
const around = (messages: unknown): readonly string[] => {
  const result = split(messages);
  if (typeof result === 'string') throw new Error(result);
  return [...result.around.map(String), result.text];
};

const user = (content: unknown) => ({ role: 'user', content });
const text = (value: string) => ({ type: 'text', text: value });

describe('the compared text', () => {
  it('is the content of the last user message', () => {
    expect(around([{ role: 'system', content: 'Be kind.' }, user('Grüße "x" \n')])).toEqual([
      '[{"role":"system","content":"Be kind."},{"role":"user","content":',
      '}]',
      'Grüße "x" \n',
    ]);
  });

  it('is the last text part of the last user message', () => {
    expect(around([user([text('a'), { ...text('b'), cache_control: { type: 'ephemeral' } }])])).toEqual([
      '[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":',
      ',"cache_control":{"type":"ephemeral"}}]}]',
      'b',
    ]);
  });

  it('leaves equal texts of earlier turns in what must be equal', () => {
    const [before] = around([user('hi'), { role: 'assistant', content: 'hi' }, user('hi')]);
    expect(before).toBe(
      '[{"role":"user","content":"hi"},{"role":"assistant","content":"hi"},{"role":"user","content":',
    );
  });

  it('keeps the bytes around it as they came: spaces and large numbers count', () => {
    const result = splitOf('{"messages": [ {"x": 90071992547409931, "role":"user" ,"content" : "hi"} ] }');
    expect(result).toMatchObject({ text: 'hi' });
    expect(String((result as { around: readonly Buffer[] }).around[0])).toContain('90071992547409931');
  });

  it('is that of an edited body', () => {
    const body = bodyOf('{"messages":[]}').edit([{ path: ['messages'], value: [user('new')], source: 'override' }]);
    expect(splitText({ operation: chatCompletions }, body)).toMatchObject({ text: 'new' });
  });
});

describe('a request that is compared exactly only', () => {
  it.each([
    ['media', [user([text('a'), { type: 'image_url', image_url: { url: 'https://e.example/a.png' } }])]],
    ['media', [user([text('a'), { type: 'unknown' }])]],
    ['media', [user([text('a'), 'b'])]],
    ['tools', [{ role: 'assistant', tool_calls: [{ id: 'c' }] }, user('a')]],
    ['tools', [{ role: 'tool', content: 'b', tool_call_id: 'c' }, user('a')]],
    ['tools', [user([{ type: 'tool_result', tool_use_id: 'c' }, text('a')])]],
    ['tools', [{ role: 'assistant', content_blocks: [{ type: 'tool_use' }] }, user('a')]],
    ['tools', [{ role: 'assistant', content: [{ type: 'mcp_tool_result', tool_use_id: 'c' }] }, user('a')]],
    ['last_turn', []],
    ['last_turn', [user('a'), { role: 'assistant', content: 'b' }]],
    ['last_turn', [user(null)]],
    ['last_turn', [user([])]],
    ['last_turn', [null]],
    ['empty_text', [user(' \n')]],
    ['long_text', [user('a'.repeat(MAX_TEXT + 1))]],
    ['large_body', [user('a'.repeat(300_000)), user('b')]],
    ['operation', 'hi'],
  ])('is one with %s', (why, messages) => {
    expect(split(messages)).toBe(why);
  });

  it('is one whose last content stands under an escaped key', () => {
    expect(splitOf('{"messages":[{"role":"user","content":"a"},{"role":"user","c\\u006fntent":"a"}]}')).toBe(
      'last_turn',
    );
  });

  it('is one of another task, and one without messages', () => {
    expect(splitOf('{"messages":[{"role":"user","content":"a"}]}', embeddings)).toBe('operation');
    expect(splitOf('{"input":"a"}')).toBe('operation');
  });
});
