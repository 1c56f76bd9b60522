import type { Cases } from './case.ts';

const CLAUDE = { claude: ['claude-sonnet-4-5', 'claude-opus-4-7'] } as const;
const GEMINI = { gemini: ['gemini-2.5-flash', 'gemini-3-pro-preview'] } as const;

/**
 * Sampling (docs/protocols/requests.md#sampling, docs/protocols/anthropic-messages.md#sampling,
 * docs/protocols/gemini.md#generation-config).
 */
export const sampling: Cases = {
  temperature: { title: 'a temperature', request: { temperature: 0.7 }, ...CLAUDE, ...GEMINI },
  'temperature-zero': { title: 'a temperature of 0', request: { temperature: 0 }, ...CLAUDE },
  'temperature-one': { title: 'the default temperature', request: { temperature: 1 }, ...CLAUDE },
  'temperature-hot': { title: 'a temperature beyond what Claude takes', request: { temperature: 1.6 }, ...CLAUDE },
  'temperature-thinking': {
    title: 'a temperature while the model thinks',
    request: { temperature: 0.2, top_k: 5, thinking: { type: 'enabled', budget_tokens: 1024 } },
  },
  'top-p': { title: 'nucleus sampling', request: { top_p: 0.9 }, ...CLAUDE },
  'top-p-high': {
    title: 'nucleus sampling that newer models take as the default',
    request: { top_p: 0.99 },
    ...CLAUDE,
  },
  'temperature-top-p': {
    title: 'temperature and nucleus sampling together',
    request: { temperature: 0.5, top_p: 0.9 },
    claude: ['claude-sonnet-4-20250514', 'claude-sonnet-4-5'],
  },
  'top-k': { title: 'the k likeliest tokens', request: { top_k: 40 }, ...CLAUDE },
  'stop-text': { title: 'one stop text', request: { stop: 'END' } },
  'stop-list': { title: 'several stop texts', request: { stop: ['END', 'STOP'] } },
  'stop-blank': { title: 'a stop text of white space', request: { stop: ['\n\n', 'END'] } },
  'stop-six': { title: 'more stop texts than Gemini takes', request: { stop: ['a', 'b', 'c', 'd', 'e', 'f'] } },
  'several-answers': { title: 'two answers', request: { n: 2 } },
  'one-answer': { title: 'one answer, said so', request: { n: 1 } },
  seed: { title: 'a seed', request: { seed: 7 } },
  penalties: { title: 'penalties', request: { frequency_penalty: 0.5, presence_penalty: -0.5 }, ...GEMINI },
  logprobs: { title: 'log probabilities with alternatives', request: { logprobs: true, top_logprobs: 3 } },
  'logprobs-none': { title: 'log probabilities with no alternatives', request: { logprobs: true, top_logprobs: 0 } },
  'logprobs-off': { title: 'no log probabilities, said so', request: { logprobs: false } },
  'max-completion-tokens': { title: 'the newer limit wins', request: { max_tokens: 100, max_completion_tokens: 200 } },
  'no-limit': { title: 'no limit of the answer', request: { max_tokens: null } },
  'all-settings': {
    title: 'all sampling settings that both families know',
    request: { temperature: 0.5, top_k: 20, stop: ['END'], max_tokens: 64 },
    ...GEMINI,
    ...CLAUDE,
  },
  nulls: {
    title: 'settings that are null are not set',
    request: { temperature: null, top_p: null, stop: null, tools: null, tool_choice: null, seed: null, user: null },
  },
};
