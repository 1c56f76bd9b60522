import { describe, expect, it } from 'vitest';
import { readsFault } from './reads.ts';

const hook = (): void => {};
const fault = (reads: object, made: unknown, level: 'entry' | 'request' = 'request') =>
  readsFault({ level, reads }, made);

describe('a plugin with hooks', () => {
  it.each([
    ['observes a request', { request: 'observe' }, { request: hook }],
    [
      'changes texts',
      { request: 'texts', reply: 'texts', kinds: ['text', 'error'] },
      { request: hook, reply: hook, end: hook },
    ],
    ['changes events', { reply: 'events' }, { events: hook }],
    ['reads nothing', {}, { end: hook }],
  ])('starts if it %s', (_, reads, made) => expect(fault(reads, made)).toBeUndefined());

  it.each([
    ['an unknown level', { reply: 'all' }, { reply: hook }, '`reads.reply` is none, observe, texts, events, not "all"'],
    ['events of a request', { request: 'events' }, { request: hook }, '`reads.request` is none, observe or texts'],
    ['an unknown kind', { reply: 'texts', kinds: ['media'] }, { reply: hook }, '`reads.kinds` are text, thinking'],
    [
      'signed thinking',
      { reply: 'texts', kinds: ['signed_thinking'] },
      { reply: hook },
      'signed thinking cannot be changed',
    ],
    ['a hold of nothing', { reply: 'texts', hold: { bytes: 0 } }, { reply: hook }, '`reads.hold`'],
    ['a hook that is missing', { request: 'texts' }, { reply: hook }, 'no hook `request`'],
    [
      'a hook that it does not declare',
      { request: 'texts' },
      { request: hook, reply: hook },
      'hook `reply` would never be called',
    ],
    ['middleware', { request: 'texts' }, hook, 'returned no hooks'],
  ])('is refused with %s', (_, reads, made, message) => expect(fault(reads, made)).toContain(message));

  it('does not belong in the entry chain', () => {
    expect(fault({ request: 'texts' }, { request: hook }, 'entry')).toContain('entry chain');
  });
});
