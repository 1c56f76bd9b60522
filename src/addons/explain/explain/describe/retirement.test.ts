import { expect, it } from 'vitest';
import { explain } from '../explain.testkit.ts';
import { renderExplanation } from '../../explanation/render/explanation.ts';
import { lostBy } from './retirement.ts';

const CATALOG = `providers:
  - { slug: claude, provider: anthropic, api_key: a-key-of-anthropic }
  - { slug: google, provider: google-ai-studio, api_key: a-key-of-google }
  - { slug: open, provider: openai, api_key: a-key-of-the-provider }
  - { slug: own, provider: openai, base_url: "https://llm.example/v1", api_key: a-key-of-another }
`;

async function retirementOf(model: string, json: object = {}, path = '/v1/chat/completions') {
  const { targets } = await explain({ catalog: CATALOG }, { path, json: { model, ...json } });
  return targets[0]?.retires;
}

it('says when the model of a target retires, and what this request would lose with the successor', async () => {
  const opus = { day: '2027-01-22', successor: 'claude-opus-5-5' };
  expect(await retirementOf('@claude/claude-opus-4-5')).toEqual({ ...opus, loses: [] });
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: '{' },
  ];
  const prefilled = { max_tokens: 9, messages };
  expect(await retirementOf('@claude/claude-opus-4-5-20251101', prefilled, '/v1/messages')).toEqual({
    ...opus,
    loses: ['prefill, which this request uses'],
  });
  expect(await retirementOf('@google/gemini-2.0-flash', { modalities: ['text', 'audio'] })).toEqual({
    day: '2026-06-01',
    successor: 'gemini-3.6-flash',
    loses: ['audio_out, which this request uses'],
  });
});

it('shows both in the text', async () => {
  const prefilled = {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '{' },
    ],
  };
  const reported = await explain({ catalog: CATALOG }, { json: { model: '@claude/claude-opus-4-5', ...prefilled } });
  expect(renderExplanation(reported, { width: 100, colour: false })).toContain(
    '  retires     2027-01-22, successor claude-opus-5-5\n              loses prefill, which this request uses\n',
  );
});

it('says nothing of a model without a day, and of a server at an address of its own', async () => {
  for (const model of ['@open/gpt-6-luna', '@open/gpt-of-tomorrow', '@own/gpt-4o'])
    expect([model, await retirementOf(model)]).toEqual([model, undefined]);
  expect((await retirementOf('@open/gpt-4o'))?.day).toBe('2027-01-14');
});

it('counts what smaller limits lose, where both are known', () => {
  const large = {
    context: 1000,
    maxInput: 1000,
    maxOutput: 200,
    capabilities: ['tools', 'vision'],
    retires: undefined,
  } as const;
  const small = { ...large, context: 400, maxOutput: 150, capabilities: ['tools'] } as const;
  expect(lostBy(large, small, ['tools', 'vision', 'pdf'])).toEqual([
    '600 of 1000 tokens of the context window',
    '50 of 200 tokens of the longest answer',
    'vision, which this request uses',
  ]);
  expect(lostBy(small, large, ['tools'])).toEqual([]);
  expect(lostBy(large, { ...small, context: undefined, maxOutput: undefined }, [])).toEqual([]);
});
