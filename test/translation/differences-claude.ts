import type { Rule } from './differences.ts';

const of = (subject: string, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `${subject}/${name}`);

/** Gatehouse against `@ai-sdk/anthropic`. */
export const CLAUDE_DIFFERENCES: readonly Rule[] = [
  {
    cases: of('messages', 'system-before-and-later'),
    paths: ['system[]', 'messages**'],
    reason: 'wire.md D3.1: all system messages are hoisted; the SDK needs a beta for later ones',
  },
  {
    cases: of('messages', 'empty-parts'),
    paths: ['messages[]**'],
    reason:
      'wire.md D3.4: empty texts, and turns of nothing else, are left out; neighbours of one role are merged (B2)',
  },
  {
    cases: of('messages', 'blank-part'),
    paths: ['messages[].content[]**'],
    reason: 'wire.md B3: a text has to say something; white space is a 400 upstream and a reported loss here',
  },
  {
    cases: of('messages', 'parallel-calls'),
    paths: ['messages[].content[].**'],
    reason:
      'wire.md B3: the order among results is free; that of the calls makes one conversation one prompt for the cache',
  },
  {
    cases: of('messages', 'result-named'),
    paths: ['messages[].content[].**'],
    reason: 'wire.md B3 and D3.2: results come before other content of their turn',
  },
  {
    cases: of('messages', 'arguments-list'),
    paths: ['messages[].content[].input'],
    reason: 'wire.md B3 and D2.5: input is an object, other JSON is put into {"value": …}',
  },
  {
    cases: of('messages', 'call-id-of-another'),
    paths: ['messages[].content[].id', 'messages[].content[].tool_use_id'],
    reason: 'wire.md D3.3: ids Claude does not accept are rewritten, in both places',
  },
  {
    cases: of('media', 'heic'),
    paths: ['refused'],
    reason: 'wire.md B3 and D4: Claude reads JPEG, PNG, GIF and WebP',
  },
  {
    cases: of('media', 'https-image', 'https-image-query', 'https-image-typed', 'gs-image', 'file-url'),
    paths: ['refused'],
    reason: 'service.md 2.4 and wire.md D4: to Claude media go as base64 only',
  },
  {
    cases: of('media', 'csv-file'),
    paths: ['refused'],
    reason: 'service.md 2.4: other text types are treated as plain text; the SDK throws',
  },
  {
    cases: of('tools', 'function-rootless', 'search-retrieval', 'google-maps', 'computer-use'),
    paths: ['tools[].input_schema.type'],
    reason: 'wire.md D5: the root of a schema is an object, said or not',
  },
  {
    cases: of('tools', 'choice-unknown'),
    paths: ['refused'],
    reason: 'wire.md D5: a forced call needs its tool; a 400 that names `tool_choice` says more than the upstream’s',
  },
  {
    cases: [
      'tools/forced-while-thinking',
      'sampling/temperature-thinking',
      'response-format/schema-while-thinking',
      ...of('reasoning', 'budget', 'budget-large', 'budget-tiny', 'budget-beyond-limit', 'budget-unsaid'),
      ...of('signatures', 'claude-thought', 'claude-thought-in-content', 'redacted-thought', 'thought-lost'),
    ],
    paths: ['max_tokens'],
    reason:
      'wire.md D8: of the two ways the budget is fitted below max_tokens; the caller’s limit of what is paid for stays',
  },
  {
    cases: [
      'tools/forced-while-thinking',
      ...of('reasoning', 'budget', 'budget-large', 'budget-tiny', 'budget-unsaid'),
      ...of('signatures', 'claude-thought', 'thought-lost'),
    ],
    models: /opus-4-7/,
    paths: ['thinking.type', 'thinking.display', 'thinking.budget_tokens', 'output_config'],
    reason: 'wire.md finding 4 and D8: a budget is a 400 on Opus 4.7: adaptive thinking with an effort says it there',
  },
  {
    cases: of('tools', 'forced-while-thinking'),
    models: /opus-4-7/,
    paths: ['tools[]', 'tool_choice.type', 'tool_choice.name'],
    reason: 'wire.md D5: adaptive thinking accepts forced calls; only manual thinking does not',
  },
  {
    cases: of('schemas', 'answer-constraints', 'answer-format'),
    paths: ['output_config.format.schema.properties.**.description'],
    reason: 'wire.md D6: constraints go into the description by both; only the punctuation differs',
  },
  {
    cases: of('sampling', 'temperature-one', 'temperature-hot', 'top-p-high'),
    models: /opus-4-7/,
    paths: ['temperature', 'top_p'],
    reason: 'wire.md finding 2: the default of newer models (temperature 1, top_p of 0.99 and more) is accepted',
  },
  {
    cases: of('sampling', 'temperature-top-p'),
    models: /sonnet-4-2025/,
    paths: ['top_p'],
    reason:
      'recorded with 200 on Sonnet 4.0 (wire.md B2 has the refusal for 4.x): the caller keeps both where they work',
  },
  {
    cases: of('sampling', 'stop-blank'),
    paths: ['stop_sequences[]'],
    reason: 'wire.md D1: stop texts of white space are taken out',
  },
  {
    cases: of('sampling', 'no-limit'),
    paths: ['refused'],
    reason: 'wire.md D1: Claude needs a limit and the caller is asked for it; the SDK makes one up',
  },
  {
    cases: of('response-format', 'object', 'object-system', 'schema-missing'),
    paths: ['system', 'system[]'],
    reason:
      'wire.md D7: where there is no schema, Claude is asked for JSON in the system prompt; the SDK ignores the wish',
  },
  {
    cases: of('response-format', 'schema-described'),
    models: /sonnet-4-5/,
    paths: ['output_config.format.schema.description'],
    reason:
      'wire.md A4 and B2: the format’s description has no field here; it goes where the model reads it, the SDK drops it',
  },
  {
    cases: of(
      'response-format',
      'schema',
      'schema-described',
      'schema-list',
      'schema-and-tools',
      'schema-while-thinking',
    ),
    models: /sonnet-4-2025/,
    paths: ['tools[].description'],
    reason: 'wire.md D7: what the json tool is called by the model for is said in its description; the words are free',
  },
  {
    cases: of('response-format', 'schema', 'schema-described', 'schema-list', 'schema-no-tool'),
    models: /sonnet-4-2025/,
    paths: ['tool_choice.type', 'tool_choice.name'],
    reason: 'wire.md D7: the json tool is forced by its name; `any` of one tool is the same',
  },
  {
    cases: of('response-format', 'schema-list'),
    models: /sonnet-4-2025/,
    paths: ['tools[].input_schema.type'],
    reason: 'wire.md B4 and D5: the input of a tool is an object; the SDK sends a schema the API refuses',
  },
  {
    cases: of('response-format', 'schema-and-forced-tool'),
    models: /sonnet-4-2025/,
    paths: ['tools[]', 'tool_choice.**'],
    reason: 'wire.md D5: the caller forces this one call now; with the json tool beside it, any could be called',
  },
  {
    cases: of('response-format', 'schema-no-tool'),
    models: /sonnet-4-2025/,
    paths: ['tools[]**'],
    reason:
      'wire.md D7: forcing the json tool keeps the others from being called; leaving them out would lose the prompt cache',
  },
  {
    cases: of('response-format', 'schema-while-thinking'),
    models: /sonnet-4-2025/,
    paths: ['system'],
    reason: 'wire.md D5: manual thinking cannot be forced to call the json tool, so it is asked to',
  },
  {
    cases: of('reasoning', 'effort-none'),
    models: /sonnet-4-5/,
    paths: ['thinking'],
    reason: 'wire.md D8: up to 4.5 no thinking is what a request without `thinking` gets',
  },
  {
    cases: of('reasoning', 'effort-xhigh'),
    models: /opus-4-6/,
    paths: ['output_config.effort'],
    reason: 'wire.md D8: xhigh is known from 4.7 on, before that it is max',
  },
  {
    cases: of('reasoning', 'budget-tiny', 'budget-beyond-limit'),
    paths: ['thinking.budget_tokens'],
    reason: 'wire.md B2 and D8: a budget is 1024 at least and below max_tokens',
  },
  {
    cases: of('reasoning', 'budget-unsaid'),
    paths: ['thinking.budget_tokens'],
    reason:
      'wire.md D13: thinking without a depth is `high`, and D8 has its budget; the SDK takes the smallest there is',
  },
  {
    cases: of('reasoning', 'adaptive', 'adaptive-and-effort'),
    models: /sonnet-4-5/,
    paths: ['thinking.type', 'thinking.budget_tokens', 'output_config'],
    reason: 'wire.md D8: up to 4.5 Claude thinks within a budget only',
  },
  {
    cases: of('reasoning', 'adaptive', 'adaptive-and-effort'),
    models: /opus-4-[67]/,
    paths: ['thinking.display'],
    reason: 'wire.md D8: adaptive thinking is asked to show a summary',
  },
  {
    cases: of('signatures', 'claude-thought-behind-text'),
    paths: ['messages[].content[].**'],
    reason: 'wire.md D3.3: thinking comes first in its turn',
  },
  {
    cases: of('signatures', 'thought-lost'),
    models: /sonnet-4-5/,
    paths: ['thinking'],
    reason: 'wire.md D9: a tool loop that lost its thinking goes on without, or the API answers 400',
  },
  {
    cases: of('extensions', 'stream-usage'),
    paths: ['tools[].eager_input_streaming'],
    reason: 'wire.md B4: an option of the tool that no caller of the chat API has asked for',
  },
  {
    cases: [...of('tools', 'strict-auto'), ...of('schemas', 'strict-constraints')],
    paths: ['tools[].input_schema**'],
    reason:
      'wire.md D6, last sentence: the schema of a strict tool is sanitised as that of an answer; the SDK sends it as it is',
  },
];
