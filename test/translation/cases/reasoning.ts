import { type Cases, hi } from './case.ts';

const GEMINI = ['gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-3-pro-preview', 'gemini-3-flash-preview'] as const;
const CLAUDE = ['claude-sonnet-4-5', 'claude-opus-4-6', 'claude-opus-4-7'] as const;
const ALL = { gemini: GEMINI, claude: CLAUDE } as const;
const roomy = { max_tokens: 40_000 } as const;
const enabled = (budget_tokens: number) => ({ type: 'enabled', budget_tokens });

/** Reasoning (docs/protocols/requests.md#reasoning). */
export const reasoning: Cases = {
  'effort-none': {
    title: 'no thinking',
    request: { reasoning_effort: 'none' },
    gemini: GEMINI,
    claude: [...CLAUDE, 'claude-sonnet-5-5', 'claude-opus-5-5'],
  },
  'effort-minimal': {
    title: 'as little thinking as there is',
    request: { ...roomy, reasoning_effort: 'minimal' },
    ...ALL,
  },
  'effort-low': { title: 'little thinking', request: { ...roomy, reasoning_effort: 'low' }, ...ALL },
  'effort-medium': { title: 'some thinking', request: { ...roomy, reasoning_effort: 'medium' }, ...ALL },
  'effort-high': { title: 'much thinking', request: { ...roomy, reasoning_effort: 'high' }, ...ALL },
  'effort-xhigh': { title: 'very much thinking', request: { ...roomy, reasoning_effort: 'xhigh' }, ...ALL },
  'effort-max': { title: 'as much thinking as there is', request: { ...roomy, reasoning_effort: 'max' }, ...ALL },
  'effort-tight': {
    title: 'some thinking within a limit that is below it',
    request: { max_tokens: 4096, reasoning_effort: 'medium' },
  },
  'effort-no-room': {
    title: 'some thinking within a limit that leaves no room',
    request: { max_tokens: 512, reasoning_effort: 'low' },
  },
  'effort-thoughtless': {
    title: 'thinking of models that do not think',
    request: { ...roomy, reasoning_effort: 'high' },
    gemini: ['gemini-2.0-flash-001'],
    claude: ['claude-3-5-haiku-20241022'],
  },
  'effort-shown': {
    title: 'thinking that is shown to the client',
    request: { ...roomy, reasoning_effort: 'low' },
    ...ALL,
    strict: false,
  },
  budget: { title: 'a thinking budget', request: { ...roomy, thinking: enabled(2048) }, ...ALL },
  'budget-large': {
    title: 'a large thinking budget',
    request: { max_tokens: 60_000, thinking: enabled(50_000) },
    ...ALL,
  },
  'budget-tiny': { title: 'a tiny thinking budget', request: { ...roomy, thinking: enabled(100) }, ...ALL },
  'budget-zero': { title: 'a thinking budget of 0', request: { thinking: enabled(0) }, ...ALL },
  'budget-beyond-limit': {
    title: 'a thinking budget beyond the limit of the answer',
    request: { max_tokens: 3000, thinking: enabled(5000) },
  },
  'budget-unsaid': { title: 'thinking without a budget', request: { ...roomy, thinking: { type: 'enabled' } }, ...ALL },
  adaptive: { title: 'thinking as the model sees fit', request: { ...roomy, thinking: { type: 'adaptive' } }, ...ALL },
  disabled: {
    title: 'thinking switched off',
    request: { thinking: { type: 'disabled' } },
    gemini: GEMINI,
    claude: [...CLAUDE, 'claude-sonnet-5-5', 'claude-opus-5-5'],
  },
  'disabled-and-effort': {
    title: 'thinking switched off, beside an effort',
    request: { thinking: { type: 'disabled' }, reasoning_effort: 'high' },
    ...ALL,
  },
  'between-tools': {
    title: 'thinking between tool calls only',
    request: { thinking: { type: 'between_tools' } },
    claude: ['claude-opus-4-7', 'claude-sonnet-5-5'],
  },
  'budget-and-effort': {
    title: 'a budget and an effort: the budget wins',
    request: { ...roomy, thinking: enabled(2048), reasoning_effort: 'high' },
    ...ALL,
  },
  'adaptive-and-effort': {
    title: 'thinking as the model sees fit, with an effort',
    request: { ...roomy, thinking: { type: 'adaptive' }, reasoning_effort: 'medium' },
    ...ALL,
  },
  'effort-and-sampling': {
    title: 'thinking with a temperature and a stop text',
    request: { ...roomy, reasoning_effort: 'low', temperature: 0.3, stop: ['END'] },
    gemini: ['gemini-3-pro-preview'],
    claude: ['claude-sonnet-4-5', 'claude-opus-4-6'],
  },
  'thoughts-of-earlier-turns': {
    title: 'unsigned thinking of an earlier turn',
    request: {
      messages: [hi, { role: 'assistant', content: 'Hello.', reasoning_content: 'They greet.' }, hi],
    },
  },
};
