import { describe, expect, it } from 'vitest';
import type { ToolCallPart, Turn } from './conversation.ts';
import { OpenActions } from './open-actions.ts';

const call = (id: string, name = 'click_at'): ToolCallPart => ({ type: 'tool_call', id, name, arguments: '{}' });
const said = (text: string): Turn => ({ role: 'user', parts: [{ type: 'text', text }] });
const actionsWith = (...ids: readonly string[]): OpenActions => {
  const actions = new OpenActions([{ type: 'function', name: 'computer_use' }]);
  for (const id of ids) actions.called(call(id));
  return actions;
};

describe('Actions of computer use without a result', () => {
  it('are answered by the user’s content, in the order of the calls', () => {
    const actions = actionsWith('a', 'b', 'c');
    actions.answered({ type: 'tool_result', callId: 'b', content: [] });
    expect(actions.answeredBy(said('done'))?.map(({ part }) => [part.callId, part.content.length])).toEqual([
      ['a', 1],
      ['c', 1],
    ]);
    expect(actions.answeredBy(said('more'))).toBeUndefined();
  });

  it('do not multiply a long message: only the last result has it', () => {
    const ids = Array.from({ length: 1000 }, (_, at) => `c${at}`);
    const answers = actionsWith(...ids).answeredBy(said('x'.repeat(1000)))!;
    expect(answers).toHaveLength(1000);
    expect(answers.filter(({ part }) => part.content.length > 0).map(({ part }) => part.callId)).toEqual(['c999']);
  });
});
