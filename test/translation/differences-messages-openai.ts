import type { Rule } from './differences.ts';

const of = (subject: string, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `anthropic-${subject}/${name}`);

/** What holds for all OpenAI-shaped upstreams. */
const SHARED: readonly Rule[] = [
  {
    cases: of('turns', 'system-blocks'),
    paths: ['messages[]**'],
    reason:
      'docs/protocols/messages-route.md#system-prompt: the system prompt is one message, whatever the number of its blocks; the SDK has a message each',
  },
  {
    cases: of('turns', 'empty-texts'),
    paths: ['messages[].content'],
    reason:
      'docs/protocols/openai-chat.md#messages allows empty texts, so the caller’s stand; the SDK’s core leaves them out',
  },
  {
    cases: of('rounds', 'result-error', 'result-error-empty'),
    paths: ['messages[].content'],
    reason: 'docs/protocols/messages-route.md#failed-results: a call that failed says so in its text',
  },
  {
    cases: of('rounds', 'result-blocks'),
    paths: ['messages[].content'],
    reason:
      'docs/protocols/messages-route.md#results: texts are what the tool said; the SDK shows the model the JSON of its own parts',
  },
  {
    cases: of('rounds', 'result-picture', 'result-picture-only', 'result-pictures-parallel'),
    paths: ['messages[]**'],
    reason:
      'docs/protocols/messages-route.md#results: pictures of results follow as the user’s; the SDK writes their base64 into the text',
  },
];

/** Gatehouse against `@ai-sdk/openai`, both given requests of the Messages API. */
export const MESSAGES_TO_OPENAI_DIFFERENCES: readonly Rule[] = [
  ...SHARED,
  {
    cases: of('fields', 'stop-sequences-many'),
    paths: ['stop[]'],
    reason: 'docs/protocols/requests.md#limits-of-names: OpenAI takes four stop texts; the rest is a reported loss',
  },
  {
    cases: of('fields', 'max-tokens-zero'),
    paths: ['refused'],
    reason: 'docs/protocols/requests.md#numbers: an answer has one token at least; OpenAI answers 400',
  },
  {
    cases: of('blocks', 'pdf-base64'),
    paths: ['messages[].content[].file.filename'],
    reason:
      'docs/protocols/messages-route.md#documents: a PDF without a title is named by its type; the SDK names it by its position',
  },
  {
    cases: of('turns', 'system-string', 'system-turn', 'system-both'),
    paths: ['messages[].role'],
    reason:
      'docs/protocols/openai-chat.md#messages: OpenAI’s newer models read system as developer; other servers know system only',
  },
  {
    cases: of('tools', 'choice-without-tools'),
    paths: ['tool_choice'],
    reason: 'a choice among no tools is a 400 of both APIs, and the upstream’s to say; the SDK hides it',
  },
  {
    cases: of('blocks', 'document-text', 'document-text-titled'),
    paths: ['refused'],
    reason: 'docs/protocols/messages-route.md#documents: a text document is text; the SDK throws',
  },
  {
    cases: of('fields', 'sampling'),
    paths: ['temperature', 'top_p'],
    reason: 'which models refuse sampling is the server’s to say: an OpenAI-compatible entry can be anyone’s',
  },
];

/** Gatehouse against `@ai-sdk/openai-compatible`. */
export const MESSAGES_TO_LLAMA_DIFFERENCES: readonly Rule[] = [
  ...SHARED,
  {
    cases: of('reasoning', 'thought-of-claude', 'thought-of-gemini'),
    paths: ['messages[].reasoning_content'],
    reason: 'docs/protocols/messages-route.md#thoughts: thoughts and their proofs are for the provider that made them',
  },
  {
    cases: of('reasoning', 'answer-schema'),
    paths: ['response_format.**'],
    reason:
      'docs/protocols/messages-route.md#open-model-fields: Vertex’ open models take json_schema; the SDK asks for any object unless told otherwise',
  },
  {
    cases: of('fields', 'sampling'),
    paths: ['top_k'],
    reason:
      'docs/protocols/vertex-ai.md#open-models: the servers behind Vertex know the extended fields; the SDK has none',
  },
];
