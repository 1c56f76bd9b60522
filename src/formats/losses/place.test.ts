import { describe, expect, it } from 'vitest';
import { BodyPlace } from './place.ts';

describe('A place', () => {
  it('is written as OpenAI writes `param`', () => {
    const message = BodyPlace.item('messages', 2);
    const part = BodyPlace.item(BodyPlace.field(message, 'content'), 0);
    expect(String(part)).toBe('messages[2].content[0]');
    expect(String(BodyPlace.itemOf(message, 'tool_calls', 3))).toBe('messages[2].tool_calls[3]');
    expect(String(BodyPlace.field(part, 'cache_control'))).toBe('messages[2].content[0].cache_control');
  });

  it('may begin with a string', () => {
    expect(String(BodyPlace.field('tools[1]', 'function'))).toBe('tools[1].function');
  });
});
