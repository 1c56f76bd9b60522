import { describe, expect, test } from 'vitest';
import { compilePartials, compileVersion } from '../../src/addons/prompts/compile.ts';
import { PromptRenderer } from '../../src/addons/prompts/rendered.ts';
import { growthOf, MOST_GROWTH } from './measure.ts';
import { members, repeat, text } from './repeat.ts';

const FILE = {
  text: '{{text}} {{{text}}} {{#list}}<{{.}}>{{/list}}',
  variables: { text: { default: '' }, list: { default: [] } },
};
const renderer = new PromptRenderer(compileVersion(1, FILE, compilePartials(new Map())));

const VARIABLES: Readonly<Record<string, (bytes: number) => Record<string, unknown>>> = {
  'one long text': (bytes) => ({ text: text(bytes, '{{&<"\\') }),
  'one long list': (bytes) => ({ list: repeat(bytes, () => 'x') }),
  'variables that the prompt does not have': (bytes) => members(bytes, (at) => [`k_${at}`, 1]),
};

describe('The cost of rendering a prompt', () => {
  test.each(Object.entries(VARIABLES))('grows with its bytes for %s', { timeout: 120_000 }, (_, make) => {
    const { factor } = growthOf((bytes) => {
      const variables = make(bytes);
      return () => {
        try {
          renderer.render(variables, Infinity);
        } catch {
          // A refusal is an outcome.
        }
      };
    });
    expect(factor).toBeLessThan(MOST_GROWTH);
  });
});
