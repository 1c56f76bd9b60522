import type { Rule } from './differences.ts';

const of = (subject: string, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `anthropic-${subject}/${name}`);

/** Gatehouse against `@ai-sdk/google-vertex`, both given requests of the Messages API. */
export const MESSAGES_TO_GEMINI_DIFFERENCES: readonly Rule[] = [
  {
    cases: of('turns', 'system-for-gemma'),
    paths: ['contents[].parts[].text'],
    reason:
      'docs/protocols/requests.md#system-text-for-gemini: the system prompt goes before the first user turn, in a part of its own',
  },
  {
    cases: of('turns', 'system-turn', 'system-both'),
    paths: ['refused'],
    reason: 'docs/protocols/requests.md#system-text-for-gemini: later system turns are collected too; the SDK throws',
  },
  {
    cases: of('turns', 'empty-texts', 'empty-content'),
    paths: ['contents[]**'],
    reason:
      'docs/protocols/requests.md#turns-for-gemini: no empty parts, turns of nothing else are left out, and their neighbours are merged',
  },
  {
    cases: of('turns', 'user-neighbours'),
    paths: ['contents[]**'],
    reason: 'docs/protocols/requests.md#turns-for-gemini: turns alternate, so neighbours of one role are merged',
  },
  {
    cases: of('rounds', 'parallel-calls', 'result-pictures-parallel'),
    models: /gemini-3/,
    paths: ['contents[].parts[].thoughtSignature'],
    reason:
      'docs/protocols/gemini.md#missing-signature: only the first call of a turn stands for its missing signature; the later ones carry none',
  },
  {
    cases: of('rounds', 'results-scrambled'),
    paths: ['contents[].parts[].functionResponse.**'],
    reason:
      'docs/protocols/requests.md#results-for-gemini: results come in the order of the calls, as Vertex pairs them by it',
  },
  {
    cases: of('rounds', 'result-error'),
    paths: ['contents[].parts[].functionResponse.response.**'],
    reason: 'docs/protocols/messages-route.md#failed-results: the key for a call that failed is `error`',
  },
  {
    cases: of('rounds', 'result-object'),
    paths: ['contents[].parts[].functionResponse.response.**'],
    reason: 'docs/protocols/requests.md#results-for-gemini: a result that is a JSON object is passed as one',
  },
  {
    cases: of('rounds', 'result-blocks'),
    paths: ['contents[].parts[]**'],
    reason:
      'docs/protocols/messages-route.md#results: the blocks of a result are one result; the SDK makes several responses to one call',
  },
  {
    cases: of('rounds', 'result-picture', 'result-picture-only', 'result-pictures-parallel'),
    models: /gemini-2/,
    paths: ['contents[]**'],
    reason:
      'docs/protocols/requests.md#function-responses-alone: every call has its response, and the pictures follow in a user turn of their own',
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
    reason: 'docs/protocols/requests.md#media-alone: media without a word get a blank one',
  },
  {
    cases: of('tools', 'schema'),
    paths: ['tools[].functionDeclarations[].parametersJsonSchema.**'],
    reason:
      'docs/protocols/gemini.md#json-schema-form: the JSON Schema carrier keeps references, alternatives and null; the SDK writes OpenAPI’s',
  },
  {
    cases: of('tools', 'web-search-beside'),
    paths: ['tools[]**', 'toolConfig'],
    reason:
      'docs/protocols/gemini.md#built-in-tools: search and functions are both sent and the upstream judges; the SDK drops the functions before 3',
  },
  {
    cases: of('reasoning', 'budget-large', 'budget-zero', 'disabled'),
    models: /gemini-2\.5/,
    paths: ['generationConfig.thinkingConfig.thinkingBudget'],
    reason:
      'docs/protocols/gemini.md#thinking-config: budgets outside the model’s range are clamped, and the clamping is reported',
  },
  {
    cases: of('reasoning', 'effort-medium'),
    models: /gemini-3-pro/,
    paths: ['generationConfig.thinkingConfig.thinkingLevel'],
    reason: 'docs/protocols/gemini.md#thinking-config: the first Gemini 3 Pro has no level between LOW and HIGH',
  },
  {
    cases: of('reasoning', 'budget-for-a-thoughtless-model'),
    paths: ['generationConfig.thinkingConfig'],
    reason:
      'docs/protocols/gemini.md#thinking-config: a model that does not think is not told how much; a reported loss',
  },
  {
    cases: of('reasoning', 'thought-of-claude', 'thought-of-gemini', 'thought-unsigned', 'thought-and-call'),
    paths: ['contents[].parts[]**'],
    reason: 'docs/protocols/requests.md#thoughts-to-gemini: thoughts are not sent back, but for Gemini’s own signature',
  },
  {
    cases: of('reasoning', 'answer-schema', 'answer-schema-and-tools'),
    paths: ['generationConfig.responseJsonSchema.additionalProperties'],
    reason: 'docs/protocols/gemini.md#json-schema-form: additionalProperties is known to the JSON Schema carrier',
  },
  {
    cases: of('fields', 'stop-sequences-many'),
    paths: ['generationConfig.stopSequences[]'],
    reason: 'docs/protocols/gemini.md#stop-sequences: Gemini takes five; the rest is a reported loss',
  },
  {
    cases: of('tools', 'strict'),
    paths: ['tools[].functionDeclarations[].parametersJsonSchema.additionalProperties'],
    reason: 'docs/protocols/gemini.md#json-schema-form: additionalProperties is known to the JSON Schema carrier',
  },
  {
    cases: of('fields', 'max-tokens-zero'),
    paths: ['refused'],
    reason: 'docs/protocols/requests.md#numbers: an answer has one token at least; Gemini answers 400',
  },
  {
    cases: of('fields', 'max-tokens-missing'),
    paths: ['generationConfig'],
    reason: 'an empty generationConfig says nothing',
  },
];
