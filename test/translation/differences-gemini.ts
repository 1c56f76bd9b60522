import type { Rule } from './differences.ts';

const of = (subject: string, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `${subject}/${name}`);
const SCHEMAS = ['tools[].functionDeclarations[].parametersJsonSchema', 'generationConfig.responseJsonSchema'] as const;
const inSchemas = (...paths: readonly string[]): readonly string[] =>
  SCHEMAS.flatMap((schema) => paths.map((path) => `${schema}${path}`));

/** Gatehouse against `@ai-sdk/google-vertex`. */
export const GEMINI_DIFFERENCES: readonly Rule[] = [
  {
    cases: of('messages', 'system-later', 'system-before-and-later'),
    paths: ['refused'],
    reason:
      'docs/protocols/requests.md#system-text-for-gemini: system messages are collected wherever they stand; the SDK throws on later ones',
  },
  {
    cases: of('messages', 'system-only'),
    paths: ['contents[]', 'systemInstruction'],
    reason:
      'docs/protocols/requests.md#system-text-for-gemini: where nothing else remains, the system text is what the user says',
  },
  {
    cases: of('messages', 'system-for-gemma'),
    paths: ['contents[].parts[].text'],
    reason:
      'docs/protocols/requests.md#system-text-for-gemini: put before the first user turn by both; parts need no blank line between them',
  },
  {
    cases: of('messages', 'user-neighbours', 'assistant-neighbours', 'empty-parts'),
    paths: ['contents**'],
    reason:
      'docs/protocols/requests.md#turns-for-gemini: neighbours of one role are merged, empty turns left out; turns must alternate',
  },
  {
    cases: of('messages', 'parallel-calls'),
    paths: ['contents[].parts[].functionResponse**'],
    reason:
      'docs/protocols/requests.md#results-for-gemini: results stand in the order of their calls, by which Vertex pairs them',
  },
  {
    cases: ['messages/parallel-calls', 'signatures/missing'],
    paths: ['contents[].parts[].thoughtSignature'],
    reason:
      'docs/protocols/gemini.md#missing-signature: only the first call of a turn gets the escape value, later parallel ones none',
  },
  {
    cases: of('messages', 'result-object'),
    paths: ['contents[].parts[].functionResponse.response.**'],
    reason: 'docs/protocols/requests.md#results-for-gemini: a result that is a JSON object is sent as an object',
  },
  {
    cases: of('messages', 'result-texts'),
    paths: ['contents[].parts[]**'],
    reason:
      'docs/protocols/requests.md#results-for-gemini: the texts of one result are joined; one call has one response',
  },
  {
    cases: of('messages', 'result-image'),
    models: /2\.5/,
    paths: ['contents[]**'],
    reason:
      'docs/protocols/requests.md#function-responses-alone: before Gemini 3 media follow in a content of their own; responses stand alone',
  },
  {
    cases: of('messages', 'arguments-list'),
    paths: ['contents[].parts[].functionCall.args'],
    reason:
      'docs/protocols/requests.md#arguments: arguments are an object on this wire, other JSON is put into {"value": …}',
  },
  {
    cases: of('media', 'image-alone'),
    paths: ['contents[].parts[]'],
    reason: 'docs/protocols/requests.md#media-alone: media without a text get one',
  },
  {
    cases: of('media', 'pcm16', 'opus'),
    paths: ['contents[].parts[].inlineData.mimeType'],
    reason:
      'docs/protocols/requests.md#audio-formats: OpenAI’s names of formats are not MIME types; the SDK takes any type for one',
  },
  {
    cases: of('tools', 'function-rootless'),
    paths: inSchemas('.type'),
    reason: 'docs/protocols/requests.md#json-schema-for-gemini: properties without a type are an object',
  },
  {
    cases: of('tools', 'choice-unknown'),
    paths: ['refused'],
    reason:
      'docs/protocols/requests.md#forced-tool-without-tool: a forced call needs a declaration; a 400 that names `tool_choice` says more than the upstream’s',
  },
  {
    cases: of('tools', 'strict'),
    models: /2\.0/,
    paths: ['toolConfig'],
    reason:
      'docs/protocols/requests.md#strict: mode VALIDATED exists from 2.5 on; before that `strict` is a reported loss',
  },
  {
    cases: of('tools', 'search-and-function'),
    paths: ['tools[]**'],
    reason:
      'docs/protocols/gemini.md#built-in-tools: search and functions are both sent, in the caller’s order; the SDK drops the functions before Gemini 3',
  },
  {
    cases: of('tools', 'search-and-function'),
    models: /gemini-3/,
    paths: ['toolConfig'],
    reason: 'docs/protocols/requests.md#strict: VALIDATED corresponds to `strict`, which the request does not set',
  },
  {
    cases: of('tools', 'google-maps'),
    paths: ['tools[].googleMaps.enableWidget', 'toolConfig'],
    reason:
      'docs/protocols/requests.md#built-in-tools-by-name: the tool’s options and its place are sent; the SDK drops both',
  },
  {
    paths: inSchemas('**.additionalProperties'),
    reason:
      'docs/protocols/gemini.md#schemas: the JSON Schema carrier knows additionalProperties, the OpenAPI one does not',
  },
  {
    cases: of('schemas', 'ref', 'ref-definitions', 'ref-siblings', 'answer-ref'),
    paths: inSchemas('.$defs', '**.$ref', '**.type', '**.properties', '**.description'),
    reason:
      'docs/protocols/requests.md#schema-references: references are kept, without siblings; the SDK’s carrier has none and inlines them',
  },
  {
    cases: of('schemas', 'null-in-type', 'several-types', 'null-in-any-of', 'enum-null'),
    paths: inSchemas('**.type', '**.anyOf', '**.nullable'),
    reason:
      'docs/protocols/requests.md#json-schema-for-gemini: null stays in the type; `nullable` is of the OpenAPI carrier',
  },
  {
    cases: of('schemas', 'one-of', 'answer-one-of'),
    paths: inSchemas('**.anyOf', '**.oneOf'),
    reason: 'docs/protocols/requests.md#schema-one-of: oneOf is written anyOf, which it means to Gemini',
  },
  {
    cases: of('schemas', 'all-of'),
    paths: inSchemas('.properties.a.**'),
    reason: 'docs/protocols/requests.md#schema-all-of: neither carrier has allOf: its schemas are merged',
  },
  {
    cases: of('schemas', 'enum-numbers'),
    paths: inSchemas('**.enum[]', '**.format'),
    reason: 'docs/protocols/requests.md#schema-enum: the JSON Schema carrier has enumerations of numbers',
  },
  {
    cases: of('schemas', 'enum-booleans'),
    paths: inSchemas('**.enum', '**.format', '**.description'),
    reason:
      'docs/protocols/requests.md#schema-enum: an enumeration of other values than texts and numbers goes to the description',
  },
  {
    cases: of('schemas', 'constraints', 'answer-constraints', 'strict-constraints'),
    paths: inSchemas('**.minimum', '**.maximum', '**.minItems', '**.minLength', '**.description'),
    reason:
      'docs/protocols/requests.md#schema-constraints: constraints the carrier knows are kept, all others told in the description; the SDK drops most',
  },
  {
    cases: of('schemas', 'formats', 'answer-format'),
    paths: inSchemas('**.format', '**.description'),
    reason:
      'docs/protocols/requests.md#json-schema-for-gemini: formats other than date-time, date and time go to the description',
  },
  {
    cases: of('schemas', 'tuple'),
    paths: inSchemas('**.prefixItems'),
    reason: 'docs/protocols/requests.md#json-schema-for-gemini: the JSON Schema carrier has prefixItems',
  },
  {
    cases: of('schemas', 'annotations'),
    paths: inSchemas('**.title', '**.description'),
    reason:
      'docs/protocols/requests.md#json-schema-for-gemini: titles are kept, defaults told in the description; the SDK drops both',
  },
  {
    cases: of('schemas', 'truth-schemas'),
    paths: inSchemas('.properties.**'),
    reason:
      'docs/protocols/requests.md#json-schema-for-gemini: `true` is the empty schema and `false` no property; the SDK makes them booleans',
  },
  {
    cases: of('sampling', 'stop-six'),
    paths: ['generationConfig.stopSequences[]'],
    reason: 'docs/protocols/gemini.md#stop-sequences: five stop texts at most, the rest a reported loss',
  },
  {
    cases: of('sampling', 'penalties'),
    models: /gemini-3/,
    paths: ['generationConfig.frequencyPenalty', 'generationConfig.presencePenalty'],
    reason: 'docs/protocols/gemini.md#penalties: Gemini 3 has no penalties',
  },
  {
    cases: of('sampling', 'no-limit'),
    paths: ['generationConfig'],
    reason: 'docs/protocols/gemini.md#generation-config: an empty generationConfig says what none says',
  },
  {
    cases: of('response-format', 'schema-described'),
    paths: ['generationConfig.responseJsonSchema.description'],
    reason:
      'docs/protocols/gemini.md#generation-config: the format’s description has no field here; it goes where the model reads it, the SDK drops it',
  },
  {
    cases: of('reasoning', 'effort-minimal', 'effort-medium'),
    models: /gemini-3-pro-preview/,
    paths: ['generationConfig.thinkingConfig.thinkingLevel'],
    reason: 'docs/protocols/gemini.md#thinking-config: this model has LOW and HIGH only',
  },
  {
    cases: of('reasoning', 'budget-large', 'budget-tiny', 'budget-zero', 'disabled', 'disabled-and-effort'),
    models: /2\.5/,
    paths: ['generationConfig.thinkingConfig.thinkingBudget'],
    reason:
      'docs/protocols/gemini.md#thinking-config: budgets are held to the model’s range; 2.5 Pro cannot stop thinking',
  },
  {
    cases: of('signatures', 'google-thought'),
    paths: ['contents[].parts[].text'],
    reason:
      'docs/protocols/requests.md#thoughts-to-gemini: thoughts are not sent back, their signature is, on a part of its own',
  },
  {
    cases: of(
      'signatures',
      'claude-thought',
      'claude-thought-in-content',
      'claude-thought-behind-text',
      'unsigned-thought',
      'blocks-with-calls',
    ),
    paths: ['contents[].parts[]**'],
    reason: 'docs/protocols/replies.md#foreign-signatures: thoughts of another provider, or without proof, are dropped',
  },
  {
    cases: of('extensions', 'labels-upper-case', 'labels-long'),
    paths: ['refused'],
    reason: 'docs/protocols/vertex-ai.md#labels: labels the caller wrote are checked and never rewritten',
  },
];
