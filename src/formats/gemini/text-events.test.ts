import { describe, expect, it } from 'vitest';
import { TextEventTemplate } from './text-events.ts';

const candidate = (part: string, beside = ''): string =>
  `{"candidates": [{"content": {"parts": [${part}],"role": "model"}${beside}}]`;
const event = (json: string): string => `data: ${json}\r\n\r\n`;
const usage = (count: string, total: string): string =>
  `"usageMetadata": {"promptTokenCount": 7,"candidatesTokenCount": ${count},"totalTokenCount": ${total}}`;
const counted = (text: string, count = '1', total = '8'): string =>
  event(`${candidate(`{"text": "${text}"}`)},${usage(count, total)},"modelVersion": "m"}`);

function learned(text: string): TextEventTemplate {
  const template = new TextEventTemplate();
  template.learn(text, JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)));
  return template;
}

describe('events that differ from a learned one in their text and their counts', () => {
  it('are read up to the first other event', () => {
    const events = counted('b', '2', '9') + counted(String.raw`c\u003c\n`, '10', '17');
    expect(learned(counted('a')).read(`before${events}${event('{}')}`, 6)).toEqual({
      choice: 0,
      literals: ['b', String.raw`c<\n`],
      usage: { promptTokenCount: 7, candidatesTokenCount: 10, totalTokenCount: 17 },
      end: 6 + events.length,
    });
  });

  it('are read until one begins like them and ends in another way', () => {
    const read = learned(counted('a')).read(counted('b', '2') + counted('c', '3', '4.5'), 0);
    expect(read).toMatchObject({ literals: ['b'], usage: { candidatesTokenCount: 2 }, end: counted('b').length });
  });

  it.each([
    ['another field', counted('b').replace('"m"', '"n"')],
    ['an empty text', counted('')],
    ['a broken escape', counted(String.raw`\x`)],
    ['a line end in its text', counted('\n')],
    ['a fraction', counted('b', '1.5')],
    ['an exponent', counted('b', '1e2')],
    ['a leading zero', counted('b', '01')],
    ['a negative count', counted('b', '-1')],
    ['a count of ten digits', counted('b', '1234567890')],
    ['its end cut off', counted('b').slice(0, -1)],
    ['other line ends', counted('b').replaceAll('\r', '')],
  ])('do not include one with %s', (_, other) => {
    expect(learned(counted('a')).read(other, 0)).toBeUndefined();
  });
});

describe('an event is not learned', () => {
  const text = '{"text": "a"}';
  it.each([
    ['with a thought', event(`${candidate('{"text": "a","thought": true}')}}`)],
    ['with two parts', event(`${candidate(`${text},${text}`)}}`)],
    ['with a call', event(`${candidate('{"functionCall": {"name": "f"}}')}}`)],
    ['with a finish reason', event(`${candidate(text, ',"finishReason": "STOP"')}}`)],
    ['with ratings', event(`${candidate(text, ',"safetyRatings": [{"category": "C"}]')}}`)],
    ['with log probabilities', event(`${candidate(text, ',"logprobsResult": {}')}}`)],
    ['with feedback', event(`${candidate(text)},"promptFeedback": {}}`)],
    ['with an error', event(`${candidate(text)},"error": {}}`)],
    ['with an equal key before its text', event(`{"text": "b",${candidate(text).slice(1)}}`)],
    ['with a repeated text', event(`${candidate('{"text": "b","text": "a"}')}}`)],
    ['with an equal count elsewhere', event(`${candidate(text)},${usage('1', '8')},"x": {"totalTokenCount": 8}}`)],
    ['with a long number', event(`${candidate(text)},"x": 12345678901234567}`)],
    ['that ends in a lone CR', event(`${candidate(text)}}`).replaceAll('\r\n', '\r')],
  ])('%s', (_, other) => {
    expect(learned(other).read(other, 0)).toBeUndefined();
  });

  it('after eight events that none has fitted', () => {
    const template = learned(counted('a'));
    const other = (at: number): string => counted('a').replace('"m"', `"${at}"`);
    for (let at = 0; at < 10; at += 1) template.learn(other(at), JSON.parse(other(at).slice(6)));
    expect(template.read(other(9), 0)).toBeUndefined();
  });
});
