import { writeEnvelope } from '../../../src/formats/envelope.ts';
import { ALL, answer, assistant, GEMINIS, LLAMA, tool, use } from './anthropic.ts';
import { city, hi, text, user, type Cases } from './case.ts';
import { CLAUDES, GOOGLES } from './signatures.ts';

const GOOGLES_IN_ENVELOPE = writeEnvelope({ kind: 'thinking', maker: 'gemini', signature: GOOGLES });
const THINKERS = {
  gemini: ['gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-3-pro-preview', 'gemini-3-flash-preview'],
  openai: ['gpt-5'],
} as const;
const thinking = (rest: object) => ({ max_tokens: 40_000, thinking: rest });
const enabled = (budget_tokens: number) => thinking({ type: 'enabled', budget_tokens });
const thought = (signature?: string) => ({
  type: 'thinking',
  thinking: 'They greet.',
  ...(signature !== undefined && { signature }),
});
const format = { type: 'json_schema', schema: { ...city, additionalProperties: false } } as const;

/**
 * Thinking, its results, and the form of the answer (docs/protocols/requests.md#reasoning, docs/protocols/requests.md#response-format,
 * docs/protocols/replies.md#thought-signatures, docs/protocols/messages-route.md#thinking).
 */
export const anthropicReasoning: Cases = {
  'budget-small': { title: 'a small budget', request: enabled(1024), ...THINKERS },
  budget: { title: 'a budget', request: enabled(5000), ...THINKERS },
  'budget-large': { title: 'a large budget', request: enabled(32_000), ...THINKERS, llama: [LLAMA] },
  'budget-zero': { title: 'a budget of 0', request: enabled(0), ...THINKERS },
  adaptive: { title: 'thinking as the model sees fit', request: thinking({ type: 'adaptive' }), ...THINKERS },
  'adaptive-effort': {
    title: 'thinking as the model sees fit, with an effort',
    request: { ...thinking({ type: 'adaptive' }), output_config: { effort: 'medium' } },
    ...THINKERS,
  },
  'adaptive-shown': {
    title: 'thinking a summary of which is asked for',
    request: thinking({ type: 'adaptive', display: 'summarized' }),
    ...GEMINIS,
    strict: false,
  },
  'adaptive-omitted': {
    title: 'hidden thinking',
    request: thinking({ type: 'adaptive', display: 'omitted' }),
    ...GEMINIS,
    strict: false,
  },
  disabled: { title: 'thinking switched off', request: thinking({ type: 'disabled' }), ...THINKERS, llama: [LLAMA] },
  'between-tools': {
    title: 'thinking between tool calls only',
    request: thinking({ type: 'between_tools' }),
    ...THINKERS,
  },
  'effort-low': { title: 'little effort', request: { output_config: { effort: 'low' } }, ...THINKERS },
  'effort-medium': { title: 'some effort', request: { output_config: { effort: 'medium' } }, ...THINKERS },
  'effort-high': { title: 'much effort', request: { output_config: { effort: 'high' } }, ...THINKERS },
  'effort-xhigh': { title: 'very much effort', request: { output_config: { effort: 'xhigh' } }, ...THINKERS },
  'effort-max': { title: 'all the effort there is', request: { output_config: { effort: 'max' } }, ...THINKERS },
  'budget-and-effort': {
    title: 'a budget and an effort: the budget wins',
    request: { ...enabled(5000), output_config: { effort: 'low' } },
    ...GEMINIS,
  },
  'budget-for-a-thoughtless-model': {
    title: 'a budget for a model that does not think',
    request: enabled(5000),
    gemini: ['gemini-2.0-flash-001'],
    openai: [],
  },
  'task-budget': {
    title: 'a budget for the whole task',
    request: { output_config: { task_budget: { type: 'tokens', total: 100_000 } } },
  },
  'thought-of-claude': {
    title: 'a thought of Claude’s in an earlier turn',
    request: { messages: [hi, assistant(thought(CLAUDES), text('Hello.')), hi] },
    ...ALL,
  },
  'thought-of-gemini': {
    title: 'a thought of Gemini’s in an earlier turn',
    request: { messages: [hi, assistant(thought(GOOGLES_IN_ENVELOPE), text('Hello.')), hi] },
    ...ALL,
  },
  'thought-unsigned': {
    title: 'a thought with the empty signature the gateway writes',
    request: { messages: [hi, assistant(thought(''), text('Hello.')), hi] },
    ...GEMINIS,
    claude: ['claude-sonnet-4-5'],
  },
  'thought-redacted': {
    title: 'a thought that is sealed',
    request: { messages: [hi, assistant({ type: 'redacted_thinking', data: 'AAAA' }, text('Hello.')), hi] },
    ...ALL,
  },
  'thought-and-call': {
    title: 'thinking, a call and its result',
    request: {
      ...enabled(5000),
      tools: [tool('weather')],
      messages: [
        hi,
        assistant(thought(CLAUDES), text('Let me look.'), use('toolu_1', 'weather', { city: 'Oslo' })),
        user(answer('toolu_1', 'rain')),
      ],
    },
    ...ALL,
  },
  'answer-schema': { title: 'an answer by a schema', request: { output_config: { format } }, ...ALL },
  'answer-schema-deprecated': {
    title: 'an answer by a schema, in the deprecated field',
    request: { output_format: format },
  },
  'answer-schema-and-tools': {
    title: 'an answer by a schema, with a tool',
    request: { output_config: { format }, tools: [tool('weather')] },
    ...GEMINIS,
  },
  'answer-schema-and-effort': {
    title: 'an answer by a schema, with an effort',
    request: { output_config: { format, effort: 'low' } },
  },
};
