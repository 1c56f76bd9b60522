import type { Rule } from './differences.ts';

const of = (subject: string, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `anthropic-${subject}/${name}`);

/** Gatehouse against `@ai-sdk/google-vertex`, both given requests of the Messages API. */
export const MESSAGES_TO_GEMINI_DIFFERENCES: readonly Rule[] = [
  {
    cases: of('turns', 'system-for-gemma'),
    paths: ['contents[].parts[].text'],
    reason: 'wire.md D2.1: the system prompt goes before the first user turn, in a part of its own',
  },
  {
    cases: of('turns', 'system-turn', 'system-both'),
    paths: ['refused'],
    reason: 'wire.md D2.1: later system turns are collected too; the SDK throws',
  },
  {
    cases: of('turns', 'empty-texts', 'empty-content'),
    paths: ['contents[]**'],
    reason: 'wire.md C4 and D2.3: no empty parts, turns of nothing else are left out, and their neighbours are merged',
  },
  {
    cases: of('turns', 'user-neighbours'),
    paths: ['contents[]**'],
    reason: 'wire.md D2.3: turns alternate, so neighbours of one role are merged',
  },
  {
    cases: of('rounds', 'parallel-calls', 'result-pictures-parallel'),
    models: /gemini-3/,
    paths: ['contents[].parts[].thoughtSignature'],
    reason: 'wire.md D9: only the first call of a turn stands for its missing signature; the later ones carry none',
  },
  {
    cases: of('rounds', 'results-scrambled'),
    paths: ['contents[].parts[].functionResponse.**'],
    reason: 'wire.md D2.6: results come in the order of the calls, as Vertex pairs them by it',
  },
  {
    cases: of('rounds', 'result-error'),
    paths: ['contents[].parts[].functionResponse.response.**'],
    reason: 'wire.md D13: the key for a call that failed is `error`',
  },
  {
    cases: of('rounds', 'result-object'),
    paths: ['contents[].parts[].functionResponse.response.**'],
    reason: 'wire.md D2.6: a result that is a JSON object is passed as one',
  },
  {
    cases: of('rounds', 'result-blocks'),
    paths: ['contents[].parts[]**'],
    reason: 'wire.md D13: the blocks of a result are one result; the SDK makes several responses to one call',
  },
  {
    cases: of('rounds', 'result-picture', 'result-picture-only', 'result-pictures-parallel'),
    models: /gemini-2/,
    paths: ['contents[]**'],
    reason: 'wire.md D2.3 and D13: every call has its response, and the pictures follow in a user turn of their own',
  },
  {
    cases: of('rounds', 'result-picture-only', 'result-pictures-parallel'),
    models: /gemini-3/,
    paths: ['contents[].parts[].functionResponse.response.output'],
    reason: 'the SDK puts words into the mouth of a tool that said nothing',
  },
  {
    cases: of('blocks', 'image-only'),
    paths: ['contents[].parts[]'],
    reason: 'wire.md D2.7: media without a word get a blank one',
  },
  {
    cases: of('tools', 'schema'),
    paths: ['tools[].functionDeclarations[].parametersJsonSchema.**'],
    reason: 'wire.md D6: the JSON Schema carrier keeps references, alternatives and null; the SDK writes OpenAPI’s',
  },
  {
    cases: of('tools', 'web-search-beside'),
    paths: ['tools[]**', 'toolConfig'],
    reason:
      'wire.md C4: search and functions are both sent and the upstream judges; the SDK drops the functions before 3',
  },
  {
    cases: of('reasoning', 'budget-large', 'budget-zero', 'disabled'),
    models: /gemini-2\.5/,
    paths: ['generationConfig.thinkingConfig.thinkingBudget'],
    reason: 'wire.md C4: budgets outside what the model takes are clamped, and the clamping is told',
  },
  {
    cases: of('reasoning', 'effort-medium'),
    models: /gemini-3-pro/,
    paths: ['generationConfig.thinkingConfig.thinkingLevel'],
    reason: 'wire.md D8: the first Gemini 3 Pro has no level between LOW and HIGH',
  },
  {
    cases: of('reasoning', 'budget-for-a-thoughtless-model'),
    paths: ['generationConfig.thinkingConfig'],
    reason: 'wire.md C4: a model that does not think is not told how much; a reported loss',
  },
  {
    cases: of('reasoning', 'thought-of-claude', 'thought-of-gemini', 'thought-unsigned', 'thought-and-call'),
    paths: ['contents[].parts[]**'],
    reason: 'wire.md D2.4: thoughts are not sent back, but for Gemini’s own signature',
  },
  {
    cases: of('reasoning', 'answer-schema', 'answer-schema-and-tools'),
    paths: ['generationConfig.responseJsonSchema.additionalProperties'],
    reason: 'wire.md D6: additionalProperties is known to the JSON Schema carrier',
  },
  {
    cases: of('fields', 'stop-sequences-many'),
    paths: ['generationConfig.stopSequences[]'],
    reason: 'wire.md C4: Gemini takes five; the rest is a reported loss',
  },
  {
    cases: of('fields', 'max-tokens-missing'),
    paths: ['generationConfig'],
    reason: 'an empty generationConfig says nothing',
  },
];
