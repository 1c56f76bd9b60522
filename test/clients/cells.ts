import { expect } from 'vitest';
import { CITIES, heard, PNG, quoted, rain, RECALLED, REPORT, sawImage, thoughtOf, USAGE } from './words.ts';
import type { Driver, Outcome, Wish } from './drivers/driver.ts';
import type { UpstreamKind } from './matrix.ts';

/** The rows of the matrix: what is asked, and what every client has to make of every upstream's answer. */

export interface Scenario {
  readonly name: string;
  readonly wish: Omit<Wish, 'model'>;
  expected(driver: Driver, upstream: UpstreamKind): Partial<Outcome>;
}

const HELLO = 'Say hello.';
const ONE = 'Weather in Oslo?';
const BOTH = 'Weather in Oslo and Bergen?';
const callsFor = (...cities: readonly string[]) => cities.map((city) => ({ name: 'weather', args: { city } }));

const both = (name: string, row: Omit<Scenario, 'name'>): Scenario[] => [
  { name, ...row },
  { ...row, name: `${name}, streamed`, wish: { ...row.wish, stream: true } },
];

const greeted = ({ done }: Driver): Partial<Outcome> => ({
  text: heard(HELLO),
  calls: [],
  finish: done,
  usage: { input: USAGE.input, output: USAGE.output },
});

export const SCENARIOS: readonly Scenario[] = [
  { name: 'text', wish: { question: HELLO }, expected: greeted },
  {
    name: 'text, streamed',
    wish: { question: HELLO, stream: true },
    expected: (driver) => ({
      ...greeted(driver),
      ...(driver.lacks['usage of streams'] && { usage: expect.anything() }),
    }),
  },
  ...both('a tool in two turns', {
    wish: { question: ONE, tools: true },
    expected: () => ({ text: quoted([rain('Oslo')]), calls: callsFor('Oslo') }),
  }),
  ...both('parallel tools', {
    wish: { question: BOTH, tools: true },
    expected: () => ({ text: quoted(CITIES.map(rain)), calls: callsFor(...CITIES) }),
  }),
  ...both('thinking in two turns', {
    wish: { question: BOTH, tools: true, thinking: true },
    expected: ({ lacks }) => ({
      // Those who are not shown a thought cannot send it back; that must not break their second turn.
      text: expect.stringContaining(quoted(CITIES.map(rain))),
      calls: callsFor(...CITIES),
      ...(!lacks.thoughts && { thoughts: thoughtOf(BOTH).repeat(2) }),
    }),
  }),
  ...both('a signature in two turns', {
    wish: { question: BOTH, tools: true, thinking: true },
    expected: ({ lacks }, { wire }) => ({
      // Models that speak OpenAI's API sign nothing.
      text: quoted(CITIES.map(rain)) + (!lacks.thoughts && wire !== 'openai' ? RECALLED : ''),
    }),
  }),
  {
    name: 'structured output',
    wish: { question: 'Report.', report: true },
    expected: () => ({ text: JSON.stringify(REPORT), calls: [] }),
  },
  {
    name: 'vision',
    wish: { question: 'What is this?', image: true },
    expected: () => ({ text: sawImage('image/png', PNG) }),
  },
];
