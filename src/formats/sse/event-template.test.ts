import { describe, expect, it } from 'vitest';
import { EventTemplate } from './event-template.ts';

const event = (text: string, end = '\n\n'): string => `data: {"a":1,"content":"${text}","usage":null}${end}`;
const learned = (text = event('first'), removed?: { from: number; to: number }): EventTemplate => {
  const template = new EventTemplate(/"content":"/g);
  template.learn(text, removed);
  return template;
};

describe('a template of an event', () => {
  it.each([
    ['another text', event('second')],
    ['an empty text', event('')],
    ['escapes', event(String.raw`\"content\":\"\\`)],
    ['characters beyond ASCII', event('é 🙂')],
  ])('matches an event with %s, wherever it begins', (_, other) => {
    expect(learned().match(`before${other}after`, 6)).toBe(6 + other.length);
  });

  it.each([
    ['another number', event('x').replace('1', '2')],
    ['another key', event('x').replace('usage', 'usagf')],
    ['more behind its text', event('x","y":"z')],
    ['a control character in its text', event('\n')],
    ['an escaped control character in its text', event('\\\n')],
    ['another line end', event('x', '\r\n\r\n')],
    ['a text that does not end', event('x').slice(0, 30)],
    ['its end cut off', event('x').slice(0, -1)],
  ])('does not match an event with %s', (_, other) => {
    expect(learned().match(other, 0)).toBe(-1);
  });

  it.each([
    ['nothing is learned', undefined],
    ['the event has no free text', 'data: {"a":1}\n\n'],
    ['the event ends in a lone CR, which an LF may follow', event('x', '\r\r')],
    ['the free text of the event does not end', 'data: {"content":"x\n\n'],
  ])('matches nothing where %s', (_, first) => {
    const template = new EventTemplate(/"content":"/g);
    if (first !== undefined) template.learn(first);
    expect(template.match(first ?? event('x'), 0)).toBe(-1);
  });

  it('finds the removed part of a match behind its text', () => {
    const first = event('first');
    const template = learned(first, { from: first.indexOf(',"usage"'), to: first.indexOf('}') });
    const other = event('a longer second');
    template.match(`before${other}`, 6);
    const { from, to } = template.removed!;
    expect(`before${other}`.slice(from, to)).toBe(',"usage":null');
  });

  it('is not learned where the removed part holds a free text', () => {
    const first = event('first');
    expect(learned(first, { from: 0, to: first.length }).match(first, 0)).toBe(-1);
  });

  it('is no longer learned after eight events that none has matched', () => {
    const template = learned();
    for (let at = 0; at < 10; at += 1) template.learn(event('x').replace('1', `${at}`));
    expect(template.match(event('x').replace('1', '9'), 0)).toBe(-1);
    const renewed = learned();
    for (let at = 0; at < 10; at += 1) {
      const other = event('x').replace('1', `${at}`);
      renewed.learn(other);
      expect(renewed.match(other, 0)).toBe(other.length);
    }
  });
});
