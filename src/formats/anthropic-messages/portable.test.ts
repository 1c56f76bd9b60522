import { describe, expect, it } from 'vitest';
import type { JsonObject, Part } from '../conversation.ts';
import { deepFreeze } from '../contexts.testkit.ts';
import { anthropicMessages as format } from './index.ts';

const hi = { role: 'user', content: 'hi' };
const portable = (body: JsonObject) =>
  format.toPortable(format.decodeRequest(deepFreeze({ model: 'm', max_tokens: 10, messages: [hi], ...body })));

/** The portable form of one block of a user or of the assistant. */
function partsOf(block: JsonObject, role: 'user' | 'assistant' = 'assistant') {
  const { conversation, losses } = portable({ messages: [{ role, content: [{ type: 'text', text: 'a' }, block] }] });
  const parts: readonly Part[] = conversation.turns.flatMap((turn) => turn.parts).slice(1);
  return { parts, losses: losses.map(({ param, action }) => `${action} ${param}`) };
}

describe('a conversation for a model of another API', () => {
  it.each<[string, JsonObject, string]>([
    [
      'a search result',
      { type: 'search_result', title: 'T', source: 'S', content: [{ type: 'text', text: 'x' }] },
      'T\nS\nx',
    ],
    [
      'a document of blocks',
      { type: 'document', title: 'T', source: { type: 'content', content: [{ type: 'text', text: 'x' }] } },
      'T\nx',
    ],
    ['a document of words', { type: 'document', source: { type: 'content', content: 'x' } }, 'x'],
    ['what compaction left', { type: 'compaction', content: 'So far.' }, 'So far.'],
    [
      'a web search',
      {
        type: 'web_search_tool_result',
        tool_use_id: 's',
        content: [{ type: 'web_search_result', url: 'u', title: 'A', encrypted_content: 'RW5j' }],
      },
      'Result of web_search: [{"type":"web_search_result","url":"u","title":"A"}]',
    ],
    [
      'code that ran',
      {
        type: 'bash_code_execution_tool_result',
        tool_use_id: 's',
        content: { type: 'bash_code_execution_result', stdout: '1' },
      },
      'Result of bash_code_execution: {"type":"bash_code_execution_result","stdout":"1"}',
    ],
  ])('has %s as text, which is reported', (_, block, text) => {
    const losses = ['downgraded messages[0].content[1]'];
    // After another text, on lines of its own.
    expect(partsOf(block)).toEqual({ parts: [{ type: 'text', text: `\n${text}` }], losses });
    expect(partsOf(block, 'user')).toEqual({ parts: [{ type: 'text', text }], losses });
  });

  it.each<[string, JsonObject]>([
    ['a call of a server tool', { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }],
    ['an upload', { type: 'container_upload', file_id: 'f' }],
    ['a block of tomorrow', { type: 'hologram', beam: 1 }],
    [
      'a document with a picture inside',
      { type: 'document', source: { type: 'content', content: [{ type: 'image', source: {} }] } },
    ],
  ])('leaves %s unchanged, for the other format to report', (_, block) => {
    const { parts, losses } = partsOf(block);
    expect(parts).toMatchObject([{ type: 'opaque', value: block }]);
    expect(losses).toEqual([]);
  });

  it('has the search results inside a tool result as text too', () => {
    const inside = { type: 'search_result', title: 'T', source: 'S', content: [{ type: 'text', text: 'x' }] };
    const { conversation } = portable({
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [inside] }] }],
    });
    expect(conversation.turns[0]!.parts).toMatchObject([{ content: [{ type: 'text', text: 'T\nS\nx' }] }]);
  });

  it('marks unsigned thoughts as shown alone, and keeps signed ones', () => {
    expect(partsOf({ type: 'thinking', thinking: 'hm', signature: '' })).toEqual({
      parts: [{ type: 'thinking', text: 'hm', shown: true }],
      losses: [],
    });
    expect(partsOf({ type: 'thinking', thinking: 'hm', signature: 'c2ln' }).parts).toEqual([
      { type: 'thinking', text: 'hm', signature: 'c2ln' },
    ]);
  });

  it('keeps a turn that was empty before', () => {
    expect(portable({ messages: [{ role: 'user', content: '' }] }).conversation.turns).toHaveLength(1);
  });

  it('has a strict answer schema, as Claude’s always is', () => {
    const schema = { type: 'object' };
    expect(
      portable({ output_config: { format: { type: 'json_schema', schema } } }).conversation.responseFormat,
    ).toEqual({
      type: 'json_schema',
      strict: true,
      schema,
    });
  });

  it.each(['web_search_20250305', 'code_execution_20250825', 'tool_search_tool_bm25_20251119'])(
    'may have the tool %s, which the provider runs',
    (type) => {
      expect(portable({ tools: [{ type, name: 'x' }] }).conversation.tools).toHaveLength(1);
    },
  );
});
