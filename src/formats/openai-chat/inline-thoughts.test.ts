import { describe, expect, it } from 'vitest';
import { AnswerTokens, InlineThoughts } from './inline-thoughts.ts';

function split(pieces: readonly string[]): { thought: string; answer: string } {
  const thoughts = new InlineThoughts();
  const parts = [...pieces.map((piece) => thoughts.push(piece)), thoughts.flush()];
  return {
    thought: parts.map(({ thought }) => thought).join(''),
    answer: parts.map(({ answer }) => answer).join(''),
  };
}

const ANSWERS: readonly (readonly [text: string, thought: string, answer: string])[] = [
  ['<think>\nTwo.\n</think>\n\nFour.', 'Two.', 'Four.'],
  ['<think>Two.</think>Four.', 'Two.', 'Four.'],
  [' \n<think>\r\na\r\r\n</think>\r\nb\n', 'a\r', 'b\n'],
  ['<think>\n\n</think>\n\nFour.', '', 'Four.'],
  ['<think>a < b </ thin </thin>\n\nc</think>d</think>', 'a < b </ thin </thin>\n\nc', 'd</think>'],
  ['<think>never closed </thin', 'never closed </thin', ''],
  ['<think>', '', ''],
  ['<thinking>no</thinking>', '', '<thinking>no</thinking>'],
  ['<thin', '', '<thin'],
  ['Use <think>x</think>.', '', 'Use <think>x</think>.'],
  [`${' '.repeat(17)}<think>x</think>y`, '', `${' '.repeat(17)}<think>x</think>y`],
  ['<THINK>x</THINK>', '', '<THINK>x</THINK>'],
  ['x</think>y', '', 'x</think>y'],
  ['', '', ''],
];

describe('a chain of thought in tags', () => {
  it.each(ANSWERS)('%j is split', (text, thought, answer) => {
    expect(split([text])).toEqual({ thought, answer });
  });

  it.each(ANSWERS)('%j is split equally by every two borders, and character by character', (text, thought, answer) => {
    for (let a = 0; a <= text.length; a += 1)
      for (let b = a; b <= text.length; b += 1)
        expect(split([text.slice(0, a), text.slice(a, b), text.slice(b)])).toEqual({ thought, answer });
    expect(split([...text])).toEqual({ thought, answer });
  });

  it('is passed on while it arrives, apart from what may be the closing tag', () => {
    const thoughts = new InlineThoughts();
    expect(thoughts.push('<think>').thought).toBe('');
    expect(thoughts.push('so far\n</th').thought).toBe('so far');
    expect(thoughts.push('us').thought).toBe('\n</thus');
  });

  it('costs time in proportion to its length, in pieces of one character too', () => {
    const thoughts = new InlineThoughts();
    thoughts.push('<think>');
    let length = 0;
    for (let at = 0; at < 500_000; at += 1) length += thoughts.push('<').thought.length;
    expect(length).toBe(500_000 - 1);
  }, 5_000);
});

describe('log probabilities', () => {
  const tokens = (...texts: string[]) => texts.map((token) => ({ token, logprob: -1 }));
  const kept = (...texts: string[]): string =>
    new AnswerTokens()
      .push(tokens(...texts))
      .map(({ token }) => token)
      .join('');

  it('of the chain of thought are left out', () => {
    expect(kept('<', 'think', '>', 'sec', 'ret', '</', 'think', '>', '\n', 'An', 'swer')).toBe('Answer');
  });

  it('of an answer without one are all kept', () => {
    expect(kept('<', 'b', '>', 'x')).toBe('<b>x');
  });

  it('are held in a bounded number', () => {
    const answer = new AnswerTokens();
    expect(answer.push(tokens(...Array<string>(100_000).fill('')))).toEqual([]);
    expect(answer.push(tokens('x')).length).toBeLessThan(100);
  });
});
