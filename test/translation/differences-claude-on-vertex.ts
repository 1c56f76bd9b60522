import type { Rule } from './differences.ts';

/** Gatehouse against `createVertexAnthropic` of `@ai-sdk/google-vertex`, beside what it does otherwise for Claude at Anthropic. */
export const CLAUDE_ON_VERTEX_DIFFERENCES: readonly Rule[] = [
  {
    cases: ['hosted/image-url', 'hosted/pdf-url'],
    paths: ['refused'],
    reason:
      'docs/protocols/vertex-ai.md#claude-features-not-served: Vertex takes no media by their address; the SDK leaves fetching them to its core',
  },
  {
    cases: ['hosted/parallel-round'],
    paths: ['messages[].content[].**'],
    reason:
      'docs/protocols/anthropic-messages.md#order-of-results: the order among results is free; that of the calls makes one conversation one prompt for the cache',
  },
  {
    cases: ['hosted/code-execution', 'tools/url-context', 'tools/code-execution'],
    paths: ['tools'],
    reason:
      'docs/protocols/vertex-ai.md#claude-features-not-served: of the tools Anthropic runs, Vertex has web search and tool search only: a reported loss',
  },
  {
    cases: ['tools/choice-none'],
    paths: ['tools', 'tool_choice'],
    reason:
      'docs/protocols/anthropic-messages.md#tool-choice: tool_choice none keeps the tools, which earlier turns may have used; the SDK leaves both out',
  },
  {
    cases: ['tools/forced-while-thinking'],
    paths: ['tools[]', 'tool_choice.**'],
    reason:
      'docs/protocols/requests.md#forced-tool-while-thinking: thinking by a budget forbids forced tools: auto, with the named tool only',
  },
  {
    paths: ['tools[].description'],
    cases: [
      'hosted/answer-schema',
      'schemas/answer-constraints',
      'schemas/answer-ref',
      'schemas/answer-one-of',
      'schemas/answer-format',
      'response-format/schema',
      'response-format/schema-described',
      'response-format/schema-bare',
      'response-format/schema-list',
      'response-format/schema-and-tools',
      'response-format/schema-no-tool',
      'response-format/schema-while-thinking',
    ],
    reason:
      'docs/protocols/requests.md#the-json-tool: the tool that stands for an answer is described by the schema, or as what it is',
  },
  {
    paths: ['tool_choice.type', 'tool_choice.name'],
    cases: [
      'hosted/answer-schema',
      'schemas/answer-constraints',
      'schemas/answer-ref',
      'schemas/answer-one-of',
      'schemas/answer-format',
      'response-format/schema',
      'response-format/schema-described',
      'response-format/schema-bare',
      'response-format/schema-list',
      'response-format/schema-no-tool',
    ],
    reason: 'docs/protocols/requests.md#the-json-tool: the tool is forced by its name; the SDK forces any',
  },
  {
    cases: ['response-format/schema-list'],
    paths: ['tools[].input_schema.type'],
    reason: 'docs/protocols/requests.md#function-tool: the root of an input_schema is an object',
  },
  {
    cases: ['response-format/schema-and-forced-tool'],
    paths: ['tools[]', 'tool_choice.**'],
    reason:
      'docs/protocols/requests.md#the-json-tool: a tool the caller forces is called, and no answer is due beside it; the SDK allows either',
  },
  {
    cases: ['response-format/schema-while-thinking'],
    paths: ['tool_choice.type', 'system'],
    reason:
      'docs/protocols/anthropic-messages.md#tool-choice: with a thinking budget no tool can be forced: the model is asked to call it in words',
  },
];
